"""Faults below the SDK's retries: each attempt of a call is sent or not, answered or not, or is the process's last.

A client's `_endpoint._do_get_response` is called once per attempt, so what happens here is what a bad network, a
throttled table or a killed process does, and everything above it runs as it is shipped.
"""

import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from botocore.awsrequest import AWSResponse, HeadersDict
from botocore.exceptions import ConnectionClosedError, ConnectTimeoutError, ReadTimeoutError

ENDPOINT = "https://dynamodb.test"
READ_TIMEOUT_S = 3.0
CONNECT_TIMEOUT_S = 1.0

WRITE, UPDATE, READ, READ_MANY, QUERY, SEND, HIDE = (
    "TransactWriteItems",
    "UpdateItem",
    "GetItem",
    "BatchGetItem",
    "Query",
    "SendMessage",
    "ChangeMessageVisibility",
)
READS = (READ, READ_MANY, QUERY)
ANY = "any"
"""Every operation, counted together."""

type Outcome = tuple[Any, Exception | None]
"""What botocore's endpoint makes of an attempt: (http response, parsed) or None, and an exception or None."""


class Killed(BaseException):
    """The process is gone: nothing in the product catches this, and no call of it gets out any more."""


class Sent(StrEnum):
    """What becomes of the request itself."""

    NEVER = "never"
    NOW = "now"
    LATER = "later"
    """It is on its way, and arrives when the test says so."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What one attempt meets: whether its request arrives, what its caller sees, and how long that takes."""

    name: str
    sent: Sent
    answer: Callable[[], Outcome]
    takes_s: float = 0.0

    def __str__(self) -> str:
        return self.name


class _Body(io.BytesIO):
    """The bytes of an answer as botocore reads them."""

    def stream(self) -> Iterator[bytes]:
        yield self.read()


def refusal(status: int, code: str, **fields: Any) -> Callable[[], Outcome]:
    """An answer that says no, as botocore parses it."""

    def answer() -> Outcome:
        body = json.dumps({"__type": code, "message": code, **fields}).encode()
        headers: Any = HeadersDict()
        response = AWSResponse(ENDPOINT, status, headers, _Body(body))
        metadata = {"HTTPStatusCode": status, "HTTPHeaders": {}, "RequestId": "injected"}
        parsed = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": metadata, **fields}
        return (response, parsed), None

    return answer


def cancelled(name: str, *reasons: dict[str, Any] | str | None) -> Fault:
    """A transaction that was cancelled for *reasons*, one per item; a string is a reason's code."""
    told = [{"Code": reason or "None"} if not isinstance(reason, dict) else reason for reason in reasons]
    return Fault(name, Sent.NEVER, refusal(400, "TransactionCanceledException", CancellationReasons=told))


def _closed() -> Outcome:
    return None, ConnectionClosedError(endpoint_url=ENDPOINT)


def _read_timed_out() -> Outcome:
    return None, ReadTimeoutError(endpoint_url=ENDPOINT)


def _connect_timed_out() -> Outcome:
    return None, ConnectTimeoutError(endpoint_url=ENDPOINT)


_server_error = refusal(500, "InternalServerError")

HEALTHY = Fault("nothing", Sent.NOW, lambda: (None, None))
"""No fault at all: the true answer comes back; for what is to happen after a call that goes well."""

LOST = Fault("answer lost after commit", Sent.NOW, _closed)
TIMED_OUT_AFTER = Fault("read time-out after commit", Sent.NOW, _read_timed_out, READ_TIMEOUT_S)
ERROR_AFTER = Fault("500 after commit", Sent.NOW, _server_error)
ERROR_BEFORE = Fault("500 before", Sent.NEVER, _server_error)
THROTTLED = Fault("throttled", Sent.NEVER, refusal(400, "ProvisionedThroughputExceededException"))
NOT_SENT = Fault("connect time-out before sending", Sent.NEVER, _connect_timed_out, CONNECT_TIMEOUT_S)
TIMED_OUT_BEFORE = Fault("read time-out, never arrived", Sent.NEVER, _read_timed_out, READ_TIMEOUT_S)
LATE = Fault("read time-out, arrives later", Sent.LATER, _read_timed_out, READ_TIMEOUT_S)
IN_PROGRESS = Fault("in progress", Sent.NEVER, refusal(400, "TransactionInProgressException"))
CONFLICT = cancelled("conflict in a cancelled transaction", None, "TransactionConflict")
THROTTLED_INSIDE = cancelled("throttled in a cancelled transaction", "ThrottlingError", None)


