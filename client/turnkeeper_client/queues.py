"""A host's queue of wake-ups, over a client of SQS (boto3's or botocore's, from the extra `hosts`)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from turnkeeper_client.errors import TurnkeeperError

LONGEST_HIDDEN_S = 43_200


class QueueFailed(TurnkeeperError):
    """The queue did not answer, or refused; nothing is lost, the wake-up comes again."""


@dataclass(frozen=True, slots=True)
class WakeUp:
    """Somebody says that a task wants looking at; no *task* where what came is none of Turnkeeper's."""

    task: str | None
    receipt: str


@dataclass(frozen=True, slots=True)
class Queue:
    """The queue at *url*."""

    sqs: Any
    url: str

    def receive(self, *, wait_s: int, hide_s: int) -> WakeUp | None:
        """The next wake-up within *wait_s*, hidden from everybody else for *hide_s*."""
        with _failing():
            received = self.sqs.receive_message(
                QueueUrl=self.url,
                MaxNumberOfMessages=1,
                WaitTimeSeconds=wait_s,
                VisibilityTimeout=hide_s,
            )
        for message in received.get("Messages", ()):
            return WakeUp(_task_of(message["Body"]), message["ReceiptHandle"])
        return None

    def hide(self, wake_up: WakeUp, seconds: float) -> None:
        """Have nobody see *wake_up* for so long, from now on."""
        hidden = max(0, min(LONGEST_HIDDEN_S, int(seconds)))
        with _failing():
            self.sqs.change_message_visibility(
                QueueUrl=self.url, ReceiptHandle=wake_up.receipt, VisibilityTimeout=hidden
            )

    def forget(self, wake_up: WakeUp) -> None:
        """Have *wake_up* be done with."""
        with _failing():
            self.sqs.delete_message(QueueUrl=self.url, ReceiptHandle=wake_up.receipt)


@contextmanager
def _failing() -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - people have no botocore

    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise QueueFailed(f"The queue failed: {error}") from error


def _task_of(body: str) -> str | None:
    try:
        task = json.loads(body)["task"]
    except (ValueError, TypeError, KeyError):
        return None
    return task if isinstance(task, str) else None
