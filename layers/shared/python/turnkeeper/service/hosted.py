"""A task as its host may have it: only one of its own agents' tasks; any other is an unknown one (SEC-2)."""

from datetime import datetime

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.task import Task


def hosted(task: Task | None, principal: str, *, now: datetime) -> Task:
    """*task*, if there is one *now* and *principal* registered its agent."""
    if task is None or task.is_gone(now) or task.terms.owner != principal:
        raise TaskNotFound
    return task
