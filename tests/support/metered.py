"""A laboratory that meters whatever it calls, with two agents of a host, and nothing due or waiting yet."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tests.support.capacity import item_size
from tests.support.counting import Call, Counting
from tests.support.engines import Engine, make_bucket, make_queue
from tests.support.hosting import ACME, AGENT, manifest
from tests.support.laboratory import ALICE, BOB, Laboratory
from tests.support.metering import Metering, Used, bytes_of, together, used
from turnkeeper.bus import Bus
from turnkeeper.domain.needs import Need
from turnkeeper.domain.waits import WaitKind
from turnkeeper.service import catalogue, host_agents, host_turns
from turnkeeper.service.host_turns import Asked

OTHER = "other"
"""An agent that works for `AGENT`."""
HOST = Need(id="host", kind=WaitKind.HOST)
SIGN_IN = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider="calendar")
REVIEW = Need(id="review", kind=WaitKind.REVIEW, reviewer=BOB, subject="Buy it?")
DELETES = {"delete_item", "batch_write_item"}


@dataclass(frozen=True, slots=True)
class Cost:
    """What was called, and what that uses."""

    calls: tuple[str, ...]
    """In the order of services; a transaction says how many items it writes."""
    used: Used
    bytes_read: int
    bytes_written: int
    deleted: tuple[int, ...]
    """The bytes of each item that was deleted."""


def asked(task_id: str) -> Asked:
    """A request of the host's about the task."""
    return Asked(principal=ACME.principal, task_id=task_id, body="{}", key=None)


def manifest_of(name: str, **ours: Any) -> str:
    """The document of an agent of the host's whose turns may be repeated."""
    return json.dumps(manifest(name, repeatable=True, **ours))


class TakesEverything:
    """A bus that takes every event."""

    def put_events(self, **request: Any) -> Mapping[str, Any]:
        """None has failed."""
        return {"FailedEntryCount": 0, "Entries": [{"EventId": "1"} for _ in request["Entries"]]}


@dataclass(slots=True)
class Metered:
    """The laboratory, and everything of it that counts."""

    lab: Laboratory
    bus: Bus
    clients: tuple[Counting, ...]

    def forget(self) -> None:
        """Whatever was called until now does not count."""
        for client in self.clients:
            client.calls.clear()

    def cost(self) -> Cost:
        """What was called since."""
        calls = [call for client in self.clients for call in client.calls]
        sizes = [bytes_of(call) for call in calls]
        return Cost(
            calls=tuple(map(_described, calls)),
            used=together(map(used, calls)),
            bytes_read=sum(read for read, _ in sizes),
            bytes_written=sum(written for _, written in sizes),
            deleted=tuple(
                item_size(item) for call in calls if call.operation in DELETES for item in call.before
            ),
        )

    def queued(self) -> str:
        """A task of the host's agent, whose turn nobody took up yet."""
        return self.lab.create("hi", agent=AGENT, caller=ALICE).task.id

    def running(self) -> str:
        """The same, with a turn of the host's."""
        task_id = self.queued()
        host_turns.start(self.lab.runtime, asked(task_id))
        return task_id

    def waiting(self, *needs: Need) -> str:
        """The same, with a turn that waits for *needs*."""
        task_id = self.running()
        self.wait(task_id, *needs)
        return task_id

    def wait(self, task_id: str, *needs: Need) -> None:
        """Have the turn wait for *needs*."""
        host_turns.wait(self.lab.runtime, asked(task_id), fence=1, needs=needs, memo="1")

    def attend(self) -> None:
        """Have the event source take one wake-up, and the worker attend to it."""
        (message,) = self.lab.sqs.receive_message(QueueUrl=self.lab.queue_url)["Messages"]
        self.lab.attend(message)


def metered(engine: Engine, *, table: Any = None) -> Metered:
    """A laboratory that meters; its agents are known, as they are after their first use.

    It has a table of its own, or that of the client *table*.
    """
    dynamodb, sqs = Metering(table or engine.client("dynamodb")), Counting(engine.client("sqs"))
    s3, events = Counting(engine.client("s3")), Counting(TakesEverything())
    lab = Laboratory(engine, dynamodb=dynamodb, sqs=sqs, table="tasks" if table else "", _s3=s3)
    make_bucket(s3, lab.bucket)
    queue = lab.runtime.queue
    assert queue
    lab.runtime = replace(lab.runtime, queue=replace(queue, host_urls={ACME.principal: make_queue(sqs)}))
    for agent in ("echo", "mayfly"):
        catalogue.keep(lab.runtime, catalogue.look_up(lab.runtime, agent))
    for name, lists in ((AGENT, []), (OTHER, [AGENT])):
        document = manifest_of(name, delegates_from=lists)
        host_agents.register(lab.runtime, principal=ACME.principal, name=name, document=document)
    bus = Bus(events=events, sqs=sqs, name="bus", untold_url="url")
    return Metered(lab, bus, (dynamodb, sqs, s3, events))


def _described(call: Call) -> str:
    if call.operation == "transact_write_items":
        return f"{call.operation} of {call.items_written}"
    return call.operation
