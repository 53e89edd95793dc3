"""The answer to somebody who sent something: the task as it is now, and when the input was received."""

from dataclasses import dataclass
from datetime import datetime

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.task import Task
from turnkeeper.service.change import expire
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks
from turnkeeper.store.keys import Made


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a create or an input made, or had made when the same key came before."""

    task: Task
    received_at: datetime | None


def replayed(runtime: Runtime, made: Made, task: Task | None) -> Accepted:
    """The answer to a key that came before: what it made then, the task as it is now; `TaskNotFound` if it is gone."""
    if task is None or task.log_number < made.log_number:
        task = tasks.read(runtime.table, made.task_id)
    if task is None or task.is_gone(runtime.clock()):
        raise TaskNotFound
    return Accepted(expire(runtime, task, actor="reader"), made.received_at)
