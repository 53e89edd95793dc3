"""What a guardrail holds until somebody decided: inputs, which the next turn judges again, and a turn's output."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.domain.errors import TurnNotRunnable, WaitNotFound
from turnkeeper.domain.judging import Held, HeldOutput
from turnkeeper.domain.reviews import Decision
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import NOTHING_USED, Pace, Task, TurnState, Usage
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.forms import due, metered, released, said, turn_of
from turnkeeper.domain.waits import Verdict, Wait


def decide(
    task: Task, *, wait_id: str, verdict: Verdict, decision: Decision | None = None, now: datetime, pace: Pace
) -> Change:
    """The review *wait_id* of a held input is decided, or took too long: only an approval lets the input on (AG-5)."""
    require(task, Transition.DECIDE)
    found = next((one for one in task.held if one.wait is not None and one.wait.id == wait_id), None)
    if found is None:
        raise WaitNotFound
    freed = decided(found, approved=verdict is Verdict.DONE)
    held = tuple(freed if one is found else one for one in task.held)
    after = replace(task, held=held, looks=0)
    if task.turn is None:
        after = due(after, now=now, pace=pace)
    wake = Wake.TASK if task.turn is None else Wake.NONE
    return Change(transition=Transition.DECIDE, before=task, after=after, decision=decision, wake=wake)


def decided(held: Held, *, approved: bool) -> Held:
    """*held*, with the review that it waits for decided."""
    if held.wait is None:
        return held
    outcome = (held.step, held.wait.reviewer or "", approved)
    return replace(held, wait=None, decided=(*held.decided, outcome))


def hold_output(
    task: Task,
    *,
    fence: int,
    held: HeldOutput,
    wait: Wait,
    subject: str,
    content: str,
    usage: Usage = NOTHING_USED,
    now: datetime,
    pace: Pace,
) -> Change:
    """Suspend the turn until somebody decided on what it is about to say; its agent says nothing more before (AG-5)."""
    require(task, Transition.HOLD_OUTPUT, fence=fence)
    parked = replace(
        turn_of(task), state=TurnState.SUSPENDED, lease_until=None, retry_at=None, output=held, early=()
    )
    change = Change(
        transition=Transition.HOLD_OUTPUT,
        before=task,
        after=due(replace(task, turn=parked, waits=(wait,)), now=now, pace=pace),
        subjects={wait.id: subject},
        held_output=content,
    )
    return metered(change, usage, now=now, pace=pace)


def hold_on(task: Task, *, held: HeldOutput, wait: Wait, subject: str, now: datetime, pace: Pace) -> Change:
    """Another step asks for a review of the same output."""
    require(task, Transition.RELEASE_OUTPUT)
    parked = replace(turn_of(task), state=TurnState.SUSPENDED, output=held)
    after = due(replace(task, turn=parked, waits=(wait,)), now=now, pace=pace)
    return Change(transition=Transition.RELEASE_OUTPUT, before=task, after=after, subjects={wait.id: subject})


def release_output(task: Task, *, content: str, now: datetime, pace: Pace) -> Change:
    """Say what was held, or what is said in its place, and go on where the turn was.

    Where it was the last, the turn is over; else its leg is repeated, and what it said before is not said again.
    """
    require(task, Transition.RELEASE_OUTPUT)
    turn = turn_of(task)
    if turn.output is None:
        raise TurnNotRunnable
    after, output = said(task, ordinal=turn.output.ordinal, content=content, now=now)
    change = Change(transition=Transition.RELEASE_OUTPUT, before=task, after=after, entry=output)
    if turn.output.is_last:
        after, wake = released(after, now=now, pace=pace)
        return replace(change, after=after, wake=wake)
    again = replace(
        turn_of(after),
        state=TurnState.BETWEEN_ATTEMPTS,
        output=None,
        started_at=now,
        # Its agent did not fail: this is no attempt more, and nobody is told of one.
        attempt=turn.attempt - 1,
        changed_at=None,
    )
    return replace(change, after=due(replace(after, turn=again, looks=0), now=now, pace=pace), wake=Wake.TASK)
