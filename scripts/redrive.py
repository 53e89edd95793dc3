"""Brings dead letters back: `python -m scripts.redrive --queue URL`, once what made them so is mended.

A letter is a wake-up that no worker could attend to. Each is sent to the queue it came from, in the line it stood in,
and only then taken from the dead letters; so none is lost, and one that comes back twice finds nothing to do. It gets a
deduplication id of its own, by which the queue takes it for no older wake-up but knows it when it is brought twice.
What names no task would only come back, and stays where it is.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from turnkeeper.faults import FAILED_CALLS
from turnkeeper.queue import task_of
from turnkeeper.settings import CALLS, session

MOST = 10
"""Letters per call; SQS gives no more."""
HIDDEN_S = 120
"""For how long nobody else sees what we are about to bring back."""
WAITS_S = 2
"""How long to wait for a letter before there is none: a short look asks only some of SQS's servers."""
BROUGHT, LEFT, NOT_ASKED = 0, 1, 2


class NoLetters(Exception):
    """There is no such queue, or none for its dead letters."""


class Fate(StrEnum):
    """What became of a letter."""

    BROUGHT = "brought back"
    STAYS = "brought back, but it could not be taken from the dead letters; bringing it again does no harm"
    UNREADABLE = "left where it is: it names no task"
    REFUSED = "left where it is: the queue did not say that it took it"


@dataclass(frozen=True, slots=True)
class Letter:
    """A dead letter as it was received."""

    id: str
    body: str
    receipt: str
    group: str
    trace: str | None

    @property
    def task(self) -> str | None:
        """The task that it names."""
        try:
            return task_of(self.body)
        except ValueError:
            return None

    @property
    def deduplication_id(self) -> str:
        """Its own: no wake-up has it, and the same letter always has the same."""
        return hashlib.sha256(f"redrive:{self.id}".encode()).hexdigest()


@dataclass(slots=True)
class Redrive:
    """The letters beside *queue*, and the way back, behind a plain botocore client of SQS."""

    client: Any
    queue: str
    hidden_s: int = HIDDEN_S
    waits_s: int = WAITS_S
    error: Exception | None = None
    """Why the queue took no more."""
    dead_letters: str = field(init=False)

    def __post_init__(self) -> None:
        self.dead_letters = self._dead_letters()

    def run(self) -> Iterator[tuple[Letter, Fate]]:
        """Bring back whatever can be, and say so letter by letter; stops where the queue takes nothing any more."""
        stay: dict[str, Letter] = {}
        try:
            # One that is seen again was hidden too short a while: everything else came before it.
            while (letters := self._receive()) and not stay.keys() & {letter.id for letter in letters}:
                stay |= {letter.id: letter for letter in letters}
                for letter in letters:
                    fate = self._bring(letter)
                    if fate in {Fate.BROUGHT, Fate.STAYS}:
                        del stay[letter.id]
                    yield letter, fate
                    if fate is Fate.REFUSED:
                        return
        finally:
            for letter in stay.values():
                self._show(letter)

    def remaining(self) -> int:
        """How many letters lie there, about."""
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.client.get_queue_attributes(QueueUrl=self.dead_letters, AttributeNames=names)
        return sum(int(count) for count in found["Attributes"].values())

    def _dead_letters(self) -> str:
        """The address of the queue for dead letters, as the queue itself names it."""
        try:
            found = self.client.get_queue_attributes(QueueUrl=self.queue, AttributeNames=["RedrivePolicy"])
            policy = json.loads(found.get("Attributes", {}).get("RedrivePolicy", "{}"))
            name = str(policy.get("deadLetterTargetArn", "")).rpartition(":")[2]
            if not name:
                raise NoLetters(f"{self.queue} has no queue for dead letters. Is it one of those itself?")
            url: str = self.client.get_queue_url(QueueName=name)["QueueUrl"]
        except (BotoCoreError, ClientError) as error:
            raise NoLetters(f"{self.queue}: {error}") from error
        return url

    def _receive(self) -> list[Letter]:
        received = self.client.receive_message(
            QueueUrl=self.dead_letters,
            MaxNumberOfMessages=MOST,
            VisibilityTimeout=self.hidden_s,
            WaitTimeSeconds=self.waits_s,
            MessageSystemAttributeNames=["MessageGroupId", "AWSTraceHeader"],
        )
        return [_letter(message) for message in received.get("Messages", ())]

    def _bring(self, letter: Letter) -> Fate:
        if letter.task is None:
            return Fate.UNREADABLE
        trace = {"AWSTraceHeader": {"DataType": "String", "StringValue": letter.trace}}
        try:
            self.client.send_message(
                QueueUrl=self.queue,
                MessageBody=letter.body,
                MessageGroupId=letter.group,
                MessageDeduplicationId=letter.deduplication_id,
                **({"MessageSystemAttributes": trace} if letter.trace else {}),
            )
        except FAILED_CALLS as error:
            self.error = error
            return Fate.REFUSED
        try:
            self.client.delete_message(QueueUrl=self.dead_letters, ReceiptHandle=letter.receipt)
        except FAILED_CALLS:
            return Fate.STAYS
        return Fate.BROUGHT

    def _show(self, letter: Letter) -> None:
        """Let the next one see what stays; by itself it would be hidden a while longer."""
        try:
            self.client.change_message_visibility(
                QueueUrl=self.dead_letters, ReceiptHandle=letter.receipt, VisibilityTimeout=0
            )
        except FAILED_CALLS:
            return


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status, after a line for each letter: 0 when none is left, 1 when some are, 2 without such a queue."""
    parser = argparse.ArgumentParser(prog="scripts.redrive", description=__doc__)
    parser.add_argument(
        "--queue", required=True, help="the stack's output QueueUrl, or a host's HostQueue…Url"
    )
    parser.add_argument("--endpoint-url", help="where SQS answers, if not at AWS")
    asked = parser.parse_args(arguments)
    try:
        client: Any = session().create_client("sqs", endpoint_url=asked.endpoint_url, config=CALLS)
        redrive = Redrive(client, asked.queue)
    except (NoLetters, BotoCoreError) as refusal:
        print(refusal, file=sys.stderr)
        return NOT_ASKED
    try:
        return _told(redrive)
    except FAILED_CALLS as error:
        print(f"The dead letters could not be read: {error}. None is lost; try again.", file=sys.stderr)
        return LEFT


def _told(redrive: Redrive) -> int:
    brought = 0
    for letter, fate in redrive.run():
        print(f"{letter.task or letter.id}: {fate}")
        brought += fate in {Fate.BROUGHT, Fate.STAYS}
    remaining = redrive.remaining()
    print(f"{brought} brought back, {remaining} left.")
    if redrive.error is not None:
        print(f"The queue took no more: {redrive.error}", file=sys.stderr)
    return LEFT if remaining else BROUGHT


def _letter(message: dict[str, Any]) -> Letter:
    attributes = message.get("Attributes", {})
    return Letter(
        id=message["MessageId"],
        body=message["Body"],
        receipt=message["ReceiptHandle"],
        group=attributes["MessageGroupId"],
        trace=attributes.get("AWSTraceHeader"),
    )


if __name__ == "__main__":
    sys.exit(main())
