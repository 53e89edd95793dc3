"""A task as its responsible user may have it: another's is an unknown one (SEC-2)."""

import re
from datetime import datetime

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.standing import Standing

TASK_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


def check_id(task_id: str) -> None:
    """Refuse what can be no id before anything is read."""
    if not TASK_ID.fullmatch(task_id):
        raise TaskNotFound


def owned[Stands: Standing](task: Stands | None, caller: str, *, now: datetime) -> Stands:
    """*task*, if there is one *now* and it is *caller*'s."""
    if task is None or task.is_gone(now) or task.responsible_user != caller:
        raise TaskNotFound
    return task
