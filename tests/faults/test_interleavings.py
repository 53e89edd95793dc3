"""Somebody else acts right before a write, at every write, whoever the two are: both are told the truth."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.faults.agents import Talker, Vanishing, enlist
from tests.faults.healing import assert_ended_for_good, deliver, sweep_until_quiet
from tests.faults.scenes import running
from tests.faults.soundness import assert_sound, said
from tests.faults.tally import Tried, tried
from tests.faults.victims import Victim, victim_of
from tests.support.faults import HEALTHY, UPDATE, WRITE, Stopwatch
from tests.support.laboratory import PACE, Laboratory
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import TaskError
from turnkeeper.domain.standing import Standing
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.change import apply

type Act = Callable[[Laboratory, str], object]


def send(lab: Laboratory, task_id: str) -> object:
    return lab.send(task_id, "sent")


def poll(lab: Laboratory, task_id: str) -> Standing:
    return lab.poll(task_id)


def sweep(lab: Laboratory, _task_id: str) -> object:
    return lab.sweep()


def interrupt(lab: Laboratory, task_id: str) -> object:
    return apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.interrupt(task, now=now, pace=PACE),
        actor="host",
    )


def complete(lab: Laboratory, task_id: str) -> object:
    return apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.complete(task, outcome=Code.SUCCESS, now=now, pace=PACE),
        actor="host",
    )


def queued(lab: Laboratory) -> str:
    return lab.create("first", agent=enlist(lab, "agent", Talker)).task.id


def expired(lab: Laboratory) -> str:
    task_id = lab.create("first", agent=enlist(lab, "agent", Talker, lifespan="5s")).task.id
    lab.work()
    lab.clock.forward(seconds=5)
    return task_id


def lost(lab: Laboratory) -> str:
    task_id = running(lab)
    lab.clock.forward(seconds=60)
    lab.agents["agent"] = lambda: Vanishing(attempts=1)
    return task_id


ACTS: tuple[Act, ...] = (send, deliver, poll, sweep, interrupt, complete)


def meet(lab: Laboratory, victim: Victim, task_id: str, one: Act, other: Act, *, at: tuple[str, int]) -> None:
    """Let *other* act right before *one* makes its write *at*, and look at what both were told and at the task."""
    tried(Tried.RACES, 2)
    there = lab.stored(task_id).received
    told: list[object] = []

    def act(who: Act, where: Laboratory) -> None:
        try:
            told.append(who(where, task_id))
        except TaskError as refusal:
            told.append(refusal)

    operation, nth = at
    victim.faults.inject(HEALTHY, operation, nth=nth, before=lambda: act(other, lab))
    act(one, victim.lab)

    accepted = sum(isinstance(answer, Accepted) for answer in told)
    assert lab.stored(task_id).received == there + accepted
    ended = sweep_until_quiet(lab, task_id, most=5)
    outputs = said(assert_sound(lab, task_id), "MSG#")
    assert ended.is_terminal or ended.pending == 0
    assert set(outputs.values()) <= {1}
    if ended.is_terminal:
        assert_ended_for_good(lab, task_id)


@contextmanager
def arranged(
    arrange: Callable[[Laboratory], str], like: Laboratory, stopwatch: Stopwatch
) -> Iterator[tuple[Laboratory, Victim, str]]:
    """A fresh laboratory with the task, and a victim beside it."""
    lab = Laboratory(like.engine, dynamodb=like.dynamodb, sqs=like.sqs)
    with victim_of(lab, stopwatch) as victim:
        yield lab, victim, arrange(lab)


@pytest.mark.parametrize("arrange", [queued, expired, lost], ids=lambda arrange: arrange.__name__)
@pytest.mark.parametrize("one", ACTS, ids=lambda act: act.__name__)
def test_whoever_comes_in_between_both_are_told_the_truth(
    one: Act,
    arrange: Callable[[Laboratory], str],
    emulated_lab: Laboratory,
    stopwatch: Stopwatch,
    subtests: pytest.Subtests,
) -> None:
    with arranged(arrange, emulated_lab, stopwatch) as (_, victim, task_id), suppress(TaskError):
        one(victim.lab, task_id)
    writes = Counter(call for call in victim.faults.attempts if call in {WRITE, UPDATE})
    for other in ACTS:
        for at in [(call, nth) for call, count in writes.items() for nth in range(1, min(count, 2) + 1)]:
            with (
                subtests.test(other=other.__name__, at=at),
                arranged(arrange, emulated_lab, stopwatch) as (lab, victim, task_id),
            ):
                meet(lab, victim, task_id, one, other, at=at)
