"""SQS's rules, by its page of quotas; a queue whose name ends in .fifo is FIFO."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.limits.refusal import refuse_unless

LARGEST_MESSAGE = 1024 * 1024
"""Bytes of the body and its attributes, of one message as of a whole batch; it was 256 KiB until 2025."""
MOST_IN_BATCH = 10
MOST_ATTRIBUTES = 10
LONGEST_DELAY_S = 900
LONGEST_VISIBILITY_S = 43_200
LONGEST_WAIT_S = 20

_GROUP = re.compile(r"[\x21-\x7e]{1,128}")
_ENTRY = re.compile(r"[A-Za-z0-9_-]{1,80}")
_NO_CHARACTER = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

type Request = Mapping[str, Any]


def check(operation: str, request: Request) -> None:
    """Raise `AwsWouldRefuse` for what SQS does not take."""
    is_fifo = request.get("QueueUrl", "").endswith(".fifo")
    match operation:
        case "SendMessage":
            _check_message(request, is_fifo=is_fifo)
            _check_size([request])
        case "SendMessageBatch":
            entries = _entries(request)
            for entry in entries:
                _check_message(entry, is_fifo=is_fifo)
            _check_size(entries)
        case "ChangeMessageVisibility":
            _check_range(request, "VisibilityTimeout", 0, LONGEST_VISIBILITY_S)
        case "ChangeMessageVisibilityBatch":
            for entry in _entries(request):
                _check_range(entry, "VisibilityTimeout", 0, LONGEST_VISIBILITY_S)
        case "DeleteMessageBatch":
            _entries(request)
        case "ReceiveMessage":
            _check_range(request, "MaxNumberOfMessages", 1, MOST_IN_BATCH)
            _check_range(request, "VisibilityTimeout", 0, LONGEST_VISIBILITY_S)
            _check_range(request, "WaitTimeSeconds", 0, LONGEST_WAIT_S)
        case _:
            pass


def _entries(request: Request) -> Sequence[Request]:
    entries: Sequence[Request] = request["Entries"]
    refuse_unless(0 < len(entries) <= MOST_IN_BATCH, f"a batch has 1 to {MOST_IN_BATCH} entries")
    ids = [entry["Id"] for entry in entries]
    refuse_unless(len(set(ids)) == len(ids), "each entry of a batch has an id of its own")
    refuse_unless(all(map(_ENTRY.fullmatch, ids)), "an entry's id is 1 to 80 of A-Z, a-z, 0-9, - and _")
    return entries


def _check_message(message: Request, *, is_fifo: bool) -> None:
    body = message["MessageBody"]
    refuse_unless(body, "a message is not empty")
    refuse_unless(not _NO_CHARACTER.search(body), "a message has characters that XML has, and no others")
    refuse_unless(
        len(message.get("MessageAttributes", {})) <= MOST_ATTRIBUTES, "a message has at most 10 attributes"
    )
    refuse_unless(
        message.get("MessageSystemAttributes", {}).keys() <= {"AWSTraceHeader"},
        "only AWSTraceHeader is sent as a system attribute",
    )
    for name in ("MessageGroupId", "MessageDeduplicationId"):
        if name in message or is_fifo:
            refuse_unless(
                _GROUP.fullmatch(message.get(name, "")), f"{name} is 1 to 128 visible ASCII characters"
            )
    if is_fifo:
        refuse_unless("DelaySeconds" not in message, "a message of a FIFO queue has no delay of its own")
    _check_range(message, "DelaySeconds", 0, LONGEST_DELAY_S)


def _check_size(messages: Sequence[Request]) -> None:
    size = sum(map(_size, messages))
    refuse_unless(
        size <= LARGEST_MESSAGE, f"a message or batch is at most {LARGEST_MESSAGE} bytes, not {size}"
    )


def _size(message: Request) -> int:
    return len(message["MessageBody"].encode()) + sum(
        len(name.encode())
        + len(attribute["DataType"].encode())
        + len(attribute.get("StringValue", "").encode())
        + len(attribute.get("BinaryValue", b""))
        for name, attribute in message.get("MessageAttributes", {}).items()
    )


def _check_range(request: Request, name: str, least: int, most: int) -> None:
    if name in request:
        refuse_unless(least <= request[name] <= most, f"{name} is {least} to {most}, not {request[name]}")
