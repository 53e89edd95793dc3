"""Which calls of AWS each function makes, in the words of a policy: noted while tests run, and asked when all have.

A function is at work while its handler runs, or while a laboratory does by hand what the handler would.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from botocore.client import BaseClient

type Permission = tuple[str, str]
"""An action, and the kind of what it is taken on, as tests/infra/test_grants.py calls it."""

calls: dict[str, set[Permission]] = {}
"""What each function did so far in this run."""

_at_work: ContextVar[str | None] = ContextVar("at_work", default=None)
THE_TEST = "the test"
"""Who is at work where a test looks in the middle of what a function does."""

HEARTBEAT = "heartbeat"
"""The thread in which a worker renews its lease; it is started by `turns` alone."""
WRITES = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}


@contextmanager
def at_work(function: str) -> Iterator[None]:
    """What the block calls, *function* calls."""
    token = _at_work.set(function)
    try:
        yield
    finally:
        _at_work.reset(token)


def as_function[**P, R](function: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Have all that the decorated one calls be *function*'s."""

    def decorate(does: Callable[P, R]) -> Callable[P, R]:
        @wraps(does)
        def does_as_function(*args: P.args, **kwargs: P.kwargs) -> R:
            with at_work(function):
                return does(*args, **kwargs)

        return does_as_function

    return decorate


def note(action: str, resource: str) -> None:
    """Note what whoever is at work does; nothing when nobody is."""
    in_heartbeat = threading.current_thread().name == HEARTBEAT
    if function := "turns" if in_heartbeat else _at_work.get():
        calls.setdefault(function, set()).add((action, resource))


def listen() -> None:
    """Hear of every call that a client of botocore makes or signs, from now on."""
    client: Any = BaseClient
    emit = client._emit_api_params  # noqa: SLF001 - the one place that calls and signatures both pass

    @wraps(emit)
    def emit_and_note(self: Any, api_params: dict[str, Any], operation_model: Any, **more: Any) -> Any:
        service: str = operation_model.service_model.service_name
        for action, resource in permissions(service, operation_model.name, api_params):
            note(action, resource)
        return emit(self, api_params=api_params, operation_model=operation_model, **more)

    client._emit_api_params = emit_and_note  # noqa: SLF001


def permissions(service: str, operation: str, request: Mapping[str, Any]) -> Iterator[Permission]:
    """What one call needs."""
    match service:
        case "dynamodb":
            yield from of_dynamodb(operation, request)
        case "s3":
            yield from of_s3(operation, request)
        case "sqs":
            yield f"sqs:{operation}", "queue"
        case "bedrock-runtime" if operation == "ConverseStream":
            yield "bedrock:InvokeModelWithResponseStream", "model"
        case _:
            yield f"{service}:{operation}", service


def of_dynamodb(operation: str, request: Mapping[str, Any]) -> Iterator[Permission]:
    """A transaction needs what its items need, and a Query of an index only that index."""
    match operation:
        case "TransactWriteItems":
            for item in request["TransactItems"]:
                for kind in item:
                    yield f"dynamodb:{WRITES[kind]}", "table"
        case "TransactGetItems":
            yield "dynamodb:GetItem", "table"
        case _:
            index = request.get("IndexName")
            yield f"dynamodb:{operation}", f"table/index/{index}" if index else "table"


def of_s3(operation: str, request: Mapping[str, Any]) -> Iterator[Permission]:
    """A version of a file needs an action of its own, and its list goes by another name."""
    match operation:
        case "GetObject" | "HeadObject":
            version = "Version" if "VersionId" in request else ""
            yield f"s3:GetObject{version}", f"files/{root_of(request)}/*"
        case "ListObjectVersions":
            root = str(request.get("Prefix", "")).partition("/")[0]
            yield "s3:ListBucketVersions", f"files if {{'StringLike': {{'s3:prefix': '{root}/*'}}}}"
        case "DeleteObjects":
            # S3 asks for both rights to delete one version.
            for one in request["Delete"]["Objects"]:
                yield "s3:DeleteObject", f"files/{root_of(one)}/*"
                if "VersionId" in one:
                    yield "s3:DeleteObjectVersion", f"files/{root_of(one)}/*"
        case _:
            yield f"s3:{operation}", f"files/{root_of(request)}/*"


def root_of(request: Mapping[str, Any]) -> str:
    """The root of files in which the object of *request* lies."""
    return str(request.get("Key", "")).partition("/")[0]
