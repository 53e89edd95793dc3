"""What the client does, as data: a plan asks, pauses and shows, and whoever runs it has the connection and the clock.

So each call, each repeat and each way of following is written once, for blocking and for asynchronous callers.
"""

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """Something to ask of the API; *is_repeatable*: asked twice, it does no more than asked once."""

    method: str
    path: str
    """From where the routes begin (`v1/tasks`); of a file store, its whole address."""
    is_repeatable: bool
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes = field(default=b"", repr=False)
    is_signed: bool = True
    """It goes with the caller's token or signature; what goes to a file store does not."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def is_success(self) -> bool:
        """It was done, or nothing has changed (304)."""
        return 200 <= self.status < 300 or self.status == 304  # noqa: PLR2004 - as HTTP has it

    def json(self) -> Any:
        """The body, which must be JSON; `ValueError` otherwise."""
        try:
            return json.loads(self.content)
        except RecursionError:
            raise ValueError("nested deeper than anything that is read") from None


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing came back; *was_sent*: the request may have arrived all the same."""

    reason: str
    was_sent: bool


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing is done for so long."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Show[T]:
    """*item* goes to whoever follows."""

    item: T


type Plan[T] = Generator[Request | Pause, Any, T]
"""Steps that come to a T. A `Request` is answered by an `Answer` that is a success; refusals are raised in the plan."""

type Stream[T] = Generator[Request | Pause | Show[T], Any]
"""Steps that show a T now and then."""

type Raw[T, S] = Generator[Request | Pause | S, Any, T]
"""As a connection runs it: each `Request` is one try, answered by an `Answer` of any kind or by `Silence`."""


def ask(request: Request) -> Plan[Answer]:
    """The answer to *request*, as a step of a plan."""
    answer: Answer = yield request
    return answer


def path(*names: str, query: Mapping[str, str | int | None] | None = None) -> str:
    """The path of *names* below `v1`; what is None in the *query* is left out.

    A space is `%20`, never `+`: a signature is over the one and not over the other.
    """
    given = {name: str(value) for name, value in (query or {}).items() if value is not None}
    way = "/".join(quote(name, safe="") for name in ("v1", *names))
    return f"{way}?{urlencode(given, quote_via=quote, safe='')}" if given else way


def get(
    *names: str,
    query: Mapping[str, str | int | None] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Request:
    """A request that reads."""
    return Request(method="GET", path=path(*names, query=query), headers=headers or {}, is_repeatable=True)


def send(
    method: str, *names: str, body: Mapping[str, Any], key: str | None = None, repeatable: bool = False
) -> Request:
    """A request that says *body*; a *key* makes it repeatable, if it is not so by itself."""
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    return Request(
        method=method,
        path=path(*names),
        headers=headers,
        content=json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(),
        is_repeatable=repeatable or key is not None,
    )
