"""Retention: an ended task is deleted whole, its files first and the task itself last.

From the instant its retention is over it is an unknown task to everybody (`Task.is_gone`), so how far a deletion came
shows nowhere. Until the last step the task stays in the due index, and a deletion that was cut goes on with the rest.
"""

from collections.abc import Callable
from datetime import timedelta

from turnkeeper.mounts import Mounts
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import deletion, tasks

MARGIN = timedelta(minutes=1)
"""Longer than any request that began to read the task, and than clocks differ."""


class CutShort(Exception):
    """There was no time to delete the rest; the next sweep goes on with it."""


def delete(runtime: Runtime, task_id: str, *, may_go_on: Callable[[], bool]) -> bool:
    """Whether there was a task whose retention is over; it is deleted whole, or `CutShort` once *may_go_on* says no."""
    task = tasks.read(runtime.table, task_id)
    if task is None or not task.is_gone(runtime.clock() - MARGIN):
        return False
    mounts = _mounts(runtime)
    while not mounts.delete_page(task_id):
        _check(may_go_on)
    for _ in deletion.beside_in_batches(runtime.table, task_id):
        _check(may_go_on)
    return deletion.the_task_itself(runtime.table, task_id)


def _check(may_go_on: Callable[[], bool]) -> None:
    if not may_go_on():
        raise CutShort


def _mounts(runtime: Runtime) -> Mounts:
    if runtime.mounts is None:
        raise LookupError("this function was given no bucket")
    return runtime.mounts
