"""How every transition happens: decide, write, wake; and decide again on what is there when somebody was faster.

An idle task past its announced end is expired here before anything else is decided, so no use case can forget it.
"""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StoreIsBusy, TaskNotFound
from turnkeeper.domain.rules import State, Transition, state_of
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change, Wake
from turnkeeper.service import metering
from turnkeeper.service.metering import CONFLICT
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks
from turnkeeper.store.commit import Moved, commit
from turnkeeper.store.keys import Claim
from turnkeeper.store.patience import AMONG_WRITERS, Patience
from turnkeeper.tracing import trace_id

type Decide = Callable[[Task, datetime], Change]


def apply(runtime: Runtime, task: Task, decide: Decide, *, actor: str, claim: Claim | None = None) -> Change:
    """The change that *decide* made of *task*, or of what it has become meanwhile, as written.

    Where it had nothing to change, that is the expiry, if one was due.
    Raises what *decide* raises, `StoreIsBusy` when others kept being faster, `KeyTaken` when *claim* was lost.
    """
    patience: Patience | None = None
    current, expiry = task, None
    while True:
        now = runtime.clock()
        ends = current.is_expired(now)
        change = transitions.expire(current, now=now, pace=runtime.pace) if ends else decide(current, now)
        if not change.is_change:
            return expiry or change
        # What a decision takes, guardrails' above all, is no part of our patience with the table.
        patience = patience or runtime.table.patience()
        try:
            written = commit(
                runtime.table,
                change,
                actor=actor,
                at=now,
                claim=None if ends else claim,
                patience=patience,
            )
        except Moved as moved:
            runtime.meter(CONFLICT)
            current = moved.current or _again(runtime, task.id)
            if not patience.pause(AMONG_WRITERS):
                raise StoreIsBusy from moved
            continue
        change = replace(change, after=written)
        runtime.meter(metering.written(change))
        if not ends:
            return woken(runtime, change)
        current, expiry = written, change


def traced(change: Change, header: str | None) -> Change:
    """*change*, whose task knows the trace that X-Ray's *header* names, if its turn was taken up."""
    trace = trace_id(header)
    if trace is None or state_of(change.after) is not State.RUNNING:
        return change
    return replace(change, after=replace(change.after, trace=trace))


def woken(runtime: Runtime, change: Change) -> Change:
    """*change*, after the wake-ups that it needs were sent; a failed send fails nothing, `due_at` is the net."""
    if change.wake is not Wake.NONE and runtime.queue is not None:
        runtime.queue.send(change.after, change.wake)
    if change.goes_quiet and runtime.queue is not None:
        runtime.queue.tell_parent(change.after)
    return change


def expire(runtime: Runtime, task: Task, *, actor: str) -> Task:
    """*task*, ended and written if the instant it announced has come (TS-8c)."""

    def nothing_more(current: Task, _now: datetime) -> Change:
        return Change(transition=Transition.LOOK, before=current, after=current)

    if not task.is_expired(runtime.clock()):
        return task
    return apply(runtime, task, nothing_more, actor=actor).after


def _again(runtime: Runtime, task_id: str) -> Task:
    task = tasks.read(runtime.table, task_id)
    if task is None:
        raise TaskNotFound
    return task
