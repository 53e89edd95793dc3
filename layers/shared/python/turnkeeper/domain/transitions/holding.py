"""Inputs that a guardrail holds until somebody decided: each is then judged again by the next turn."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.domain.errors import WaitNotFound
from turnkeeper.domain.judging import Held
from turnkeeper.domain.reviews import Decision
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Pace, Task
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.forms import due
from turnkeeper.domain.waits import Verdict


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
