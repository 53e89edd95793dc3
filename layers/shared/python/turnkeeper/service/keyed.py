"""A change to one task that may come with an Idempotency-Key: the first answer's making, or the change made now.

The key is looked at before everything else but the question whose task it is.
"""

from collections.abc import Callable
from dataclasses import dataclass

from turnkeeper.domain.errors import StoreIsBusy
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service.change import Decide, apply
from turnkeeper.service.owned import check_id
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks
from turnkeeper.store.commit import KeyTaken
from turnkeeper.store.keys import Made, claim


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Who asks for which change of which task; *body* is what makes the same key another request."""

    caller: str
    actor: str
    route: str
    task_id: str
    body: str
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The task as it is now, and either the change made now or what the same key made before."""

    task: Task
    change: Change | None = None
    made: Made | None = None


def change_once(
    runtime: Runtime, request: Request, decide: Decide, *, allowed: Callable[[Task | None], Task]
) -> Done:
    """The change, or the task as it is now and what the same key made of it before.

    *allowed* is the task if the caller may have it, and raises otherwise. Raises what *decide* raises, `KeyReused`,
    and what a write that failed raises.
    """
    check_id(request.task_id)
    if request.key is None:
        task = allowed(tasks.read(runtime.table, request.task_id))
        change = apply(runtime, task, decide, actor=request.actor)
        return Done(task=change.after, change=change)
    for _ in range(2):
        claimed = claim(
            request.key,
            caller=request.caller,
            route=request.route,
            task_id=request.task_id,
            body=request.body,
            now=runtime.clock(),
            lasts=runtime.idempotency,
        )
        found, stored = tasks.read_beside(runtime.table, request.task_id, claimed.key)
        task = allowed(found)
        if made := claimed.made(stored):
            return Done(task=task, made=made)
        try:
            change = apply(runtime, task, decide, actor=request.actor, claim=claimed)
        except KeyTaken:
            continue
        return Done(task=change.after, change=change)
    raise StoreIsBusy
