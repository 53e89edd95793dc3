"""When to look again: at once where a word may come, and the more seldom the longer nothing happened (0089)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from scripts import polling
from tests.support.specimens import (
    HOUR,
    MINUTE,
    NOW,
    PACE,
    SECOND,
    between_attempts,
    idle,
    queued,
    runnable,
    running,
    suspended,
    written,
)
from turnkeeper.domain import transitions
from turnkeeper.domain.task import Task
from turnkeeper.service.poll import LONGEST_S, SHARE, SHORTEST_S, Rhythm, poll_after


@pytest.mark.parametrize(
    ("made", "quiet", "seconds"),
    [
        (queued, timedelta(0), 1),
        (queued, 39 * SECOND, 1),
        (running, 40 * SECOND, 2),
        (running, 5 * MINUTE, 15),
        (running, HOUR, 30),
        (suspended, timedelta(0), 2),
        (suspended, 10 * MINUTE, 30),
        (suspended, 24 * HOUR, 60),
        (idle, timedelta(0), 5),
        (idle, 10 * MINUTE, 30),
        (idle, 24 * HOUR, 120),
    ],
)
def test_a_look_comes_after_a_twentieth_of_the_quiet(
    made: Callable[[], Task], quiet: timedelta, seconds: int
) -> None:
    assert poll_after(made(), NOW + quiet + SECOND / 100) == seconds


def test_whatever_happens_makes_it_worth_a_look_soon() -> None:
    """Each of these is what ended a long quiet."""
    later = NOW + 10 * MINUTE
    long = running()
    said = transitions.emit(long, fence=long.fence, ordinal=1, content='{"message":[]}', now=later, pace=PACE)
    more = transitions.accept(long, content='{"message":[]}', now=later, pace=PACE)
    stopped = replace(suspended(), waits=tuple(replace(one, since=later) for one in suspended().waits))
    waited = runnable()
    assert waited.turn is not None
    resolved = replace(
        waited,
        turn=replace(
            waited.turn, resolutions=tuple(replace(one, at=later) for one in waited.turn.resolutions)
        ),
    )
    again = transitions.start_attempt(between_attempts(), now=later, pace=PACE)

    found = [
        poll_after(one, later + SECOND)
        for one in (written(said), written(more), stopped, resolved, written(again))
    ]

    assert found == [1, 1, 2, 1, 1]
    assert poll_after(long, later + SECOND) == 30


def test_a_task_is_looked_at_when_its_announced_end_has_come() -> None:
    task = idle()
    assert task.idle_expires_at is not None
    left = {-5: 1, 0: 1, 2: 3, 300: 120}

    assert {s: poll_after(task, task.idle_expires_at - s * SECOND) for s in left} == left


def test_a_clock_that_is_behind_makes_nobody_wait_longer() -> None:
    assert poll_after(running(), NOW - HOUR) == 1


def test_the_way_is_the_one_that_the_simulation_chose() -> None:
    """The fewest polls of all that are as prompt as fixed pauses of 1, 5 and 30 s."""
    chosen = polling.chosen(polling.outcomes())

    assert (chosen.way.shortest, chosen.way.longest) == (SHORTEST_S, LONGEST_S)
    assert chosen.way.share == SHARE


def test_a_day_tells_a_prompt_way_from_a_lazy_one() -> None:
    tasks = polling.lives()[:40]
    prompt, lazy, never = (
        polling.played(polling.fixed(pause, pause, pause), tasks) for pause in (5, 50, 100_000)
    )

    assert prompt.polls_of_a_task > 9 * lazy.polls_of_a_task > 0
    assert 1.5 < prompt.late_s < 3.5
    assert 15 < lazy.late_s < 35
    assert never.polls_of_a_task < 1
    assert set(polling.OURS.shortest) == set(Rhythm)
