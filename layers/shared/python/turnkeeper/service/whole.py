"""A task whole, for the use cases of people that need more of it than a poll shows."""

from turnkeeper.domain.task import Task
from turnkeeper.service.change import expire
from turnkeeper.service.owned import check_id, owned
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks


def whole(runtime: Runtime, *, caller: str, task_id: str) -> Task:
    """The caller's task as it is now; past its announced end, the end is written first and then answered."""
    check_id(task_id)
    now = runtime.clock()
    task = owned(tasks.read(runtime.table, task_id), caller, now=now)
    return expire(runtime, task, actor="reader") if task.is_expired(now) else task
