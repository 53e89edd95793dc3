"""A turn that waits: suspended with its agent's memo, and runnable when nothing is left to wait for."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum

from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import WaitNotFound
from turnkeeper.domain.messages import Output
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Pace, Reason, Runs, Task, Turn, TurnState
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.forms import due, ended, released, said, turn_of
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind

RECONCILE_WITHIN = timedelta(days=1)
RECONCILE = "reconcile"


def suspend(
    task: Task, *, fence: int, waits: Iterable[Wait], memo: str | None, now: datetime, pace: Pace
) -> Change:
    """Park the turn on *waits*, with the agent's memo; outputs it emitted stay."""
    require(task, Transition.SUSPEND, fence=fence)
    parked = replace(
        turn_of(task),
        state=TurnState.SUSPENDED,
        lease_until=None,
        retry_at=None,
        memo_fence=None if memo is None else fence,
        resolutions=(),
    )
    after = due(replace(task, turn=parked, waits=tuple(waits)), now=now, pace=pace)
    return Change(transition=Transition.SUSPEND, before=task, after=after, memo=memo)


def resolve(task: Task, *, wait_id: str, verdict: Verdict, now: datetime, pace: Pace) -> Change:
    """End one wait; the last makes the turn runnable. A reconcile that timed out errors the task (ASC-6005)."""
    require(task, Transition.RESOLVE)
    wait = next((wait for wait in task.waits if wait.id == wait_id), None)
    if wait is None:
        raise WaitNotFound
    if wait.kind is WaitKind.RECONCILE and verdict is Verdict.TIMED_OUT:
        over = ended(task, Reason.ERRORED, Code.RESULT_STATE_UNKNOWN, now=now, pace=pace)
        return Change(transition=Transition.RESOLVE, before=task, after=over)
    left = tuple(other for other in task.waits if other is not wait)
    turn = turn_of(task)
    outcome = Resolution(wait_id=wait.id, kind=wait.kind, verdict=verdict, at=now)
    resolved = replace(turn, resolutions=(*turn.resolutions, outcome))
    if not left:
        # A reconcile repeats its leg; the end of any other wait begins the next one.
        repeats = wait.kind is WaitKind.RECONCILE
        resolved = _repeatable(resolved, now=now) if repeats else replace(resolved, state=TurnState.RUNNABLE)
    after = due(replace(task, waits=left, turn=resolved, looks=0), now=now, pace=pace)
    return Change(
        transition=Transition.RESOLVE, before=task, after=after, wake=Wake.NONE if left else Wake.TASK
    )


class Answer(StrEnum):
    """What a host found out about a turn that was lost after it may have acted."""

    REPEAT = "repeat"
    """It did nothing, or may do it again: another attempt."""
    DONE = "done"
    """It did what it should: the turn ends, with an output if there is one to tell."""
    FAILED = "failed"
    """It did not and will not: the task is errored."""


def reconcile(
    task: Task,
    *,
    answer: Answer,
    output: str | None = None,
    outcome: Code = Code.FATAL_ERROR,
    now: datetime,
    pace: Pace,
) -> Change:
    """The host says what became of a lost turn; only while its `reconcile` wait is outstanding (RET-4)."""
    require(task, Transition.RECONCILE)
    if not any(wait.kind is WaitKind.RECONCILE for wait in task.waits):
        raise WaitNotFound
    turn = turn_of(task)
    change = Change(transition=Transition.RECONCILE, before=task, after=task)
    if answer is Answer.FAILED:
        return replace(change, after=ended(task, Reason.ERRORED, outcome, now=now, pace=pace))
    if answer is Answer.REPEAT:
        again = replace(task, waits=(), turn=_repeatable(turn, now=now))
        return replace(change, after=due(again, now=now, pace=pace), wake=Wake.RECOVERY)
    output_made: Output | None = None
    after = task
    if output is not None:
        after, output_made = said(task, ordinal=turn.outputs + 1, content=output, now=now)
    after, wake = released(after, now=now, pace=pace)
    return replace(change, after=after, entry=output_made, wake=wake)


def _repeatable(turn: Turn, *, now: datetime) -> Turn:
    """*turn*, whose leg may be run again; the time until its host said so is no part of its limit."""
    return replace(turn, state=TurnState.BETWEEN_ATTEMPTS, started_at=now)


def to_reconcile(task: Task, *, now: datetime, pace: Pace) -> Change:
    """The turn was lost after it may have acted: its host must say what became of it, within a day.

    An external host is woken, since the one that lost the turn may not live to ask.
    """
    wait = Wait(id=RECONCILE, kind=WaitKind.RECONCILE, since=now, deadline=now + RECONCILE_WITHIN)
    parked = replace(turn_of(task), state=TurnState.SUSPENDED, lease_until=None)
    after = due(replace(task, turn=parked, waits=(wait,)), now=now, pace=pace)
    wake = Wake.RECOVERY if task.terms.runs is Runs.EXTERNAL else Wake.NONE
    return Change(transition=Transition.LOSE_TURN, before=task, after=after, wake=wake)
