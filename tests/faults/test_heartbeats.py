"""A worker renews its lease and its message together, and never works against itself."""

import threading
from datetime import datetime, timedelta

import pytest

from tests.faults.agents import Talker, enlist
from tests.faults.healing import deliver
from tests.faults.scenes import running
from tests.faults.soundness import assert_sound
from tests.faults.victims import Victim
from tests.support.faults import THROTTLED, UPDATE, WRITE
from tests.support.laboratory import PACE, Laboratory
from turnkeeper.agents.protocol import TurnView
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StaleFence
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service.hold import Hide, Hold

LONG_S = 20


def hold_of(lab: Laboratory, task_id: str, hide: Hide, *, by: Laboratory | None = None) -> Hold:
    """What the worker that started the task's turn holds, in the process of *by*."""
    task = lab.stored(task_id)
    assert task.turn is not None
    return Hold((by or lab).runtime, task, task.turn, hide)


def fail(task: Task, now: datetime) -> Change:
    """The attempt has failed."""
    return transitions.fail_attempt(task, fence=1, now=now, pace=PACE)


def test_a_worker_whose_heartbeats_fail_is_overtaken_and_writes_nothing(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id, hidden = running(moto_lab), list[timedelta]()
    hold = hold_of(moto_lab, task_id, hidden.append, by=victim.lab)
    victim.faults.inject(THROTTLED, UPDATE, times=None)

    for _ in range(3):
        moto_lab.clock.forward(seconds=20)
        hold.renew()
    assert (hold.was_lost, hidden) == (False, [])
    moto_lab.sweep()
    moto_lab.work()
    finished = moto_lab.raw(task_id)
    victim.faults.clear()
    hold.renew()

    assert hold.was_lost
    with pytest.raises(StaleFence):
        hold.write(lambda current, now: transitions.finish(current, fence=1, output=None, now=now, pace=PACE))
    assert moto_lab.raw(task_id) == finished
    assert victim.faults.attempts.count(WRITE) == 0
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_a_worker_whose_heartbeats_come_through_keeps_its_turn_and_its_message(moto_lab: Laboratory) -> None:
    task_id, hidden = running(moto_lab), list[timedelta]()
    hold = hold_of(moto_lab, task_id, hidden.append, by=moto_lab)

    for _ in range(9):
        moto_lab.clock.forward(seconds=20)
        hold.renew()
        moto_lab.sweep()
        deliver(moto_lab, task_id)

    assert hidden == [PACE.lease + timedelta(seconds=5)] * 9
    assert state_of(moto_lab.stored(task_id)) is State.RUNNING
    assert moto_lab.stored(task_id).fence == 1


def test_a_heartbeat_that_comes_after_the_end_hides_nothing(moto_lab: Laboratory) -> None:
    task_id, hidden = running(moto_lab), list[timedelta]()
    hold = hold_of(moto_lab, task_id, hidden.append, by=moto_lab)
    hold.write(fail)

    moto_lab.clock.forward(seconds=1)
    hold.renew()

    assert hidden == []
    assert state_of(moto_lab.stored(task_id)) is State.BETWEEN_ATTEMPTS


def test_nobody_writes_between_a_heartbeat_and_the_hiding_that_goes_with_it(moto_lab: Laboratory) -> None:
    task_id, wrote, hiding = running(moto_lab), threading.Event(), threading.Event()
    overtaken: list[bool] = []

    def hide(_lasts: timedelta) -> None:
        hiding.set()
        overtaken.append(wrote.wait(0.2))

    hold = hold_of(moto_lab, task_id, hide)
    moto_lab.clock.forward(seconds=20)
    heartbeat = threading.Thread(target=hold.renew, name="heartbeat", daemon=True)
    heartbeat.start()
    assert hiding.wait(LONG_S)
    hold.write(fail)
    wrote.set()
    heartbeat.join(LONG_S)

    assert overtaken == [False]


def test_the_lease_is_renewed_as_long_as_the_agent_thinks_and_no_longer(moto_lab: Laboratory) -> None:
    renewed = threading.Event()
    process = moto_lab.another_process(heartbeat=timedelta(milliseconds=5))
    leases: list[datetime] = []

    def think(turn: TurnView, ordinal: int) -> None:
        if ordinal == 2:
            moto_lab.clock.forward(seconds=20)
            for _ in range(1000):
                held = moto_lab.stored(turn.task_id).turn
                assert held is not None
                assert held.lease_until is not None
                leases.append(held.lease_until)
                if held.lease_until == moto_lab.clock.now + PACE.lease:
                    return
                renewed.wait(0.005)

    task_id = moto_lab.create("first", agent=enlist(moto_lab, "thinks", lambda: Talker(2, think))).task.id
    moto_lab.attend(moto_lab.sqs.receive_message(QueueUrl=moto_lab.queue_url)["Messages"][0], process)

    assert leases[-1] == moto_lab.clock.now + PACE.lease
    assert moto_lab.stored(task_id).phase is Phase.IDLE
    assert not [thread for thread in threading.enumerate() if thread.name == "heartbeat"]
    assert_sound(moto_lab, task_id, accepted=["first"])
