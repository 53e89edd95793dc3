"""Looking at a task that is due: whatever must happen by now, or a later look."""

from dataclasses import replace
from datetime import datetime, timedelta

from turnkeeper.asc.registry import Code
from turnkeeper.domain.judging import outstanding
from turnkeeper.domain.rules import State, Transition, state_of
from turnkeeper.domain.task import Pace, Task
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.endings import error, expire
from turnkeeper.domain.transitions.forms import due, is_rechecked, lease_is_over, turn_limit, turn_of
from turnkeeper.domain.transitions.holding import decide
from turnkeeper.domain.transitions.turns import lose_turn
from turnkeeper.domain.transitions.waiting import resolve
from turnkeeper.domain.waits import Verdict


def look(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Do whatever is due: expire, error, lose, time out, wake again, or only move the due time on."""
    nothing = Change(transition=Transition.LOOK, before=task, after=task)
    state = state_of(task)
    if state is State.TERMINAL or now < task.due_at:
        return nothing
    if state is State.IDLE:
        return expire(task, now=now, pace=pace)
    if outcome := _limit_exceeded(task, now=now):
        return error(task, outcome=outcome, now=now, pace=pace)
    if lease_is_over(task, now=now):
        return lose_turn(task, now=now, pace=pace)
    if timed_out := _time_out(task, now=now, pace=pace):
        return timed_out
    runnable = is_runnable(task, now=now)
    looked = replace(task, looks=task.looks + 1) if runnable or is_rechecked(task) else task
    return replace(
        nothing, after=due(looked, now=now, pace=pace), wake=Wake.RECOVERY if runnable else Wake.NONE
    )


def _time_out(task: Task, *, now: datetime, pace: Pace) -> Change | None:
    """Whatever was waited for too long: all of the turn's waits in one change, or one held input's review."""
    if late := {wait.id: Verdict.TIMED_OUT for wait in task.waits if now >= wait.deadline}:
        return resolve(task, verdicts=late, now=now, pace=pace)
    review = next((wait for wait in outstanding(task.held) if now >= wait.deadline), None)
    if review is None:
        return None
    return decide(task, wait_id=review.id, verdict=Verdict.TIMED_OUT, now=now, pace=pace)


def is_runnable(task: Task, *, now: datetime) -> bool:
    """A worker that comes now has something to start."""
    state = state_of(task)
    if state is State.BETWEEN_ATTEMPTS:
        retry_at = turn_of(task).retry_at
        return retry_at is None or now >= retry_at
    return state in {State.QUEUED, State.RUNNABLE}


def runnable_for(task: Task, *, now: datetime, pace: Pace) -> timedelta:
    """How long a runnable *task*, whose look is due, waits for a worker already: all graces that went by in vain."""
    return now - task.due_at + sum((pace.grace(look) for look in range(task.looks + 1)), timedelta(0))


def needs_worker(task: Task, *, now: datetime) -> bool:
    """A worker that comes now has something to do: to start, or to take over from one whose lease ran out."""
    return is_runnable(task, now=now) or lease_is_over(task, now=now)


def _limit_exceeded(task: Task, *, now: datetime) -> Code | None:
    """The name of the limit of time that is over: the task's age, or its turn's (LC-4, RET-4)."""
    if now >= task.oldest_end:
        return Code.RESOURCE_EXHAUSTED
    limit = turn_limit(task)
    if limit is None or now < limit:
        return None
    return Code.TIMEOUT if task.terms.repeatable else Code.RESULT_STATE_UNKNOWN
