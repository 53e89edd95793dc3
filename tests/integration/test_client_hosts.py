"""A host's client and its worker against the real functions: turns are taken, kept alive, given up and left alone."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from tests.support.clients import AT_ONCE, Wire, host_client, take_one
from tests.support.hosting import AGENT, Hosts, manifest, report
from turnkeeper_client import Conflict, NotFound, Refused, WrongState
from turnkeeper_client.attending import Pace, Word
from turnkeeper_client.queues import Queue
from turnkeeper_client.turns import TurnOver
from turnkeeper_client.working import AsyncWorker

PATIENCE_S = 30.0


@pytest.fixture
def helper(side: str, wire: Wire, hosts: Hosts) -> Iterator[Any]:  # noqa: ARG001 - without it there are no hosts
    """The client of the host `acme`, which has registered a repeatable agent."""
    made = host_client(side, wire, "acme")
    made.register(AGENT, manifest(repeatable=True, backoff=["0s"]))
    yield made
    made.close()


@pytest.fixture
def queue(hosts: Hosts) -> Queue:
    """The queue of `acme`."""
    return Queue(hosts.acme.lab.sqs, hosts.acme.queue_url)


def texts(page: Any) -> list[str]:
    return [entry.text for entry in page.messages]


def nothing(_: Any) -> None:
    """An agent that says nothing."""


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_worker_takes_a_turn_from_its_wake_up_to_its_end(helper: Any, queue: Queue, alice: Any) -> None:
    task_id = alice.create(AGENT, "one").task.id
    alice.say(task_id, "two")

    def backwards(turn: Any) -> str:
        turn.emit("Let me think …", usage={"tool_calls": 1})
        return str(turn.text[::-1])

    assert take_one(helper, queue, backwards)
    assert take_one(helper, queue, nothing)
    assert not take_one(helper, queue, nothing)

    assert texts(alice.messages(task_id)) == ["one", "two", "Let me think …", "owt\neno"]
    driven = helper.task(task_id)
    assert (driven.task.status.phase, driven.turns, driven.usage["tool_calls"]) == ("idle", 1, 1)


def test_every_answer_may_be_lost_and_nothing_is_said_twice(
    helper: Any, queue: Queue, alice: Any, wire: Wire
) -> None:
    task_id = alice.create(AGENT, "one").task.id

    def talk(turn: Any) -> str:
        wire.faults = ["lost", "429", "passes", "lost"]
        turn.emit("a")
        turn.emit("b")
        wire.faults = ["lost", "lost"]
        return "c"

    wire.faults = ["lost", "refused", "lost", "passes", "lost"]
    assert take_one(helper, queue, talk)

    assert texts(alice.messages(task_id)) == ["one", "a", "b", "c"]
    assert alice.task(task_id).status.phase == "idle"


def test_an_agent_that_raises_gives_its_attempt_up_and_the_next_says_nothing_twice(
    helper: Any, queue: Queue, alice: Any
) -> None:
    task_id = alice.create(AGENT, "one").task.id
    attempts: list[int] = []

    def erratic(turn: Any) -> str:
        attempts.append(turn.attempt)
        turn.emit(f"attempt {turn.attempt}")
        if turn.attempt == 1:
            raise ValueError("not this time")
        return "done"

    eventually(lambda: take_one(helper, queue, erratic) and len(attempts) > 1)

    assert attempts == [1, 2]
    assert texts(alice.messages(task_id)) == ["one", "attempt 1", "done"]


def test_a_turn_that_waits_comes_back_with_its_memo_and_what_became_of_it(
    helper: Any, queue: Queue, alice: Any
) -> None:
    task_id = alice.create(AGENT, "Send it.").task.id

    def careful(turn: Any) -> str | None:
        if turn.memo is None:
            wait = {"id": "r", "kind": "review", "reviewer": turn.task.responsible_user, "subject": "Send?"}
            turn.wait([wait], memo={"draft": 1})
            return None
        (found,) = turn.resolutions
        return f"{turn.memo['draft']} {found.verdict} {found.comment} {turn.text}"

    assert take_one(helper, queue, careful)
    assert alice.task(task_id).is_settled
    alice.decide(alice.reviews().reviews[0].id, "approve", comment="Do")
    eventually(lambda: take_one(helper, queue, careful))

    assert texts(alice.messages(task_id))[-1] == "1 done Do Send it."


def test_a_heartbeat_keeps_a_turn_that_takes_long(helper: Any, queue: Queue, alice: Any, host: Any) -> None:
    task_id = alice.create(AGENT, "one").task.id

    def slow(turn: Any) -> str:
        first = turn.held.turn.lease_until.isoformat()
        eventually(lambda: host.read(task_id)["turn"]["lease_until"][:19] > first[:19])
        return "done"

    assert take_one(helper, queue, slow, pace=Pace(listen_s=0, heartbeat_s=0.2))

    assert texts(alice.messages(task_id)) == ["one", "done"]


def test_a_turn_that_somebody_else_took_over_is_written_no_more(
    helper: Any, queue: Queue, alice: Any, host: Any, wire: Wire
) -> None:
    task_id = alice.create(AGENT, "one").task.id

    interrupted: list[int] = []
    asked: list[int] = []

    def overtaken(turn: Any) -> str:
        turn.emit("mine")
        interrupted.append(host.ask(task_id, "interrupt").status)
        asked.append(len(wire.seen))
        with pytest.raises(TurnOver):
            turn.emit("too late")
        asked.append(len(wire.seen))
        with pytest.raises(TurnOver):
            turn.wait([{"id": "h", "kind": "host"}])
        asked.append(len(wire.seen))
        return "much too late"

    assert take_one(helper, queue, overtaken)

    # The second is not even asked, nor is the turn finished; what an agent asserts by itself, its worker swallows.
    assert (interrupted, [later - asked[0] for later in asked], len(wire.seen)) == (
        [200],
        [0, 1, 1],
        asked[-1],
    )
    assert texts(alice.messages(task_id)) == ["one", "mine"]
    assert not take_one(helper, queue, nothing)


def test_a_turn_that_was_lost_is_judged_by_whoever_knows(
    helper: Any, queue: Queue, alice: Any, host: Any
) -> None:
    helper.register("once", manifest("once"))
    task_id = alice.create("once", "Pay.").task.id
    fence = helper.start(task_id).turn.fence
    host.sweep_after(seconds=120)
    assert helper.task(task_id).is_lost

    judged: list[str] = []

    def judge(driven: Any) -> Word:
        judged.append(driven.task.id)
        return Word("done", says="It was paid.")

    eventually(lambda: not take_one(helper, queue, nothing, judge=judge))

    assert judged == [task_id]
    assert texts(alice.messages(task_id)) == ["Pay.", "It was paid."]
    with pytest.raises(Conflict):
        helper.finish(task_id, fence, "late")


def test_a_wake_up_that_is_none_is_forgotten(helper: Any, queue: Queue) -> None:
    queue.sqs.send_message(
        QueueUrl=queue.url, MessageBody="{}", MessageGroupId="g", MessageDeduplicationId="d"
    )

    assert take_one(helper, queue, nothing)
    assert not take_one(helper, queue, nothing)


def test_a_host_does_all_that_its_api_has(helper: Any, alice: Any) -> None:
    helper.register("other", manifest("other", delegates_from=[AGENT]))
    task_id = alice.create(AGENT, "one").task.id
    fence = helper.start(task_id).turn.fence

    assert helper.agent("other").manifest["name"] == "other"
    assert helper.heartbeat(task_id, fence, usage={"prompt_tokens": 7}).usage["prompt_tokens"] == 7
    child = helper.delegate(task_id, fence, "ask", "other", "hi")
    assert helper.delegate(task_id, fence, "ask", "other", "hi").id == child.id
    assert helper.child(task_id, child.id).agent == "other"
    assert texts(helper.messages(task_id, child=child.id)) == ["hi"]
    assert helper.report(task_id, fence, report()).task.id == task_id
    waits = [{"id": "h", "kind": "host"}, {"id": "a", "kind": "auth", "provider": "calendar"}]
    assert [wait.kind for wait in helper.wait(task_id, fence, waits).waits] == ["host", "auth"]
    assert helper.grant("alice-sub", "calendar").tasks == 1
    assert helper.resolve(task_id, fence, "h", "done").turn.state == "runnable"
    assert [one.kind for one in helper.start(task_id).turn.resolutions] == ["auth", "host"]
    assert helper.interrupt(task_id).turn is None
    assert helper.complete(task_id, message={"user": "Good."}).task.status.terminal_reason == "completed"
    assert helper.error(child.id, 5003).agent_status.code == 5003
    assert helper.restrict(alice.create(AGENT).task.id).task.status.terminal_reason == "restricted"
    assert helper.agent_status(task_id).code == 2000
    with pytest.raises(WrongState):
        helper.start(task_id)


def test_files_go_to_and_from_hosts(helper: Any, alice: Any, wire: Wire) -> None:
    task_id = alice.create(AGENT, "one").task.id
    fence = helper.start(task_id).turn.fence
    assert wire.lab.s3

    file = helper.upload(task_id, b"a,b", name="a.csv", mime_type="text/csv")
    helper.finish(task_id, fence, ["Here:", file])

    assert alice.download(task_id, file.file).content == b"a,b"
    assert helper.download(task_id, file.file).content == helper.download(task_id, file).content == b"a,b"


def test_another_hosts_task_is_not_found(side: str, wire: Wire, helper: Any, alice: Any) -> None:
    task_id = alice.create(AGENT, "one").task.id
    rival = host_client(side, wire, "rival")

    try:
        for ask in (rival.task, rival.start, rival.complete):
            with pytest.raises(NotFound):
                ask(task_id)
    finally:
        rival.close()
    assert helper.task(task_id).turn is None


def test_a_manifest_that_is_wrong_is_refused_by_its_places(helper: Any) -> None:
    with pytest.raises(Refused) as refused:
        helper.register(AGENT, {**manifest(), "kind": "other"})

    assert [place.at for place in refused.value.places] == ["kind"]


@pytest.mark.parametrize(
    "says", ["x" * 100_001, 5, {"mimeType": "text/plain", "text": float("nan")}, [b"bytes"]], ids=repr
)
def test_an_answer_that_cannot_be_said_gives_its_attempt_up_like_an_exception(
    helper: Any, queue: Queue, alice: Any, says: Any
) -> None:
    task_id = alice.create(AGENT, "one").task.id
    attempts: list[int] = []

    def learning(turn: Any) -> Any:
        attempts.append(turn.attempt)
        return says if turn.attempt == 1 else "done"

    eventually(lambda: take_one(helper, queue, learning) and len(attempts) > 1)

    assert attempts == [1, 2]
    assert texts(alice.messages(task_id)) == ["one", "done"]


def test_a_heartbeat_that_fails_for_whatever_reason_ends_neither_the_turn_nor_the_next_ones(
    helper: Any, queue: Queue, alice: Any, host: Any, wire: Wire
) -> None:
    task_id = alice.create(AGENT, "one").task.id
    failed = 0

    def fail(request: httpx.Request) -> None:
        nonlocal failed
        if request.url.path.endswith("/heartbeat") and failed == 0:
            failed += 1
            raise RuntimeError("no keys to sign with")

    def slow(turn: Any) -> str:
        wire.meanwhile = fail
        first = turn.held.turn.lease_until.isoformat()
        eventually(lambda: host.read(task_id)["turn"]["lease_until"][:19] > first[:19])
        return "done"

    assert take_one(helper, queue, slow, pace=Pace(listen_s=0, heartbeat_s=0.2))

    assert failed == 1
    assert texts(alice.messages(task_id)) == ["one", "done"]


def test_an_asynchronous_worker_outlives_an_agent_that_is_none(
    hosts: Hosts, wire: Wire, queue: Queue
) -> None:
    assert hosts.acme.register(repeatable=True, backoff=["0s"]).status == 200
    task_id, helper = hosts.acme.task("one"), host_client("asynchronous", wire, "acme")

    def blocking(_: Any) -> Any:
        return "not awaited"

    try:
        assert helper.wait_for(AsyncWorker(helper.client, queue, blocking, pace=AT_ONCE).take_one())
    finally:
        helper.close()

    assert hosts.acme.read(task_id)["turn"]["state"] == "between_attempts"
