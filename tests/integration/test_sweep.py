"""The sweep: whatever is due is looked at, by one path, and looking is harmless."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.laboratory import PACE, Laboratory
from turnkeeper.agents.protocol import Need, Pause, Say, Step, TurnView
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.instants import MICROSECOND, to_text
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase, Reason, Task
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service.change import apply
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire, to_wire

MINUTE = timedelta(minutes=1)


@dataclass
class Waiter:
    """Waits for a child so long, and then tells how that ended."""

    within: timedelta = timedelta(days=7)

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if not turn.resolutions:
            yield Pause((Need(id="c", kind=WaitKind.HOST, within=self.within),), memo={"seen": 1})
        return Say(f"{turn.resolutions[0].verdict} {turn.memo}")


def drain(lab: Laboratory) -> list[dict[str, Any]]:
    """Lose every wake-up that is visible; what they were."""
    lost = []
    while messages := lab.sqs.receive_message(
        QueueUrl=lab.queue_url, MaxNumberOfMessages=10, AttributeNames=["All"]
    ).get("Messages"):
        for message in messages:
            lab.sqs.delete_message(QueueUrl=lab.queue_url, ReceiptHandle=message["ReceiptHandle"])
        lost += messages
    return lost


def set_due(lab: Laboratory, task_id: str, at: datetime, **more: dict[str, Any]) -> None:
    """Write into the task's item, as a fault would."""
    values = {"due_at": to_wire(to_text(at)), **more}
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
        ExpressionAttributeNames={f"#{name}": name for name in values},
        ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
    )


def start_and_die(lab: Laboratory, task_id: str) -> Task:
    """Take the turn up as a worker that dies at once: its message stays invisible, its lease runs."""
    received = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]

    class Killed(BaseException):
        pass

    class Dying:
        def run(self, _: TurnView) -> Generator[Step, None, Say | None]:
            yield Say("about to die")
            raise Killed

    lab.agents["echo"], alive = Dying, lab.agents["echo"]
    with pytest.raises(Killed):
        lab.attend(received)
    lab.agents["echo"] = alive
    return lab.stored(task_id)


@pytest.mark.clause("TS-8c")
def test_a_task_nobody_looks_at_is_ended_by_the_sweep_at_its_instant(lab: Laboratory) -> None:
    task = lab.create(agent="mayfly").task
    lab.clock.forward(seconds=5)
    lab.clock.now -= MICROSECOND
    assert lab.sweep().looked == 0

    lab.clock.now += MICROSECOND
    swept = lab.sweep()

    ended = lab.stored(task.id)
    assert (swept.looked, swept.changed, swept.failed) == (1, 1, 0)
    assert (ended.phase, ended.revision) == (Phase.TERMINAL, task.expiry_revision)
    assert lab.journal(task.id)[-1]["actor"] == "sweep"


def test_a_lost_wake_up_is_sent_again_ever_less_often_until_a_worker_comes(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    drain(lab)
    waited = []
    for _ in range(7):
        due = lab.stored(task_id).due_at
        waited.append(due - lab.clock.now)
        lab.clock.now = due - MICROSECOND
        assert lab.sweep().looked == 0
        lab.clock.now = due
        assert lab.sweep().changed == 1
        assert len(drain(lab)) == 1

    lab.clock.now = lab.stored(task_id).due_at
    lab.sweep()
    lab.work()

    assert waited == [MINUTE, 2 * MINUTE, 4 * MINUTE, 8 * MINUTE, *[15 * MINUTE] * 3]
    assert lab.stored(task_id).phase is Phase.IDLE
    assert lab.stored(task_id).looks == 0


def test_looking_again_at_once_does_nothing_more(lab: Laboratory) -> None:
    lab.create("hi")
    drain(lab)
    lab.clock.forward(seconds=60)
    assert lab.sweep().changed == 1
    before = lab.everything()

    assert lab.sweep().looked == 0
    assert lab.everything() == before
    assert len(drain(lab)) == 1


def test_a_dead_workers_turn_is_taken_up_although_its_message_is_still_invisible(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    died = start_and_die(lab, task_id)
    assert died.turn
    assert died.turn.lease_until == lab.clock.now + PACE.lease
    lab.clock.now = died.turn.lease_until - MICROSECOND
    assert lab.sweep().looked == 0
    assert lab.work() == 0

    lab.clock.now += MICROSECOND
    assert lab.sweep().changed == 1
    assert lab.work() == 1

    task = lab.stored(task_id)
    assert (task.phase, task.turns, task.fence) == (Phase.IDLE, 1, 2)


def test_a_dead_workers_turn_that_may_not_be_repeated_waits_for_its_host_and_then_ends_unknown(
    lab: Laboratory,
) -> None:
    task_id = lab.create("hi").task.id
    set_due(lab, task_id, lab.stored(task_id).due_at)
    unrepeatable(lab, task_id)
    start_and_die(lab, task_id)
    lab.clock.forward(seconds=60)
    lab.sweep()
    waiting = lab.stored(task_id)
    assert state_of(waiting) is State.SUSPENDED

    lab.clock.forward(days=1)
    lab.sweep()

    ended = lab.stored(task_id)
    assert (ended.terminal_reason, ended.outcome) == (Reason.ERRORED, Code.RESULT_STATE_UNKNOWN)
    assert lab.work() == 0


def unrepeatable(lab: Laboratory, task_id: str) -> None:
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression="SET terms.repeatable = :no",
        ExpressionAttributeValues={":no": {"BOOL": False}},
    )


def test_a_lease_that_was_renewed_only_moves_the_due_time(lab: Laboratory) -> None:
    class Slow:
        def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
            lab.clock.forward(seconds=40)
            renew(lab, turn.task_id)
            lab.clock.forward(seconds=20)
            swept.append(lab.sweep())
            seen.append(lab.stored(turn.task_id))
            yield from ()
            return Say("done")

    swept: list[Any] = []
    seen: list[Task] = []
    lab.agents["echo"] = Slow
    task_id = lab.create("hi").task.id
    revision = lab.stored(task_id).revision
    lab.work()

    assert (swept[0].looked, swept[0].changed) == (1, 1)
    assert state_of(seen[0]) is State.RUNNING
    assert seen[0].due_at == lab.clock.now + timedelta(seconds=40)
    assert seen[0].fence == 1
    assert revision != seen[0].revision
    assert lab.stored(task_id).phase is Phase.IDLE


def renew(lab: Laboratory, task_id: str) -> None:
    apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.heartbeat(task, fence=task.fence, now=now, pace=PACE),
        actor="worker",
    )


