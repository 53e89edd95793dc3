"""How a task ends: completed, errored or restricted by somebody's word, or expired as it announced."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import InputsArePending, UnitsNotReached
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Pace, Reason, Task
from turnkeeper.domain.transitions.change import Change
from turnkeeper.domain.transitions.forms import ended

REACHED = frozenset({Code.SUCCESS, Code.SUCCESS_WITH_WARNINGS, Code.NO_ACTION_REQUIRED})
"""The outcomes that say that everything asked for was reached."""


def complete(
    task: Task, *, outcome: Code, discard_pending: bool = False, now: datetime, pace: Pace
) -> Change:
    """End the task by an explicit action (LC-3); refused while inputs wait, unless they are to be discarded.

    Nor is it a success as long as a unit that its goal needs was not reached (REG-6).
    """
    require(task, Transition.COMPLETE)
    if task.unreached and outcome in REACHED:
        raise UnitsNotReached(task.unreached)
    if task.pending and not discard_pending:
        raise InputsArePending(task.pending)
    over = ended(task, Reason.COMPLETED, outcome, now=now, pace=pace)
    return Change(transition=Transition.COMPLETE, before=task, after=over)


def error(task: Task, *, outcome: Code, now: datetime, pace: Pace) -> Change:
    """End the task for an unrecoverable error or an exceeded limit (LC-4); pending inputs stay listed."""
    require(task, Transition.ERROR)
    over = ended(task, Reason.ERRORED, outcome, now=now, pace=pace)
    return Change(transition=Transition.ERROR, before=task, after=over)


def restrict(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Lock the task, as a guardrail or middleware asks (LC-5)."""
    require(task, Transition.RESTRICT)
    over = ended(task, Reason.RESTRICTED, Code.GUARDRAIL_BLOCKED, now=now, pace=pace)
    return Change(transition=Transition.RESTRICT, before=task, after=over)


def expire(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Complete an idle task at the instant it announced, under the revision it announced (TS-8c)."""
    require(task, Transition.EXPIRE)
    if not task.is_expired(now):
        return Change(transition=Transition.EXPIRE, before=task, after=task)
    outcome = Code.SUCCESS if task.outputs else Code.NO_ACTION_REQUIRED
    outcome = Code.PARTIAL_SUCCESS if task.unreached else outcome
    over = ended(task, Reason.COMPLETED, outcome, now=now, pace=pace)
    after = replace(over, revision=task.expiry_revision or task.revision)
    return Change(transition=Transition.EXPIRE, before=task, after=after)
