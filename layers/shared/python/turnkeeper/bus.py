"""The event bus, on which others hear of tasks, and the queue of records that nobody could tell there.

What is told is the status object and nothing else (PO-2): whoever wants more asks the API, as somebody who may have it.
"""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from turnkeeper.faults import FAILED_CALLS

SOURCE = "turnkeeper"
DETAIL_TYPE = "Task Status Changed"
MOST_ENTRIES = 10
"""EventBridge takes no more in one call; their 256 KB are never reached, since a status object has 4 at most."""

log = logging.getLogger(__name__)


class Events(Protocol):
    """The call of botocore's client that is used here, and no other."""

    def put_events(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...


class SQS(Protocol):
    """The call of botocore's client that is used here, and no other."""

    def send_message(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bus:
    """The bus, and the queue beside it, behind plain botocore clients."""

    events: Events
    sqs: SQS
    name: str
    untold_url: str

    def tell(self, details: Sequence[str]) -> list[bool]:
        """Which of *details*, at most `MOST_ENTRIES` JSON texts, the bus took; the others may be sent again."""
        entries = [
            {"EventBusName": self.name, "Source": SOURCE, "DetailType": DETAIL_TYPE, "Detail": detail}
            for detail in details
        ]
        try:
            answers = self.events.put_events(Entries=entries)["Entries"]
        except FAILED_CALLS as error:
            log.warning("the event bus took nothing (%s)", type(error).__name__)
            return [False] * len(details)
        if refused := sorted({answer["ErrorCode"] for answer in answers if "ErrorCode" in answer}):
            log.warning("the event bus did not take some events (%s)", ", ".join(refused))
        return ["ErrorCode" not in answer for answer in answers]

    def set_aside(self, names: Mapping[str, str]) -> bool:
        """Whether the queue took a record that nobody can read: the *names* that find it, and nothing that it says."""
        try:
            self.sqs.send_message(QueueUrl=self.untold_url, MessageBody=json.dumps(dict(names)))
        except FAILED_CALLS as error:
            log.warning("a record could not be set aside (%s)", type(error).__name__)
            return False
        return True
