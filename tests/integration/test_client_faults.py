"""Lost answers, throttles and dead servers: nothing is there twice, and nothing unsafe is sent twice."""

from typing import Any

import httpx
import pytest

from tests.support.clients import Wire, run
from tests.support.laboratory import Laboratory
from turnkeeper_client import AnswerLost, OutcomeUnknown, Throttled, Unreachable, WrongState
from turnkeeper_client.plans import ask, send

POSTS = 3


def test_a_lost_answer_doubles_nothing(alice: Any, wire: Wire) -> None:
    wire.faults = ["lost"]
    made = alice.create("echo", "one")
    wire.faults = ["lost", "lost"]
    said = alice.say(made.task.id, "two")

    assert wire.seen.count("POST /v1/tasks") == 2
    assert wire.seen.count(f"POST /v1/tasks/{made.task.id}/inputs") == POSTS
    assert [task.id for task in alice.tasks().tasks] == [made.task.id]
    entries = alice.messages(made.task.id).messages
    assert [entry.text for entry in entries] == ["one", "two"]
    assert [entry.received_at for entry in entries] == [made.received_at, said.received_at]


def test_a_file_whose_answer_was_lost_is_there_once(alice: Any, wire: Wire) -> None:
    task_id = alice.create("echo").task.id
    assert wire.lab.s3

    wire.faults = ["lost", "passes", "lost"]
    file = alice.upload(task_id, b"abc", name="a.csv", mime_type="text/csv")

    assert [line.split()[0] for line in wire.seen[1:]] == ["POST", "POST", "PUT", "PUT"]
    alice.say(task_id, file)
    assert alice.download(task_id, file.file).content == b"abc"


def test_what_may_have_been_done_and_has_no_key_is_never_sent_again(alice: Any, wire: Wire) -> None:
    wire.faults = ["lost"]

    with pytest.raises(AnswerLost):
        run(alice, ask(send("POST", "tasks", body={"agent": "echo"})))

    assert wire.seen == ["POST /v1/tasks"]
    assert len(alice.tasks().tasks) == 1


def test_what_never_arrived_is_sent_again_with_ever_longer_pauses(connect: Any, wire: Wire) -> None:
    pauses: list[float] = []
    alice = connect(wire, pauses=pauses)
    wire.faults = ["refused", "429", "503"]

    alice.create("echo")

    assert pauses == [0.25, 0.5, 1.0]
    assert len(wire.seen) == 4


def test_patience_ends(connect: Any, wire: Wire) -> None:
    pauses: list[float] = []
    alice = connect(wire, pauses=pauses)

    wire.faults = ["refused"] * 10
    with pytest.raises(Unreachable):
        alice.tasks()
    wire.faults = ["429"] * 10
    with pytest.raises(Throttled):
        alice.tasks()

    assert len(wire.seen) == 12
    assert len(pauses) == 10


def refusing(*answers: tuple[int, dict[str, Any]]) -> Any:
    """A server that gives these answers in turn, and what it was asked with."""
    left, asked = list(answers), []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.headers.get("idempotency-key"))
        status, body = left.pop(0)
        return httpx.Response(status, json=body, headers={"content-type": "application/problem+json"})

    return handle, asked


def problem(code: int, **retry: Any) -> dict[str, Any]:
    return {"detail": "No.", "agent_status": {"code": code, "name": "NAMED"}, "retry": retry}


TASK = {
    "id": "t",
    "agent": "echo",
    "responsible_user": "alice-sub",
    "created_at": "2026-11-30T12:00:00.000000Z",
    "status": {"phase": "idle", "revision": "r", "notifications": []},
}


def test_a_contract_that_allows_it_is_taken_up_and_its_pause_obeyed(connect: Any) -> None:
    busy = (503, problem(5006, retryable=True, safe=True, after_ms=3000))
    handle, asked = refusing(busy, busy, (202, TASK))
    pauses: list[float] = []
    alice = connect(handle, pauses=pauses)

    alice.create("echo", "hi")

    assert pauses == [3.25, 3.5]
    assert len(set(asked)) == 1
    assert asked[0]


@pytest.mark.parametrize(
    "retry",
    [
        {},
        {"retryable": True},
        {"safe": True},
        {"retryable": False, "safe": True, "after_ms": 1},
        {"retryable": True, "safe": True, "after_ms": 3_600_000},
    ],
)
def test_what_no_contract_allows_or_nobody_can_wait_for_is_not_sent_again(
    connect: Any, retry: dict[str, Any]
) -> None:
    handle, asked = refusing((503, problem(5003, **retry)), (202, TASK))
    alice = connect(handle)

    with pytest.raises(Exception, match="No"):
        alice.create("echo", "hi")

    assert len(asked) == 1


def test_an_unknown_outcome_is_repeated_only_where_that_is_how_to_find_out(connect: Any) -> None:
    keyed = problem(6005, retryable=True, safe=True, reconciliation_action="repeat_the_request")
    unkeyed = problem(6005, safe=False, reconciliation_action="read_the_task_before_repeating")
    found, asked = refusing((503, keyed), (202, TASK))
    lost, asked_once = refusing((503, unkeyed))
    one, other = connect(found), connect(lost)

    one.create("echo", "hi")
    with pytest.raises(OutcomeUnknown):
        other.create("echo", "hi")

    assert (len(asked), len(asked_once)) == (2, 1)


def test_what_needs_something_else_to_happen_first_is_not_sent_again(connect: Any) -> None:
    handle, asked = refusing((409, problem(4001, retryable=True, safe=True)))
    alice = connect(handle)

    with pytest.raises(WrongState):
        alice.say("t", "hi")

    assert len(asked) == 1


def test_a_key_of_ones_own_makes_the_same_call_the_same_task(alice: Any, live_lab: Laboratory) -> None:
    first = alice.create("echo", "hi", key="mine")
    live_lab.work()

    again = alice.create("echo", "hi", key="mine")

    assert again.task.id == first.task.id
    assert again.received_at == first.received_at
    assert (first.key, again.task.status.phase) == ("mine", "idle")
