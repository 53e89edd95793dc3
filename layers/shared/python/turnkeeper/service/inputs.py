"""Accepting an input: one read, one transaction, one wake-up."""

from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service import rules
from turnkeeper.service.accepted import Accepted, replayed
from turnkeeper.service.files import pinning
from turnkeeper.service.keyed import Request, change_once
from turnkeeper.service.owned import owned
from turnkeeper.service.runtime import Runtime


def accept(runtime: Runtime, *, caller: str, task_id: str, content: str, key: str | None) -> Accepted:
    """Queue *content* (one JSON object as text) for the caller's task (IN-1c); `InvalidInput` names wrong parameters.

    A *key* that came before with the same content answers what it made then, whatever became of the task since.
    """

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.ACCEPT)
        kept = rules.normalised(rules.of_task(runtime, current), content)
        return transitions.accept(current, content=kept, now=now, pace=runtime.pace)

    request = Request(
        caller=caller, actor="responsible_user", route="inputs", task_id=task_id, body=content, key=key
    )
    done = change_once(
        runtime,
        request,
        pinning(runtime, decide),
        allowed=lambda task: owned(task, caller, now=runtime.clock()),
    )
    if done.made is not None:
        return replayed(runtime, done.made, done.task)
    arrived = done.change.input if done.change else None
    return Accepted(done.task, arrived.received_at if arrived else None)
