"""A turn that waits: suspended with its agent's memo, and runnable when nothing is left to wait for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import InvalidInput, Place, WaitIsOver, WaitNotFound
from turnkeeper.domain.messages import Output
from turnkeeper.domain.reviews import Decision
from turnkeeper.domain.rules import HELD, Transition, require, state_of
from turnkeeper.domain.task import NOTHING_USED, Pace, Reason, Runs, Task, Turn, TurnState, Usage
from turnkeeper.domain.transitions.change import NO_SUBJECTS, Change, Wake
from turnkeeper.domain.transitions.forms import due, ended, metered, released, said, turn_of
from turnkeeper.domain.waits import (
    EARLY_BYTES,
    MOST_WAITS,
    Resolution,
    Verdict,
    Wait,
    WaitKind,
    notifications,
)

RECONCILE_WITHIN = timedelta(days=1)
RECONCILE = "reconcile"
NOT_ANSWERED: Mapping[str, Verdict] = MappingProxyType({})


def suspend(
    task: Task,
    *,
    fence: int,
    waits: Iterable[Wait],
    subjects: Mapping[str, str] = NO_SUBJECTS,
    answered: Mapping[str, Verdict] = NOT_ANSWERED,
    memo: str | None,
    usage: Usage = NOTHING_USED,
    now: datetime,
    pace: Pace,
) -> Change:
    """Park the turn on *waits*, with the agent's memo; outputs it emitted stay.

    *subjects* says by a wait's id what its reviewer is to decide. What is *answered* already, or was by the host under
    this fence, is resolved at once and never seen outstanding.
    """
    require(task, Transition.SUSPEND, fence=fence)
    turn = turn_of(task)
    asked = tuple(waits)
    _check_waits(asked)
    hosts = {wait.id for wait in asked if wait.kind is WaitKind.HOST}
    early = {wait_id: verdict for wait_id, verdict in turn.early if wait_id in hosts}
    verdicts = {**answered, **early}
    left = tuple(wait for wait in asked if wait.id not in verdicts)
    parked = replace(
        turn,
        state=TurnState.SUSPENDED if left else TurnState.RUNNABLE,
        lease_until=None,
        retry_at=None,
        changed_at=None,
        memo_fence=None if memo is None else fence,
        resolutions=tuple(
            _resolution(wait, verdicts[wait.id], now=now) for wait in asked if wait.id in verdicts
        ),
        early=(),
    )
    after = due(replace(task, turn=parked, waits=left), now=now, pace=pace)
    change = Change(
        transition=Transition.SUSPEND,
        before=task,
        after=after,
        memo=memo,
        subjects=subjects,
        wake=Wake.NONE if left else Wake.TASK,
    )
    return metered(change, usage, now=now, pace=pace)


def _check_waits(waits: Sequence[Wait]) -> None:
    if not 0 < len(waits) <= MOST_WAITS:
        raise InvalidInput([Place("waits", f"must be 1 to {MOST_WAITS}")])
    if len({wait.id for wait in waits}) < len(waits):
        raise InvalidInput([Place("waits", "must have ids that differ")])


def resolve(
    task: Task,
    *,
    verdicts: Mapping[str, Verdict],
    fence: int | None = None,
    decision: Decision | None = None,
    now: datetime,
    pace: Pace,
) -> Change:
    """End the waits that *verdicts* names by id, as far as they are outstanding; the last makes the turn runnable.

    *fence* is the one they were recorded under, since ids come again in later pauses; *decision* is the reviewer's
    word, where it is one. A reconcile that timed out errors the task (ASC-6005). None outstanding is `WaitNotFound`.
    """
    require(task, Transition.RESOLVE, fence=fence)
    over = tuple(wait for wait in task.waits if wait.id in verdicts)
    if not over:
        raise WaitNotFound
    if any(wait.kind is WaitKind.RECONCILE and verdicts[wait.id] is Verdict.TIMED_OUT for wait in over):
        unknown = ended(task, Reason.ERRORED, Code.RESULT_STATE_UNKNOWN, now=now, pace=pace)
        return Change(transition=Transition.RESOLVE, before=task, after=unknown)
    left = tuple(wait for wait in task.waits if wait not in over)
    turn = turn_of(task)
    named = decision.review if decision and decision.comment is not None else None
    if turn.output is not None and turn.output.wait_id in verdicts:
        # Its agent did not wait for that, and learns of it by what is said.
        approved = verdicts[turn.output.wait_id] is Verdict.DONE
        resolved = replace(turn, output=turn.output.after(approved=approved))
    else:
        outcomes = [_resolution(wait, verdicts[wait.id], now=now, review=named) for wait in over]
        resolved = replace(turn, resolutions=(*turn.resolutions, *outcomes))
    if not left:
        # A reconcile repeats its leg; the end of any other wait begins the next one.
        repeats = any(wait.kind is WaitKind.RECONCILE for wait in over)
        resolved = _repeatable(resolved, now=now) if repeats else replace(resolved, state=TurnState.RUNNABLE)
    if _calls(task) and not _calls(replace(task, waits=left)):
        resolved = replace(resolved, seen_at=now)
    after = due(replace(task, waits=left, turn=resolved, looks=0), now=now, pace=pace)
    return Change(
        transition=Transition.RESOLVE,
        before=task,
        after=after,
        decision=decision,
        wake=Wake.NONE if left else Wake.TASK,
    )


def _calls(task: Task) -> bool:
    return bool(notifications(task.asks, task.responsible_user))


def _resolution(wait: Wait, verdict: Verdict, *, now: datetime, review: str | None = None) -> Resolution:
    return Resolution(
        wait_id=wait.id, kind=wait.kind, verdict=verdict, at=now, child=wait.child, review=review
    )


def answer(task: Task, *, fence: int, wait_id: str, verdict: Verdict, now: datetime, pace: Pace) -> Change:
    """The host's word on a wait of its own, under the fence that it was, or will be, recorded under.

    One that comes before its wait is kept until then; one that comes again changes nothing, and another is refused.
    """
    require(task, Transition.ANSWER, fence=fence)
    if wait := next((wait for wait in task.waits if wait.id == wait_id), None):
        if wait.kind is not WaitKind.HOST:
            raise InvalidInput([Place("wait", f"is of kind {wait.kind}, which the host does not decide")])
        done = resolve(task, verdicts={wait_id: verdict}, fence=fence, now=now, pace=pace)
        return replace(done, transition=Transition.ANSWER)
    turn, is_early = turn_of(task), state_of(task) in HELD
    heard = dict(turn.early) if is_early else {one.wait_id: one.verdict for one in turn.resolutions}
    if (before := heard.get(wait_id)) is not None:
        if before is not verdict:
            raise WaitIsOver(before)
        return Change(transition=Transition.ANSWER, before=task, after=task)
    if not is_early:
        raise WaitNotFound
    early = (*turn.early, (wait_id, verdict))
    if len(early) > MOST_WAITS or sum(len(name.encode()) for name, _ in early) > EARLY_BYTES:
        problem = (
            f"is more than is kept of waits to come: {MOST_WAITS}, with ids of {EARLY_BYTES} bytes in all"
        )
        raise InvalidInput([Place("wait", problem)])
    return Change(
        transition=Transition.ANSWER, before=task, after=replace(task, turn=replace(turn, early=early))
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
    return replace(turn, state=TurnState.BETWEEN_ATTEMPTS, started_at=now, changed_at=now)


def to_reconcile(task: Task, *, now: datetime, pace: Pace) -> Change:
    """The turn was lost after it may have acted: its host must say what became of it, within a day.

    An external host is woken, since the one that lost the turn may not live to ask.
    """
    wait = Wait(id=RECONCILE, kind=WaitKind.RECONCILE, since=now, deadline=now + RECONCILE_WITHIN)
    parked = replace(turn_of(task), state=TurnState.SUSPENDED, lease_until=None, changed_at=None)
    after = due(replace(task, turn=parked, waits=(wait,)), now=now, pace=pace)
    wake = Wake.RECOVERY if task.terms.runs is Runs.EXTERNAL else Wake.NONE
    return Change(transition=Transition.LOSE_TURN, before=task, after=after, wake=wake)
