"""Expiry is exact: from the announced instant nobody sees the task idle, and no input slips in."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.support.glances import as_seen
from tests.support.laboratory import Laboratory
from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import TaskIsTerminal
from turnkeeper.domain.instants import MICROSECOND
from turnkeeper.domain.standing import Standing
from turnkeeper.domain.task import Phase, Reason, Task

LIFESPAN = timedelta(seconds=5)

type Look = Callable[[Laboratory, Task], Standing]

LOOKS: dict[str, Look] = {
    "a poll": lambda lab, task: lab.poll(task.id),
    "a page of messages": lambda lab, task: lab.page(task.id).task,
    "a create sent again": lambda lab, _: lab.create(agent="mayfly", key="k").task,
}


def idle(lab: Laboratory) -> Task:
    """A task that is idle after a turn, and about to end."""
    task_id = lab.create(agent="mayfly", key="k").task.id
    lab.send(task_id, "hi", key="input")
    lab.work()
    return lab.stored(task_id)


@pytest.mark.clause("TS-8a")
def test_the_announced_instant_is_the_last_activity_and_the_lifespan(lab: Laboratory) -> None:
    created = lab.create(agent="mayfly").task
    assert created.idle_expires_at == lab.clock.now + LIFESPAN

    lab.clock.forward(seconds=3)
    busy = lab.send(created.id, "hi").task
    lab.clock.forward(seconds=10)
    lab.work()

    assert busy.idle_expires_at is None
    assert lab.stored(created.id).idle_expires_at == lab.clock.now + LIFESPAN


@pytest.mark.clause("TS-8c")
@pytest.mark.parametrize("name", LOOKS)
def test_a_reader_a_microsecond_before_sees_it_idle_and_writes_nothing(lab: Laboratory, name: str) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=5)
    lab.clock.now -= MICROSECOND
    before = lab.everything()

    assert as_seen(LOOKS[name](lab, task)) == as_seen(task)
    assert lab.everything() == before


@pytest.mark.clause("TS-8c")
@pytest.mark.parametrize("name", LOOKS)
def test_a_reader_at_the_instant_sees_it_ended_and_writes_that_once(lab: Laboratory, name: str) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=5)

    seen = LOOKS[name](lab, task)
    written = lab.everything()

    assert (seen.phase, seen.terminal_reason) == (Phase.TERMINAL, Reason.COMPLETED)
    assert (seen.revision, seen.outcome) == (task.expiry_revision, Code.SUCCESS)
    assert lab.stored(task.id) == seen
    assert as_seen(LOOKS[name](lab, task)) == as_seen(seen)
    assert lab.everything() == written
    last = lab.journal(task.id)[-1]
    assert (last["transition"], last["actor"], last["from"], last["to"]) == (
        "expire",
        "reader",
        "idle",
        "terminal",
    )


def test_a_task_that_never_said_anything_ends_as_one_that_had_nothing_to_do(lab: Laboratory) -> None:
    task = lab.create(agent="mayfly").task
    lab.clock.forward(seconds=5)

    assert lab.poll(task.id).outcome is Code.NO_ACTION_REQUIRED


@pytest.mark.clause("TS-8c", "IN-1c")
def test_an_input_a_microsecond_before_is_accepted_and_keeps_the_task_alive(lab: Laboratory) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=5)
    lab.clock.now -= MICROSECOND

    accepted = lab.send(task.id, "just in time").task
    lab.clock.forward(seconds=60)

    assert accepted.phase is Phase.PROCESSING
    assert lab.poll(task.id).phase is Phase.PROCESSING


@pytest.mark.clause("TS-8c")
@pytest.mark.parametrize("key", [None, "new"])
def test_an_input_at_the_instant_ends_the_task_and_is_refused(lab: Laboratory, key: str | None) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=5)

    with pytest.raises(TaskIsTerminal) as refused:
        lab.send(task.id, "too late", key=key)

    ended = lab.stored(task.id)
    assert refused.value.reason == "completed"
    assert (ended.revision, ended.received) == (task.expiry_revision, task.received)
    assert [entry["transition"] for entry in lab.journal(task.id)][-1] == "expire"
    assert not [key for key in lab.everything() if key[1] == "IN#0000000002"]


@pytest.mark.parametrize("seconds", [4, 5])
def test_a_stray_wake_up_starts_nothing_on_an_idle_task_nor_on_one_past_its_end(
    lab: Laboratory, seconds: int
) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=seconds)
    before = lab.everything()
    lab.sqs.send_message(
        QueueUrl=lab.queue_url,
        MessageBody=f'{{"task":"{task.id}"}}',
        MessageGroupId=task.id,
        MessageDeduplicationId="stray",
    )

    assert lab.work() == 1
    assert lab.everything() == before


@pytest.mark.clause("TS-5c")
def test_nothing_changes_a_task_after_its_end(lab: Laboratory) -> None:
    task = idle(lab)
    lab.clock.forward(seconds=5)
    lab.poll(task.id)
    before = lab.everything()

    for days in (0, 1, 88):
        lab.clock.forward(days=days)
        lab.poll(task.id)
        lab.page(task.id)
        lab.sweep()
        lab.work()
        with pytest.raises(TaskIsTerminal):
            lab.send(task.id, "too late")

    assert lab.everything() == before


@pytest.mark.clause("TS-8b")
def test_a_busy_task_does_not_expire_however_long_it_takes(lab: Laboratory) -> None:
    task_id = lab.create("hi", agent="mayfly").task.id
    lab.clock.forward(hours=1)

    assert lab.poll(task_id).phase is Phase.PROCESSING
    lab.send(task_id, "still there?")
    lab.work()
    assert lab.poll(task_id).phase is Phase.IDLE
