"""Wake-ups: each says "look at task X" and nothing else. The due index is the net under a lost one.

FIFO, one group per task, so input that arrives during a turn waits behind it. Each recovery wake-up has a group of its
own, since a dead worker's message still blocks the one it came in: the task's, or that of an earlier recovery.
"""

import hashlib
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import ceil
from typing import Any, Protocol

from turnkeeper.domain.task import Runs, Task
from turnkeeper.domain.transitions import Wake
from turnkeeper.faults import FAILED_CALLS
from turnkeeper.tracing import trace_id

LONGEST_VISIBILITY = 42_000
"""Seconds; SQS takes 12 hours from the receipt, of which a worker may have spent its quarter of an hour."""

log = logging.getLogger(__name__)


class SQS(Protocol):
    """The calls of botocore's client that are used here, and no others."""

    def send_message(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...

    def change_message_visibility(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...


@dataclass(frozen=True, slots=True)
class WakeUps:
    """The queue of wake-ups behind a plain botocore client."""

    client: SQS
    url: str
    host_urls: Mapping[str, str] = field(default_factory=dict)
    """The queue of each external host, by its principal."""
    trace: Callable[[], str | None] = lambda: None
    """X-Ray's header of what goes on now, for whoever is woken to go on in the same trace."""

    def send(self, task: Task, wake: Wake) -> bool:
        """Wake a worker for *task* as it was just written; False, and a log line, when the queue did not take it.

        The deduplication id is the write's own, so a wake-up is never taken for an older one (a swallowed wake-up is a
        stuck task).
        """
        group = task.id if wake is Wake.TASK else f"recovery-{task.id}-{task.write_revision}"
        url = self.host_urls.get(task.terms.owner) if task.terms.runs is Runs.EXTERNAL else self.url
        if url is None:
            log.warning("no queue is declared for the host of agent %s any more", task.agent)
            return False
        return self._send(url, {"task": task.id, "agent": task.agent}, group, task.write_revision)

    def tell_parent(self, child: Task) -> bool:
        """Have somebody look at the task that created *child*, if one did: its turn may wait for what was just written.

        That is for a worker of ours to find out, whoever runs the parent's turns. It waits behind the parent's own
        wake-ups, and so until a turn that is about to wait does.
        """
        if child.parent is None:
            return False
        return self._send(self.url, {"task": child.parent}, child.parent, child.write_revision)

    def _send(self, url: str, body: Mapping[str, str], group: str, write_revision: str) -> bool:
        try:
            self.client.send_message(
                QueueUrl=url,
                MessageBody=json.dumps(body),
                MessageGroupId=group,
                MessageDeduplicationId=_deduplication_id(group, write_revision),
                **_traced(self.trace()),
            )
        except FAILED_CALLS as error:
            log.warning("wake-up not sent; the sweep will look at the task (%s)", type(error).__name__)
            return False
        return True

    def hide(self, receipt: str, lasts: timedelta) -> None:
        """Keep a received message, and its group, from other workers for *lasts* from now.

        A failure is only logged: the message then comes back sooner or later than asked, and finds nothing to do or
        is overtaken by the sweep.
        """
        seconds = min(max(ceil(lasts.total_seconds()), 0), LONGEST_VISIBILITY)
        try:
            self.client.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=receipt, VisibilityTimeout=seconds
            )
        except FAILED_CALLS as error:
            log.warning("a wake-up's visibility was not set (%s)", type(error).__name__)


def task_of(body: str) -> str:
    """The id in a wake-up's body; raises ValueError for anything that is none."""
    try:
        said = json.loads(body)
    except RecursionError:
        raise ValueError("a wake-up is not nested so deeply") from None
    match said:
        case {"task": str(task_id)}:
            return task_id
        case _:
            raise ValueError("a wake-up names its task")


def _traced(header: str | None) -> dict[str, Any]:
    if trace_id(header) is None:
        return {}
    return {"MessageSystemAttributes": {"AWSTraceHeader": {"DataType": "String", "StringValue": header}}}


def _deduplication_id(group: str, write_revision: str) -> str:
    return hashlib.sha256(f"{group}:{write_revision}".encode()).hexdigest()
