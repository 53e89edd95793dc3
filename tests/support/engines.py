"""Two engines for the store's and the queue's tests: moto in this process, and ministack in one of its own.

moto is not safe with threads, so every call to it goes through one lock.
"""

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import botocore.session
from botocore.config import Config

from tests.support import limits
from tests.support.schema import INDEXES, KEY

REGION = "eu-central-1"
KEYS = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
# Only keys that the emulator knows sign a URL that it takes.
KNOWN_KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}

_session_lock = threading.Lock()
moto_lock = threading.RLock()
"""Who holds it has moto for itself."""


@cache
def _session() -> botocore.session.Session:
    """The one session of the tests' clients; no call of theirs is sent that AWS would refuse."""
    session = botocore.session.get_session()
    limits.watch(session)
    return session


def on_each_call(hear: Callable[..., None]) -> None:
    """Have *hear* be called before each call of a client that is made from now on."""
    with _session_lock:
        _session().register("before-call", hear)


@dataclass(frozen=True, slots=True)
class Engine:
    """Something that speaks DynamoDB and SQS."""

    name: str
    endpoint_url: str | None

    def client(self, service: str, *, attempts: int = 3) -> Any:
        """A botocore client that tries each call *attempts* times, of one session: each reads 90 ms of JSON."""
        with _session_lock:
            client = _session().create_client(
                service,
                region_name=REGION,
                endpoint_url=self.endpoint_url,
                config=Config(
                    retries={"mode": "standard", "total_max_attempts": attempts},
                    read_timeout=10,
                    signature_version="s3v4" if service == "s3" else None,
                ),
                **(KNOWN_KEYS if service == "s3" else KEYS),  # type: ignore[arg-type]
            )
        return Locked(client) if self.endpoint_url is None else client


@contextmanager
def on_moto() -> Iterator[Engine]:
    """An engine in this process, with nothing in it."""
    from moto import mock_aws  # noqa: PLC0415 - half a second, and who only deploys needs none

    with mock_aws():
        yield Engine("moto", None)


class Locked:
    """A client whose calls never overlap with another's in this process."""

    _lock = moto_lock

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        if not callable(attribute) or name.startswith("_"):
            return attribute

        def call(**request: Any) -> Any:
            with Locked._lock:
                return attribute(**request)

        return call


def make_table(client: Any) -> str:
    """A table as the stack has it; the name is its own."""
    name = f"tasks-{uuid.uuid4().hex[:12]}"
    client.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        KeySchema=_schema(*KEY),
        AttributeDefinitions=[
            {"AttributeName": attribute, "AttributeType": "S"}
            for attribute in (*KEY, *chain.from_iterable(INDEXES.values()))
        ],
        GlobalSecondaryIndexes=[_index(name, *keys) for name, keys in INDEXES.items()],
    )
    return name


def make_queue(client: Any, *, dead_letters: str | None = None, receives: int = 10) -> str:
    """A FIFO queue as the stack has it; its URL. What was received so often goes to *dead_letters*, where there are."""
    attributes = {"FifoQueue": "true", "ContentBasedDeduplication": "false", "VisibilityTimeout": "900"}
    if dead_letters is not None:
        found = client.get_queue_attributes(QueueUrl=dead_letters, AttributeNames=["QueueArn"])["Attributes"]
        policy = {"deadLetterTargetArn": found["QueueArn"], "maxReceiveCount": receives}
        attributes["RedrivePolicy"] = json.dumps(policy)
    answer = client.create_queue(QueueName=f"wake-{uuid.uuid4().hex[:12]}.fifo", Attributes=attributes)
    url: str = answer["QueueUrl"]
    return url


def make_bucket(client: Any, name: str) -> None:
    """A bucket as the stack has it."""
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": REGION})
    client.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})


def _index(name: str, partition: str, sort: str) -> dict[str, Any]:
    return {
        "IndexName": name,
        "KeySchema": _schema(partition, sort),
        "Projection": {"ProjectionType": "KEYS_ONLY"},
    }


def _schema(partition: str, sort: str) -> list[dict[str, str]]:
    return [
        {"AttributeName": partition, "KeyType": "HASH"},
        {"AttributeName": sort, "KeyType": "RANGE"},
    ]
