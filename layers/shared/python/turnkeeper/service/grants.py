"""A host records that a person authorised a provider; whatever of that person's waits for it with that host goes on."""

import logging
from datetime import datetime, timedelta

from turnkeeper.domain.errors import InvalidInput, Place, TaskError
from turnkeeper.domain.task import Task
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.waiting import settle
from turnkeeper.store import people
from turnkeeper.store.table import BATCH

ACTOR = "host"
SKEW = timedelta(minutes=5)
"""How far a host's clock may be ahead of ours."""

log = logging.getLogger(__name__)


def grant(
    runtime: Runtime, *, principal: str, user: str, provider: str, granted_at: datetime | None
) -> tuple[datetime, int]:
    """Since when *user* has authorised *provider* for the host, and how many tasks that reached; repeating it is safe.

    A task that cannot be woken now is woken by the sweep; the authorisation is kept before any is.
    """
    now = runtime.clock()
    if granted_at is not None and granted_at > now + SKEW:
        raise InvalidInput(
            [Place("granted_at", "lies in the future; an authorisation is recorded once given")]
        )
    kept = people.keep_grant(
        runtime.table, owner=principal, person=user, provider=provider, at=granted_at or now
    )
    reached, after = 0, None
    while True:
        called, after = people.calls(runtime.table, user, after=after, limit=BATCH)
        for task in called:
            if task.terms.owner == principal and any(wait.provider == provider for wait in task.waits):
                reached += _is_reached(runtime, task)
        if after is None:
            return kept, reached


def _is_reached(runtime: Runtime, task: Task) -> bool:
    try:
        return settle(runtime, task, actor=ACTOR) is not task
    except TaskError as error:
        log.warning("an authorisation reaches a task later (%s)", type(error).__name__)
        return False
