"""What the README promises, over HTTP on what was deployed: busy tasks, unchanged polls, exact ends, crowds, kills."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from tests.support.deployed import SHORT, Deployed

BUSY_ENGINE = 429
PATIENCE_S = 30.0


@pytest.fixture
def alice(deployment: Deployed) -> Iterator[httpx.Client]:
    with deployment.http("alice") as client:
        yield client


def said(text: str) -> dict[str, Any]:
    return {"message": [{"mimeType": "text/plain", "text": text}]}


def ask(client: httpx.Client, method: str, path: str, **request: Any) -> httpx.Response:
    """What the API answers; the engine takes ten calls at a time and says 429 to the rest, who ask again."""
    for _ in range(200):
        answer = client.request(method, f"v1/{path}", **request)
        if answer.status_code != BUSY_ENGINE:
            return answer
        time.sleep(0.1)
    raise AssertionError("the engine stayed busy")


def create(client: httpx.Client, agent: str, text: str) -> str:
    made = ask(client, "POST", "tasks", json={"agent": agent, "input": said(text)})
    assert made.status_code == 202, made.text
    task_id: str = made.json()["id"]
    return task_id


def messages(client: httpx.Client, task_id: str) -> list[dict[str, Any]]:
    answer = ask(client, "GET", f"tasks/{task_id}/messages", params={"limit": 1000})
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()["messages"]
    return entries


def status(client: httpx.Client, task_id: str) -> dict[str, Any]:
    found: dict[str, Any] = ask(client, "GET", f"tasks/{task_id}").json()["status"]
    return found


def eventually[T](look: Callable[[], T], is_so: Callable[[T], bool], *, within: float = PATIENCE_S) -> T:
    """What *look* sees once *is_so* holds of it."""
    deadline = time.monotonic() + within
    while not is_so(seen := look()):
        assert time.monotonic() < deadline, seen
        time.sleep(0.1)
    return seen


def is_idle(seen: dict[str, Any]) -> bool:
    return bool(seen["phase"] == "idle")


def texts(entries: list[dict[str, Any]], kind: str) -> list[str]:
    return [entry["message"][0]["text"] for entry in entries if entry["type"] == kind]


@pytest.mark.clause("IN-1c", "IO-4", "IO-5")
def test_input_that_meets_a_busy_task_waits_uncommitted_and_is_answered_in_a_later_turn(
    alice: httpx.Client,
) -> None:
    task_id = create(alice, "slow_echo", "one")
    eventually(lambda: messages(alice, task_id), lambda entries: len(entries) > 1)

    sent = [ask(alice, "POST", f"tasks/{task_id}/inputs", json=said(text)) for text in ("two", "three")]
    waiting = messages(alice, task_id)
    eventually(lambda: status(alice, task_id), is_idle)
    settled = messages(alice, task_id)

    assert [answer.status_code for answer in sent] == [202, 202]
    assert [entry["received_at"] for entry in waiting[-2:]] == [a.headers["received-at"] for a in sent]
    assert not any("committed_at" in entry for entry in waiting[-2:])
    assert texts(settled, "output")[1:] == ["one", "Thinking about 2 input(s) …", "two\nthree"]
    assert [entry["committed_at"] for entry in settled] == sorted(entry["committed_at"] for entry in settled)


@pytest.mark.clause("PO-1")
def test_an_unchanged_poll_answers_304_without_a_body(alice: httpx.Client) -> None:
    task_id = create(alice, "echo", "hello")
    eventually(lambda: status(alice, task_id), is_idle)
    etag = ask(alice, "GET", f"tasks/{task_id}").headers["etag"]

    unchanged = ask(alice, "GET", f"tasks/{task_id}", headers={"if-none-match": etag})

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == etag
    assert int(unchanged.headers["poll-after"]) > 1


@pytest.mark.clause("TS-8c")
def test_nobody_sees_a_task_idle_from_the_instant_it_announced(alice: httpx.Client) -> None:
    task_id = create(alice, "mayfly", "brief")
    announced = eventually(lambda: status(alice, task_id), is_idle)["idle_expires_at"]

    seen: list[tuple[datetime, str]] = []
    while not seen or seen[-1][1] == "idle":
        asked_at = datetime.now(UTC)
        seen.append((asked_at, status(alice, task_id)["phase"]))
    refused = ask(alice, "POST", f"tasks/{task_id}/inputs", json=said("late"))

    assert all(at < datetime.fromisoformat(announced) for at, phase in seen if phase == "idle")
    assert seen[-1][1] == "terminal"
    assert status(alice, task_id)["terminal_reason"] == "completed"
    assert refused.status_code == 409
    assert texts(messages(alice, task_id), "input") == ["brief"]


def test_the_sweep_ends_a_task_that_nobody_looks_at(deployment: Deployed, alice: httpx.Client) -> None:
    task_id = create(alice, "mayfly", "unseen")
    eventually(lambda: status(alice, task_id), is_idle)
    time.sleep(6)

    deployment.sweep()

    key = {"pk": {"S": f"TASK#{task_id}"}, "sk": {"S": "TASK"}}
    item = deployment.client("dynamodb").get_item(TableName=deployment.outputs["TableName"], Key=key)["Item"]
    assert item["phase"]["S"] == "terminal"
    assert item["terminal_reason"]["S"] == "completed"


@pytest.mark.timeout(240)
@pytest.mark.clause("IN-1c")
def test_every_one_of_32_inputs_sent_at_once_is_in_the_list_exactly_once(
    deployment: Deployed, alice: httpx.Client
) -> None:
    task_id = create(alice, "echo", "first")
    token = deployment.token_for("alice")

    def send(number: int) -> int:
        with deployment.http_as(token) as client:
            return ask(client, "POST", f"tasks/{task_id}/inputs", json=said(f"input {number}")).status_code

    with ThreadPoolExecutor(16) as crowd:
        answers = list(crowd.map(send, range(32)))
    # The engine's ten calls at a time may throttle `turns` as well; then the next minute's sweep wakes it.
    eventually(lambda: status(alice, task_id), is_idle, within=120)

    assert answers == [202] * 32
    assert sorted(texts(messages(alice, task_id), "input")) == sorted(
        ["first", *(f"input {number}" for number in range(32))]
    )


@pytest.mark.timeout(180)
def test_a_turn_whose_worker_is_killed_is_taken_up_again(deployment: Deployed, alice: httpx.Client) -> None:
    task_id = create(alice, "slow_echo", "survive")
    eventually(lambda: messages(alice, task_id), lambda entries: len(entries) > 1)

    killed = deployment.kill_workers("turns")
    began = time.monotonic()
    eventually(lambda: status(alice, task_id), is_idle, within=120)
    took = time.monotonic() - began

    assert killed > 0
    assert texts(messages(alice, task_id), "output") == ["Thinking about 1 input(s) …", "survive"]
    # Its lease, one sweep, and the moment that the agent itself takes.
    assert took < float(SHORT["lease_seconds"]) + 60 + 15
