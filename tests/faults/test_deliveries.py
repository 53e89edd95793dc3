"""Wake-ups come twice, late, in another order, or for nothing: whoever comes looks, and does what there is to do."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.faults.agents import Stumbler, Talker, Waiter, enlist
from tests.faults.crowd import at_once, process
from tests.faults.healing import assert_ended_for_good, deliver
from tests.faults.scene import wake_ups
from tests.faults.scenes import running
from tests.faults.soundness import assert_sound, said
from tests.faults.victims import Victim
from tests.support.faults import HEALTHY, HIDE, READ, WRITE
from tests.support.laboratory import PACE, Laboratory
from turnkeeper.domain import transitions
from turnkeeper.domain.rules import State, state_of
from turnkeeper.service.change import apply


def idle(lab: Laboratory) -> str:
    return lab.create().task.id


def ended(lab: Laboratory) -> str:
    task_id = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=5)
    lab.poll(task_id)
    return task_id


def suspended(lab: Laboratory) -> str:
    task_id = lab.create("first", agent=enlist(lab, "agent", Waiter)).task.id
    lab.work()
    return task_id


def restricted_with_input(lab: Laboratory) -> str:
    task_id = lab.create("first").task.id
    apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.restrict(task, now=now, pace=PACE),
        actor="host",
    )
    return task_id


def unknown(_lab: Laboratory) -> str:
    return "0" * 32


def no_id(_lab: Laboratory) -> str:
    return "no id of ours"


@pytest.mark.parametrize(
    "arrange",
    [idle, ended, suspended, running, restricted_with_input, unknown, no_id],
    ids=lambda arrange: arrange.__name__,
)
def test_a_wake_up_for_what_needs_nobody_is_done_with_and_costs_one_read(
    arrange: Callable[[Laboratory], str], moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = arrange(moto_lab)
    before = moto_lab.everything()
    victim.faults.clear()

    assert deliver(victim.lab, task_id)

    assert victim.faults.attempts == [READ]
    assert moto_lab.everything() == before


def test_the_same_wake_up_twice_takes_one_turn(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id

    assert deliver(moto_lab, task_id)
    before = moto_lab.everything()
    assert deliver(moto_lab, task_id)

    assert moto_lab.everything() == before
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_one_wake_up_takes_what_all_said_and_the_others_find_nothing(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id
    for text in ("second", "third"):
        moto_lab.send(task_id, text)

    assert moto_lab.work() == 3

    assert moto_lab.stored(task_id).turns == 1
    assert_sound(moto_lab, task_id, accepted=["first", "second", "third"])


def test_a_wake_up_that_is_days_late_takes_what_came_since(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id
    late = moto_lab.sqs.receive_message(QueueUrl=moto_lab.queue_url)["Messages"][0]
    moto_lab.clock.forward(seconds=61)
    moto_lab.sweep()
    moto_lab.work()
    moto_lab.clock.forward(days=3)
    moto_lab.send(task_id, "second")

    assert moto_lab.attend(late)
    before = moto_lab.everything()
    moto_lab.work()

    assert moto_lab.everything() == before
    assert moto_lab.stored(task_id).turns == 2
    assert_sound(moto_lab, task_id, accepted=["first", "second"])


def test_a_wake_up_that_comes_after_the_end_changes_no_byte(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker, lifespan="5s")).task.id
    moto_lab.work()
    moto_lab.clock.forward(seconds=5)
    moto_lab.sweep()

    assert_ended_for_good(moto_lab, task_id)


def test_a_wake_up_past_the_announced_end_ends_the_task_and_takes_no_turn(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker, lifespan="5s")).task.id
    moto_lab.work()
    announced = moto_lab.stored(task_id).expiry_revision
    moto_lab.clock.forward(seconds=5)

    deliver(moto_lab, task_id)
    task = moto_lab.poll(task_id)

    assert (task.is_terminal, task.revision) == (True, announced)
    assert moto_lab.stored(task_id).turns == 1
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_a_retry_that_comes_early_waits_and_comes_again(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Stumbler)).task.id

    assert not deliver(moto_lab, task_id)
    before = moto_lab.raw(task_id)
    moto_lab.clock.forward(seconds=1)
    assert not deliver(moto_lab, task_id)
    assert moto_lab.raw(task_id) == before
    moto_lab.clock.forward(seconds=1)
    assert deliver(moto_lab, task_id)

    outputs = said(assert_sound(moto_lab, task_id, accepted=["first"]), "MSG#")
    assert outputs == {"turn 1 begins": 1, "turn 1 ends": 1}


def test_who_comes_second_leaves_the_turn_to_the_first(moto_lab: Laboratory, victim: Victim) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id

    def start() -> None:
        apply(
            moto_lab.runtime,
            moto_lab.stored(task_id),
            lambda task, now: transitions.start_turn(task, now=now, pace=PACE),
            actor="worker",
        )

    victim.faults.inject(HEALTHY, WRITE, before=start)

    assert deliver(victim.lab, task_id)

    task = moto_lab.stored(task_id)
    assert (state_of(task), task.fence, task.outputs) == (State.RUNNING, 1, 0)
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_two_workers_that_two_wake_ups_bring_take_one_turn(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Stumbler)).task.id
    deliver(moto_lab, task_id)
    moto_lab.clock.forward(seconds=62)
    moto_lab.sweep()  # a recovery comes beside the retry
    crowd = [process(moto_lab) for _ in range(3)]

    at_once(partial(deliver, other, task_id) for other in crowd)

    assert moto_lab.stored(task_id).fence == 2
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_a_message_is_hidden_for_the_lease_before_the_turn_starts(
    moto_lab: Laboratory, victim: Victim
) -> None:
    moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker))
    message = moto_lab.sqs.receive_message(QueueUrl=moto_lab.queue_url)["Messages"][0]
    victim.faults.clear()

    moto_lab.attend(message, runtime=victim.lab.runtime)

    attempts = victim.faults.attempts
    assert HIDE in attempts[: attempts.index(WRITE)]


def test_input_that_comes_during_a_turn_wakes_a_worker_for_the_next(moto_lab: Laboratory) -> None:
    def meanwhile(_turn: object, ordinal: int) -> None:
        if ordinal == 1 and moto_lab.stored(task_id).turns == 1:
            before = moto_lab.stored(task_id)
            moto_lab.clock.forward(seconds=5)
            moto_lab.send(task_id, "second")
            after = moto_lab.stored(task_id)
            assert (after.turn, after.due_at) == (before.turn, before.due_at)

    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", lambda: Talker(2, meanwhile))).task.id
    deliver(moto_lab, task_id)

    assert state_of(moto_lab.stored(task_id)) is State.QUEUED
    assert wake_ups(moto_lab) == 3  # the first, the second's, and the finished turn's
    moto_lab.work()
    assert moto_lab.stored(task_id).turns == 2
    assert_sound(moto_lab, task_id, accepted=["first", "second"])
