"""What waits for a person over all of that person's tasks, as each task's status object says it (TS-7)."""

from dataclasses import dataclass

from turnkeeper.domain.task import Task
from turnkeeper.service.cursors import read_pointer, write_pointer
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import people


@dataclass(frozen=True, slots=True)
class Calls:
    """A page of the tasks that call for somebody; no *next* when there are no more."""

    tasks: tuple[Task, ...]
    next: str | None


def list_calls(runtime: Runtime, *, caller: str, limit: int, cursor: str | None) -> Calls:
    """The next *limit* of the caller's tasks after *cursor* that wait for the caller, the longest first."""
    after = read_pointer(cursor) if cursor is not None else None
    found, position = people.calls(runtime.table, caller, after=after, limit=limit)
    return Calls(tuple(found), write_pointer(position) if position else None)
