"""Accepting an input: one read, one transaction, one wake-up."""

from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StoreIsBusy
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service.accepted import Accepted, replayed
from turnkeeper.service.change import apply
from turnkeeper.service.owned import check_id, owned
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks
from turnkeeper.store.commit import KeyTaken
from turnkeeper.store.keys import Claim, claim

ROUTE = "inputs"


def accept(runtime: Runtime, *, caller: str, task_id: str, content: str, key: str | None) -> Accepted:
    """Queue *content* (one JSON object as text) for the caller's task (IN-1c).

    A *key* that came before with the same content answers what it made then, whatever became of the task since.
    """
    check_id(task_id)
    if key is None:
        return _accept(runtime, owned(tasks.read(runtime.table, task_id), caller), content, None)
    for _ in range(2):
        claimed = claim(
            key,
            caller=caller,
            route=ROUTE,
            task_id=task_id,
            body=content,
            now=runtime.clock(),
            lasts=runtime.idempotency,
        )
        task, stored = tasks.read_beside(runtime.table, task_id, claimed.key)
        mine = owned(task, caller)
        if made := claimed.made(stored):
            return replayed(runtime, made, mine)
        try:
            return _accept(runtime, mine, content, claimed)
        except KeyTaken:
            continue
    raise StoreIsBusy


def _accept(runtime: Runtime, task: Task, content: str, claimed: Claim | None) -> Accepted:
    def decide(current: Task, now: datetime) -> Change:
        return transitions.accept(current, content=content, now=now, pace=runtime.pace)

    change = apply(runtime, task, decide, actor="responsible_user", claim=claimed)
    return Accepted(change.after, change.input.received_at if change.input else None)
