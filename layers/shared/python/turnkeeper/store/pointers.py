"""Pointers from people to the tasks that need them: one for each task that calls for its user, one for each review.

They follow from a task's waits alone and are written in its own transactions; the list in the task is the truth.
"""

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.reviews import fence_of, name_of
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import WaitKind, notifications
from turnkeeper.store.items import person_key
from turnkeeper.store.parts import Attributes

CALL, REVIEW = "CALL#", "REVIEW#"


def pointers(task: Task | None) -> dict[tuple[str, str], Attributes]:
    """Every pointer that *task* calls for, by its key."""
    if task is None or not (waits := task.asks):
        return {}
    items = [
        {**person_key(wait.reviewer, f"{REVIEW}{to_text(wait.since)}#{task.id}{name}"), "task_id": task.id}
        for wait in waits
        if wait.kind is WaitKind.REVIEW and wait.reviewer and (name := name_of(fence_of(task, wait), wait.id))
    ]
    if calls := notifications(waits, task.responsible_user):
        sk = f"{CALL}{to_text(calls[0].since)}#{task.id}"
        items.append({**person_key(task.responsible_user, sk), "task_id": task.id})
    return {(item["pk"], item["sk"]): item for item in items}
