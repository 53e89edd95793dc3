"""A worker stops in the middle of its turn and wakes up later: the fence decides who may write, not the clock."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from tests.faults.agents import Talker, Vanished, Vanishing, enlist
from tests.faults.healing import deliver
from tests.faults.scenes import running
from tests.faults.soundness import assert_sound
from tests.support.laboratory import PACE, Laboratory, texts
from tests.support.specimens import AT_HOST
from turnkeeper.agents.protocol import TurnView
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StaleFence
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase, Reason, Task
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.waits import WaitKind
from turnkeeper.service.change import apply

LONG_S = 20
"""How long a thread of a test may take before the test gives up."""


class Hung:
    """A worker on a thread of its own that stops before its *at*-th output, and goes on when it is told to."""

    def __init__(self, lab: Laboratory, *, at: int = 2, outputs: int = 3, **terms: Any) -> None:
        self.lab, self.at = lab, at
        self.stopped, self.goes_on = threading.Event(), threading.Event()
        self._first = threading.Lock()
        enlist(lab, "hangs", lambda: Talker(outputs, self._stop), **terms)
        self.task_id = lab.create("first", agent="hangs").task.id
        # No heartbeat comes from it any more, as from a frozen process.
        process = lab.another_process(heartbeat=timedelta(days=1))
        message = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]
        self._thread = threading.Thread(target=lab.attend, args=(message, process), name="hung", daemon=True)

    def _stop(self, _turn: TurnView, ordinal: int) -> None:
        if ordinal == self.at and self._first.acquire(blocking=False):
            self.stopped.set()
            assert self.goes_on.wait(LONG_S)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """The worker hangs as long as the block lasts, and has finished after it."""
        self._thread.start()
        assert self.stopped.wait(LONG_S)
        try:
            yield
        finally:
            self.goes_on.set()
            self._thread.join(LONG_S)
            assert not self._thread.is_alive()


def recover(lab: Laboratory) -> None:
    """The lease runs out, the sweep comes once, and a worker takes what it sent."""
    lab.clock.forward(seconds=PACE.lease.total_seconds())
    lab.sweep()
    lab.work()


def test_a_hung_workers_turn_is_taken_up_after_its_lease_and_one_sweep(moto_lab: Laboratory) -> None:
    hung = Hung(moto_lab)

    with hung.hanging():
        assert moto_lab.work() == 0  # its message is hidden, and its group with it
        recover(moto_lab)
        finished = moto_lab.raw(hung.task_id)
        task = moto_lab.stored(hung.task_id)

    assert task.phase is Phase.IDLE
    assert moto_lab.raw(hung.task_id) == finished
    assert_sound(moto_lab, hung.task_id, accepted=["first"])
    assert list(texts(moto_lab.conversation(hung.task_id))) == [
        ("input", "first"),
        ("output", "turn 1 says 1"),
        ("output", "turn 1 says 2"),
        ("output", "turn 1 says 3"),
    ]


def test_a_hung_worker_that_wakes_beside_its_successor_writes_nothing(moto_lab: Laboratory) -> None:
    hung, successor_is_at_it = Hung(moto_lab), threading.Event()
    seen: dict[str, Any] = {}

    def wake_the_other(turn: TurnView, ordinal: int) -> None:
        if turn.attempt == 2 and ordinal == 2:
            seen["before"] = moto_lab.raw(hung.task_id)
            hung.goes_on.set()
            hung._thread.join(LONG_S)  # noqa: SLF001 - the test's own
            seen["after"] = moto_lab.raw(hung.task_id)
            successor_is_at_it.set()

    with hung.hanging():
        moto_lab.agents["hangs"] = lambda: Talker(3, wake_the_other)
        recover(moto_lab)

    assert successor_is_at_it.is_set()
    assert seen["before"] == seen["after"]
    assert moto_lab.stored(hung.task_id).phase is Phase.IDLE
    assert_sound(moto_lab, hung.task_id, accepted=["first"])


@pytest.mark.parametrize("swept", [False, True], ids=["before the sweep", "after the sweep"])
def test_a_hung_worker_that_wakes_before_anybody_took_over_may_finish(
    moto_lab: Laboratory, *, swept: bool
) -> None:
    hung = Hung(moto_lab)

    with hung.hanging():
        moto_lab.clock.forward(seconds=PACE.lease.total_seconds())
        if swept:
            moto_lab.sweep()

    task = moto_lab.stored(hung.task_id)
    assert (task.phase, task.outputs) == (Phase.IDLE, 3)
    moto_lab.work()  # the recovery finds nothing to do
    assert moto_lab.stored(hung.task_id) == task
    assert_sound(moto_lab, hung.task_id, accepted=["first"])


def writes(fence: int) -> dict[str, Callable[[Task, Any], Change]]:
    """Everything that a worker may want to write under *fence*."""
    return {
        "heartbeat": lambda task, now: transitions.heartbeat(task, fence=fence, now=now, pace=PACE),
        "emit": lambda task, now: transitions.emit(
            task, fence=fence, ordinal=1, content="{}", now=now, pace=PACE
        ),
        "finish": lambda task, now: transitions.finish(task, fence=fence, output="{}", now=now, pace=PACE),
        "fail": lambda task, now: transitions.fail_attempt(task, fence=fence, now=now, pace=PACE),
        "suspend": lambda task, now: transitions.suspend(
            task, fence=fence, waits=[AT_HOST], memo="{}", now=now, pace=PACE
        ),
    }


@pytest.mark.parametrize("write", writes(0))
def test_a_worker_that_was_taken_over_may_write_nothing(moto_lab: Laboratory, write: str) -> None:
    task_id = running(moto_lab)
    stale = moto_lab.stored(task_id)
    moto_lab.clock.forward(seconds=60)
    moto_lab.sweep()
    apply(moto_lab.runtime, moto_lab.stored(task_id), _start_attempt, actor="worker")
    before = moto_lab.everything()

    with pytest.raises(StaleFence):
        apply(moto_lab.runtime, stale, writes(stale.fence)[write], actor="worker")

    assert moto_lab.everything() == before


def _start_attempt(task: Task, now: Any) -> Change:
    return transitions.start_attempt(task, now=now, pace=PACE)


def test_a_turn_that_may_not_be_repeated_waits_a_day_to_be_reconciled(moto_lab: Laboratory) -> None:
    hung = Hung(moto_lab, repeatable=False)

    with hung.hanging():
        recover(moto_lab)
        suspended = moto_lab.stored(hung.task_id)
        before = moto_lab.raw(hung.task_id)

    assert state_of(suspended) is State.SUSPENDED
    assert [wait.kind for wait in suspended.waits] == [WaitKind.RECONCILE]
    assert moto_lab.journal(hung.task_id)[-1]["code"] == Code.WAITING_DEPENDENCY
    assert moto_lab.raw(hung.task_id) == before  # what it wrote late was refused
    moto_lab.clock.now = suspended.waits[0].deadline - timedelta(microseconds=1)
    moto_lab.sweep()
    deliver(moto_lab, hung.task_id)
    assert state_of(moto_lab.stored(hung.task_id)) is State.SUSPENDED
    moto_lab.clock.forward(seconds=1)
    moto_lab.sweep()
    ended = moto_lab.poll(hung.task_id)
    assert (ended.phase, ended.terminal_reason) == (Phase.TERMINAL, Reason.ERRORED)
    assert ended.outcome is Code.RESULT_STATE_UNKNOWN
    assert moto_lab.journal(hung.task_id)[-1]["code"] == 6005
    assert_sound(moto_lab, hung.task_id, accepted=["first"])


def test_a_turn_whose_workers_all_hang_ends_its_task_when_no_attempt_is_left(moto_lab: Laboratory) -> None:
    task_id = running(moto_lab, attempts=2)
    moto_lab.agents["agent"] = lambda: Vanishing(attempts=2)
    moto_lab.clock.forward(seconds=60)
    moto_lab.sweep()
    with pytest.raises(Vanished):
        deliver(moto_lab, task_id)

    moto_lab.clock.forward(seconds=60)
    moto_lab.sweep()

    ended = moto_lab.stored(task_id)
    assert (ended.phase, ended.terminal_reason) == (Phase.TERMINAL, Reason.ERRORED)
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_a_lapsed_lease_is_taken_up_by_the_next_delivery_too(moto_lab: Laboratory) -> None:
    hung = Hung(moto_lab)

    with hung.hanging():
        moto_lab.clock.forward(seconds=PACE.lease.total_seconds() - 1)
        deliver(moto_lab, hung.task_id)  # too early
        assert moto_lab.stored(hung.task_id).fence == 1
        moto_lab.clock.forward(seconds=1)
        deliver(moto_lab, hung.task_id)
        finished = moto_lab.raw(hung.task_id)

    assert moto_lab.raw(hung.task_id) == finished
    assert moto_lab.stored(hung.task_id).phase is Phase.IDLE
    assert_sound(moto_lab, hung.task_id, accepted=["first"])
