"""Following a task: one small read, and when to look again (PO-1)."""

from datetime import datetime

from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Task
from turnkeeper.service.owned import check_id, owned
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks

BUSY_S = 1
SUSPENDED_S = 5
IDLE_S = 30


def poll(runtime: Runtime, *, caller: str, task_id: str) -> Task:
    """The caller's task as it is now; past its announced end, the end is written first and then answered."""
    check_id(task_id)
    now = runtime.clock()
    task = owned(tasks.read(runtime.table, task_id), caller, now=now)
    if not task.is_expired(now):
        return task
    # Once in a task's life: the other polls' cold start does not pay for what writes.
    from turnkeeper.service.change import expire  # noqa: PLC0415

    return expire(runtime, task, actor="reader")


def poll_after(task: Task, now: datetime) -> int | None:
    """In how many seconds a poll may find something new; None when nothing will change any more."""
    match state_of(task):
        case State.TERMINAL:
            return None
        case State.IDLE if task.idle_expires_at is not None:
            left = (task.idle_expires_at - now).total_seconds()
            return min(IDLE_S, max(int(left), 0) + 1)
        case State.SUSPENDED | State.WAITING:
            return SUSPENDED_S
        case _:
            return BUSY_S
