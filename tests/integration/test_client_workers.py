"""Workers that run on: over queues and servers that fail for a while, until stopped, and not for a lost turn."""

import asyncio
import threading
from typing import Any

import httpx
import pytest
from botocore.exceptions import EndpointConnectionError

from tests.support.clients import BASE_URL, NO_CHANCE, Awaited, Stamp, Wire, host_client
from tests.support.hosting import Host
from turnkeeper_client import NotAllowed
from turnkeeper_client import host_clients as clients
from turnkeeper_client.attending import Pace
from turnkeeper_client.queues import Queue
from turnkeeper_client.working import AsyncWorker, Turn, Worker

SOON = Pace(listen_s=0, heartbeat_s=0.05, longest_pause_s=0.01)


class Failing:
    """A client of SQS that cannot reach it the first *times* that it looks."""

    def __init__(self, sqs: Any, times: int) -> None:
        self._sqs, self._left = sqs, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sqs, name)

    def receive_message(self, **asked: Any) -> Any:
        if self._left > 0:
            self._left -= 1
            raise EndpointConnectionError(endpoint_url="https://sqs.example")
        return self._sqs.receive_message(**asked)


def connected(wire: Wire) -> clients.Host:
    return clients.Host(
        BASE_URL, Stamp("acme"), patience=NO_CHANCE, transport=httpx.MockTransport(wire), timeout_s=5
    )


def test_a_worker_outlives_a_queue_and_a_server_that_fail_and_stops_when_told(wire: Wire, host: Host) -> None:
    task_id = host.task("abc")
    # Its queue is away twice, and then the server, for longer than one request's patience lasts.
    wire.faults = ["refused"] * 6
    held: list[Worker] = []

    def backwards(turn: Turn) -> str:
        held[0].stop()
        return turn.text[::-1]

    with connected(wire) as acme:
        acme.connection.sleep = lambda _: None
        queue = Queue(Failing(host.lab.sqs, 2), host.queue_url)
        held.append(Worker(acme, queue, backwards, pace=Pace(listen_s=0, hide_s=0, longest_pause_s=0.01)))
        running = threading.Thread(target=held[0].run, daemon=True)
        running.start()
        running.join(60)

    assert not running.is_alive()
    assert [entry["message"][0]["text"] for entry in host.messages(task_id)["messages"]] == ["abc", "cba"]


def test_a_worker_whose_signature_is_refused_says_so(wire: Wire, host: Host) -> None:
    host.task("abc")
    wire.faults = ["403"]

    with connected(wire) as acme, pytest.raises(NotAllowed):
        Worker(acme, Queue(host.lab.sqs, host.queue_url), lambda turn: turn.text, pace=SOON).run()


def test_an_agent_that_is_awaited_is_cancelled_when_its_turn_is_lost(wire: Wire, host: Host) -> None:
    task_id = host.task("abc")
    cancelled: list[bool] = []
    made = host_client("asynchronous", wire, "acme")
    assert isinstance(made, Awaited)

    async def forever(_: Any) -> None:
        host.ask(task_id, "interrupt")
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    try:
        worker = AsyncWorker(made.client, Queue(host.lab.sqs, host.queue_url), forever, pace=SOON)
        assert made.wait_for(worker.take_one())
    finally:
        made.close()

    assert cancelled == [True]
    assert host.read(task_id)["turn"] is None