def test_a_wait_that_nobody_resolves_times_out_at_its_deadline_and_the_agent_decides(lab: Laboratory) -> None:
    lab.agents["echo"] = lambda: Waiter(timedelta(hours=1))
    task_id = lab.create("hi").task.id
    lab.work()
    lab.clock.forward(hours=1)
    lab.clock.now -= MICROSECOND
    assert lab.sweep().looked == 0

    lab.clock.now += MICROSECOND
    assert lab.sweep().changed == 1
    assert lab.work() == 1

    assert lab.conversation(task_id)[-1]["message"][0]["text"] == f"{Verdict.TIMED_OUT} {{'seen': 1}}"
    assert lab.stored(task_id).phase is Phase.IDLE


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize("is_suspended", ["queued", "suspended"])
def test_a_task_that_is_busy_at_the_end_of_its_max_age_is_errored(lab: Laboratory, is_suspended: str) -> None:
    lab.agents["echo"] = lambda: Waiter(timedelta(days=400))
    created = lab.clock.now
    task_id = lab.create("hi").task.id
    if is_suspended == "suspended":
        lab.work()
    end = created + timedelta(days=90)
    while lab.stored(task_id).due_at < end:
        lab.clock.now = max(lab.clock.now, end - 20 * MINUTE, lab.stored(task_id).due_at)
        lab.sweep()
        drain(lab)
    assert lab.stored(task_id).due_at == end

    lab.clock.now = end
    lab.sweep()

    ended = lab.stored(task_id)
    assert (ended.terminal_reason, ended.outcome) == (Reason.ERRORED, Code.RESOURCE_EXHAUSTED)


def test_an_idle_task_ends_at_the_end_of_its_max_age_at_the_latest(lab: Laboratory) -> None:
    created = lab.clock.now
    task_id = lab.create().task.id
    lab.clock.now = created + timedelta(days=6)
    for _ in range(14):
        lab.send(task_id, "still here")
        lab.work()
        lab.clock.forward(days=6)

    task = lab.stored(task_id)

    assert task.idle_expires_at == created + timedelta(days=90)
    lab.clock.now = created + timedelta(days=90)
    assert lab.poll(task_id).terminal_reason is Reason.COMPLETED


@pytest.mark.parametrize("then", ["it went idle", "a sweep looked"])
def test_a_stale_index_entry_changes_nothing(lab: Laboratory, then: str) -> None:
    task_id = lab.create("hi").task.id
    old = lab.stored(task_id).due_at
    if then == "it went idle":
        lab.work()
    lab.clock.now = old
    lab.sweep()
    before = lab.everything()
    row = {"due_shard": f"due#{task_id[0]}", "due_at": to_text(old), **task_key(task_id)}

    swept = replace(lab, dynamodb=Stale(lab.dynamodb, item_to_wire(row))).sweep()

    assert (swept.looked, swept.changed, swept.failed) == (1, 0, 0)
    assert lab.everything() == before


@dataclass
class Stale:
    """An index that still has a row of the past."""

    client: Any
    row: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def query(self, **request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.query(**request)
        if request["ExpressionAttributeValues"][":shard"] == self.row["due_shard"]:
            answer["Items"].append(self.row)
        return answer