@dataclass(slots=True)
class Rule:
    """One fault for the *first* to the *last* (None: all from then on) of the attempts it is about."""

    fault: Fault
    operation: str
    about: str
    first: int
    last: int | None
    before: Callable[[], object] | None
    then: Callable[[], object] | None
    seen: int = 0

    def meets(self, operation: str, body: bytes) -> bool:
        """Count the attempt if it is one of those, and tell whether the fault is for it."""
        if self.operation not in {ANY, operation} or self.about.encode() not in body:
            return False
        self.seen += 1
        return self.first <= self.seen <= (self.last or self.seen)


@dataclass(slots=True)
class Stopwatch:
    """A clock for `Patience` and the SDK's pauses that only faults and sleeps move."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Pass *seconds* at once."""
        self.slept.append(seconds)
        self.now += seconds


class Faults:
    """The attempts of *clients*, in order, and what is to go wrong with which of them."""

    def __init__(self, *clients: Any, passes: Callable[[float], object] = lambda _seconds: None) -> None:
        self.attempts: list[str] = []
        self._rules: list[Rule] = []
        self._late: list[Callable[[], Outcome]] = []
        self._last: tuple[str, int, bool] | None = None
        self._dead = False
        self._passes = passes
        self._lock = threading.RLock()
        self._wrapped = [(client._endpoint, self._wrap(client._endpoint)) for client in clients]  # noqa: SLF001

    def inject(
        self,
        fault: Fault,
        on: str,
        *,
        nth: int = 1,
        times: int | None = 1,
        about: str = "",
        before: Callable[[], object] | None = None,
        then: Callable[[], object] | None = None,
    ) -> None:
        """Let the *nth* attempt of operation *on*, counted from now, and *times* in all (None: for good) meet *fault*.

        Of them all, only those that name what they are *about*. *then* runs once, after the first of them and before
        anybody tries again: a third writer, say. *before* runs before each of them, and makes somebody else faster.
        """
        last = None if times is None else nth + times - 1
        self._rules.append(Rule(fault, on, about, nth, last, before, then))

    def die_at(self, on: str, nth: int, *, sent: bool) -> None:
        """End the process at the *nth* attempt of *on*, counted from now: before it is sent, or after it committed."""
        self._last = (on, self._made(on) + nth, sent)

    def arrive(self) -> None:
        """Let the requests that are still on their way arrive now; nobody hears their answers."""
        late, self._late = self._late, []
        for send in late:
            send()

    def clear(self) -> None:
        """Nothing goes wrong any more; the count of attempts begins again."""
        self.attempts.clear()
        self._rules.clear()
        self._last, self._dead = None, False

    def remove(self) -> None:
        """Take the injector out of the clients."""
        for endpoint, original in self._wrapped:
            endpoint._do_get_response = original  # noqa: SLF001 - the one place that is called per attempt

    def _wrap(self, endpoint: Any) -> Callable[..., Outcome]:
        original: Callable[..., Outcome] = endpoint._do_get_response  # noqa: SLF001

        def attempt(request: Any, operation_model: Any, context: Any) -> Outcome:
            def send() -> Outcome:
                return original(request, operation_model, context)

            return self._attempt(operation_model.name, request.body or b"", send)

        endpoint._do_get_response = attempt  # noqa: SLF001
        return original

    def _attempt(self, operation: str, body: bytes, send: Callable[[], Outcome]) -> Outcome:
        with self._lock:
            if self._dead:
                raise Killed
            self.attempts.append(operation)
            is_last = self._last is not None and self._is_the_last(operation, *self._last[:2])
            meant = [rule for rule in self._rules if rule.meets(operation, body)]  # each counts for itself
            self._dead = is_last
        if is_last:
            self._die(send)
        return self._meet(meant[0], send) if meant else send()

    def _made(self, on: str) -> int:
        return len(self.attempts) if on == ANY else self.attempts.count(on)

    def _is_the_last(self, operation: str, on: str, nth: int) -> bool:
        return on in {ANY, operation} and self._made(on) == nth

    def _die(self, send: Callable[[], Outcome]) -> None:
        if self._last is not None and self._last[2]:
            send()
        raise Killed

    def _meet(self, rule: Rule, send: Callable[[], Outcome]) -> Outcome:
        if rule.before is not None:
            rule.before()
        told = send() if rule.fault.sent is Sent.NOW else None
        if rule.fault.sent is Sent.LATER:
            self._late.append(send)
        self._passes(rule.fault.takes_s)
        then, rule.then = rule.then, None
        if then is not None:
            then()
        return told if told is not None and rule.fault is HEALTHY else rule.fault.answer()


@contextmanager
def faults_of(*clients: Any, passes: Callable[[float], object] = lambda _seconds: None) -> Iterator[Faults]:
    """Faults for *clients*, for as long as the block lasts."""
    faults = Faults(*clients, passes=passes)
    try:
        yield faults
    finally:
        faults.remove()
