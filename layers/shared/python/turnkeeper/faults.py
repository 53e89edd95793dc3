"""What a failed call to AWS means: an answer that says no, or no answer at all.

botocore does not retry conflicts and throttling inside a cancelled transaction, so they are told apart here.
"""

from enum import StrEnum
from typing import Any

from botocore.exceptions import (
    ClientError,
    ConnectionError,  # noqa: A004 - botocore's family of failed connections, not Python's
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
)
from botocore.parsers import ResponseParserError

FAILED_CALLS = (ClientError, ConnectionError, HTTPClientError, ResponseParserError)
_NEVER_LEFT = (ConnectTimeoutError, EndpointConnectionError)

CONDITION_FAILED = "ConditionalCheckFailed"
_IN_PROGRESS = "TransactionInProgressException"
"""The answer to a transaction that was sent again while its first sending is still being worked on."""

_CONFLICTS = frozenset({"TransactionConflict", "TransactionConflictException"})
_THROTTLES = frozenset(
    {
        "ThrottlingError",
        "ThrottlingException",
        "Throttling",
        "TooManyRequestsException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
    }
)
SERVER_ERROR = 500
_SERVER_FAULTS = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable"})


class Fault(StrEnum):
    """Why a call did not do what it was asked."""

    CONDITION = "condition"
    """A condition did not hold: somebody else was here, or our own lost write was."""
    CONFLICT = "conflict"
    """Another transaction held an item at the same moment."""
    THROTTLED = "throttled"
    SERVER = "server"
    """An answer, but a 5xx: it may have been done."""
    NOT_SENT = "not_sent"
    """There was no connection: it was not done. Known only of a client that makes one attempt per call."""
    NO_ANSWER = "no_answer"
    """Nothing came back, or that it is being worked on: it may have been done, or may still be."""


MAY_BE_DONE = frozenset({Fault.SERVER, Fault.NO_ANSWER})
"""The call may have been done all the same."""


def fault_of(error: Exception) -> Fault:
    """The fault that *error* is; an error that is no fault of the store (a bug of ours) is raised again."""
    if not isinstance(error, ClientError):
        return Fault.NOT_SENT if isinstance(error, _NEVER_LEFT) else Fault.NO_ANSWER
    if reasons := cancellation_reasons(error):
        codes = {reason.get("Code") for reason in reasons}
    else:
        codes = {error.response.get("Error", {}).get("Code")}
    if codes & {CONDITION_FAILED, "ConditionalCheckFailedException"}:
        return Fault.CONDITION
    if codes & _CONFLICTS:
        return Fault.CONFLICT
    if codes & _THROTTLES:
        return Fault.THROTTLED
    if _IN_PROGRESS in codes:
        return Fault.NO_ANSWER
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if codes & _SERVER_FAULTS or status >= SERVER_ERROR:
        return Fault.SERVER
    raise error


def cancellation_reasons(error: ClientError) -> list[dict[str, Any]]:
    """One reason per item of a cancelled transaction, in its order; empty when it was no transaction."""
    return [dict(reason) for reason in error.response.get("CancellationReasons", ())]
