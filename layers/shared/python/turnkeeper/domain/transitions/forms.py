"""The forms that several transitions give a task: queued, released, ended, with an output, due again."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.asc.registry import Code
from turnkeeper.domain import instants
from turnkeeper.domain.errors import TurnNotRunnable
from turnkeeper.domain.judging import outstanding
from turnkeeper.domain.messages import Output
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import NOTHING_USED, Pace, Phase, Reason, Task, Turn, Usage
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.waits import WaitKind


def turn_of(task: Task) -> Turn:
    """The turn there must be."""
    if task.turn is None:
        raise TurnNotRunnable
    return task.turn


def said(task: Task, *, ordinal: int, content: str, now: datetime) -> tuple[Task, Output]:
    """The task with one more output of its turn, and that output, at a strictly later instant (IO-3)."""
    turn = turn_of(task)
    at = instants.after(now, task.last_committed_at)
    after = replace(task, turn=replace(turn, outputs=ordinal), outputs=task.outputs + 1, last_committed_at=at)
    return after, Output(at=at, turn=turn.number, ordinal=ordinal, content=content)


def queued(task: Task, *, now: datetime, pace: Pace) -> Task:
    """The task, processing without a turn: inputs wait for the next one."""
    waiting = replace(
        task,
        phase=Phase.PROCESSING,
        turn=None,
        idle_expires_at=None,
        since=None,
        expiry_revision=None,
        looks=0,
    )
    return due(waiting, now=now, pace=pace)


def released(task: Task, *, now: datetime, pace: Pace) -> tuple[Task, Wake]:
    """The task after a turn: idle, or processing again when inputs are pending."""
    free = replace(task, turn=None, waits=(), looks=0)
    if free.pending and not free.has_ready_input:
        return queued(free, now=now, pace=pace), Wake.NONE
    if free.pending:
        return queued(free, now=now, pace=pace), Wake.TASK
    expiry = min(now + task.terms.lifespan, task.oldest_end)
    return replace(free, phase=Phase.IDLE, since=now, idle_expires_at=expiry, due_at=expiry), Wake.NONE


def ended(task: Task, reason: Reason, outcome: Code, *, now: datetime, pace: Pace) -> Task:
    """Terminal: no turn, no waits, no expiry; only its retention is still due (TS-5c, TS-8b)."""
    return replace(
        task,
        phase=Phase.TERMINAL,
        terminal_reason=reason,
        outcome=outcome,
        turn=None,
        waits=(),
        # They stay listed, uncommitted; nobody is asked any more.
        held=tuple(replace(one, wait=None) for one in task.held),
        idle_expires_at=None,
        since=now,
        expiry_revision=None,
        looks=0,
        due_at=now + pace.retention,
    )


def due(task: Task, *, now: datetime, pace: Pace) -> Task:
    """*task* with the instant of a processing task's next look; never past the end of its `max_age`."""
    turn = task.turn
    if turn and turn.lease_until:
        next_look = turn.lease_until
    elif task.waits:
        next_look = min(wait.deadline for wait in task.waits)
        if is_rechecked(task):
            next_look = min(next_look, now + pace.grace(task.looks))
    elif turn is None and not task.has_ready_input:
        next_look = task.oldest_end
    else:
        waiting_until = turn.retry_at if turn and turn.retry_at else now
        next_look = max(now, waiting_until) + pace.grace(task.looks)
    next_look = min([next_look, *(wait.deadline for wait in outstanding(task.held))])
    ends = [end for end in (turn_limit(task), task.oldest_end) if end is not None]
    return replace(task, due_at=min(next_look, *ends))


def is_rechecked(task: Task) -> bool:
    """It waits for what may have happened without anybody telling it: who should have may have died half-way."""
    return any(wait.kind in {WaitKind.AUTHORISATION, WaitKind.CHILD} for wait in task.waits)


def metered(change: Change, usage: Usage, *, now: datetime, pace: Pace) -> Change:
    """*change* with *usage* counted; past a limit the task is errored in the same write (LC-4)."""
    if usage == NOTHING_USED:
        return change
    after = replace(change.after, usage=change.after.usage.plus(usage))
    if not after.usage.is_over(after.terms.usage):
        return replace(change, after=after)
    over = ended(after, Reason.ERRORED, Code.RESOURCE_EXHAUSTED, now=now, pace=pace)
    return replace(change, after=over, wake=Wake.NONE)


def lease_is_over(task: Task, *, now: datetime) -> bool:
    """A worker had the turn until by now, and somebody else may take over."""
    return task.turn is not None and task.turn.lease_until is not None and now >= task.turn.lease_until


def turn_limit(task: Task) -> datetime | None:
    """When a turn that runs, or is between attempts, has taken too long."""
    if task.turn is None or state_of(task) not in {State.RUNNING, State.BETWEEN_ATTEMPTS}:
        return None
    return instants.later(task.turn.started_at, task.terms.turn_limit)
