"""My tasks, newest first. A page may be empty and still have a cursor: filters come after the page."""

from dataclasses import dataclass

from turnkeeper.domain import transitions
from turnkeeper.domain.task import Phase, Task
from turnkeeper.service.cursors import read_position, write_position
from turnkeeper.service.runtime import Runtime
from turnkeeper.store.tasks import created_by


@dataclass(frozen=True, slots=True)
class Listing:
    """A page of somebody's tasks; no *next* when there are no more."""

    tasks: tuple[Task, ...]
    next: str | None


def list_tasks(
    runtime: Runtime, *, caller: str, phase: Phase | None, agent: str | None, limit: int, cursor: str | None
) -> Listing:
    """The caller's tasks of *phase* and *agent*, among the next *limit* after *cursor*.

    One that is past its announced end is shown, and filtered, as ended, under the revision that its end will have;
    nothing is written (TS-8c). One whose retention is over is not shown.
    """
    before = read_position(cursor) if cursor is not None else None
    found, position = created_by(runtime.table, caller, before=before, limit=limit)
    now = runtime.clock()
    seen = [
        transitions.expire(task, now=now, pace=runtime.pace).after if task.is_expired(now) else task
        for task in found
    ]
    kept = tuple(
        task
        for task in seen
        if not task.is_gone(now)
        and (phase is None or task.phase is phase)
        and (agent is None or task.agent == agent)
    )
    return Listing(kept, write_position(position) if position else None)
