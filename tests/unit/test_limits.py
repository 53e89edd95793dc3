"""What a task may use, and how long its turns may take: past a limit it is errored by name (LC-4)."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.support.specimens import (
    CONTENT,
    DAY,
    HOUR,
    MINUTE,
    NOW,
    PACE,
    SECOND,
    TERMS,
    UNREPEATABLE,
    between_attempts,
    runnable,
    running,
    to_reconcile,
    written,
)
from tests.unit.rows import LEASE_END, METERED, report
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.messages import Output
from turnkeeper.domain.task import Reason, Terms, Usage
from turnkeeper.domain.transitions import Answer, Wake


def test_what_is_used_adds_up_and_renews_the_lease() -> None:
    task = written(report(running(METERED), Usage(tool_calls=1, prompt_tokens=7)))

    after = report(task, Usage(tool_calls=1), now=NOW + SECOND).after

    assert after.usage == Usage(tool_calls=2, prompt_tokens=7)
    assert after.turn
    assert after.turn.lease_until == LEASE_END + SECOND


def test_what_a_lost_turn_used_counts_though_it_gets_no_new_lease() -> None:
    lost = between_attempts(METERED)

    after = report(lost, Usage(tool_calls=2)).after

    assert after == replace(lost, usage=Usage(tool_calls=2))


def test_what_is_said_with_the_usage_that_passes_a_limit_is_still_said() -> None:
    task = running(METERED)

    change = transitions.finish(task, fence=1, output=CONTENT, usage=Usage(tool_calls=3), now=NOW, pace=PACE)

    assert isinstance(change.entry, Output)
    assert (change.after.outcome, change.wake) == (Code.RESOURCE_EXHAUSTED, Wake.NONE)
    assert change.after.usage == Usage(tool_calls=3)


def test_no_use_of_what_has_no_limit_ends_a_task() -> None:
    task = running(METERED)

    assert not report(task, Usage(prompt_tokens=10**12, completion_tokens=10**12)).after.is_terminal


@pytest.mark.parametrize(
    ("terms", "outcome"), [(TERMS, Code.TIMEOUT), (UNREPEATABLE, Code.RESULT_STATE_UNKNOWN)]
)
def test_a_turn_that_answers_nothing_within_its_limit_is_errored_by_name(terms: Terms, outcome: Code) -> None:
    task = running(replace(terms, turn_limit=2 * HOUR))
    for beat in range(1, 121):
        change = transitions.heartbeat(task, fence=1, now=NOW + beat * MINUTE - SECOND, pace=PACE)
        task = written(change)

    kept = transitions.look(task, now=NOW + 2 * HOUR - SECOND, pace=PACE).after
    over = transitions.look(kept, now=NOW + 2 * HOUR, pace=PACE).after

    assert kept.due_at == NOW + 2 * HOUR
    assert (over.terminal_reason, over.outcome) == (Reason.ERRORED, outcome)


def test_the_time_that_a_turn_waits_is_no_part_of_its_limit() -> None:
    parked = runnable(replace(TERMS, turn_limit=HOUR))

    resumed = written(transitions.start_attempt(parked, now=NOW + DAY, pace=PACE))

    assert not transitions.look(resumed, now=resumed.due_at, pace=PACE).after.is_terminal


def test_a_lost_turn_that_its_host_wants_repeated_has_its_whole_limit_again() -> None:
    parked = to_reconcile(replace(UNREPEATABLE, turn_limit=HOUR))

    free = written(transitions.reconcile(parked, answer=Answer.REPEAT, now=NOW + 12 * HOUR, pace=PACE))
    begun = written(transitions.start_attempt(free, now=NOW + 12 * HOUR, pace=PACE))

    assert begun.due_at == NOW + 12 * HOUR + PACE.lease
    assert not transitions.look(begun, now=begun.due_at, pace=PACE).after.is_terminal


def test_a_limit_beyond_the_calendar_is_its_end() -> None:
    late = datetime.max.replace(tzinfo=UTC) - SECOND
    task = running()
    assert task.turn
    task = replace(task, created_at=late, turn=replace(task.turn, started_at=late, lease_until=late))

    looked = transitions.look(task, now=task.due_at, pace=PACE).after

    assert looked.due_at == late
    assert looked.oldest_end > late
