"""What a refusal says: problem details with an agent status and a retry contract, or the gateway's own bare answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from turnkeeper_client.plans import Answer

PROBLEM_TYPE = "application/problem+json"
LONGEST_MS = 10**12
"""Thirty years; whoever says more says no more by it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the request something is wrong (a path such as `message[0].text`), and how to mend it."""

    at: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """What is promised about sending the same again; what is not said promises nothing."""

    retryable: bool = False
    safe: bool = False
    after_ms: int | None = None
    strategy: str | None = None
    side_effect_state: str = "unknown"
    reconciliation_action: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A refusal; without a *code* it was the gateway's own, and says nothing about repeating it."""

    status: int
    """Of HTTP."""
    detail: str
    code: int | None = None
    """Of Agent Status Codes; a code that this client does not know is kept as it is."""
    name: str | None = None
    scope: str | None = None
    title: str | None = None
    places: tuple[Place, ...] = ()
    retry: Retry = field(default_factory=Retry)
    after_s: float | None = None
    """In how many seconds to try again, by the header or the contract, whichever is later."""
    correlation_id: str | None = None
    """Finds the request in the deployment's logs."""
    raw: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """All of it, as it came."""


def problem_of(answer: Answer) -> Problem:
    """The refusal that *answer* is; whatever of it cannot be read is left out."""
    said = _object(answer)
    if answer.headers.get("content-type", "").partition(";")[0].strip().lower() != PROBLEM_TYPE:
        # The gateway's message, or nothing that anybody promised anything about.
        return Problem(
            status=answer.status,
            detail=_text(said.get("message")) or _text(said.get("Message")) or f"HTTP {answer.status}",
            after_s=_after(answer, None),
            correlation_id=answer.headers.get("x-correlation-id"),
            raw=said,
        )
    status, retry = _mapping(said.get("agent_status")), retry_of(_mapping(said.get("retry")))
    return Problem(
        status=answer.status,
        detail=_text(said.get("detail")) or f"HTTP {answer.status}",
        code=_number(status.get("code")),
        name=_text(status.get("name")),
        scope=_text(status.get("scope")),
        title=_text(said.get("title")),
        places=tuple(_places(said.get("errors"))),
        retry=retry,
        after_s=_after(answer, retry.after_ms),
        correlation_id=answer.headers.get("x-correlation-id"),
        raw=said,
    )


def retry_of(said: Mapping[str, Any]) -> Retry:
    """A retry contract as it was *said*; only a clear yes is one."""
    return Retry(
        retryable=said.get("retryable") is True,
        safe=said.get("safe") is True,
        after_ms=_number(said.get("after_ms")),
        strategy=_text(said.get("strategy")),
        side_effect_state=_text(said.get("side_effect_state")) or "unknown",
        reconciliation_action=_text(said.get("reconciliation_action")),
    )


def _after(answer: Answer, after_ms: int | None) -> float | None:
    said = (_seconds(answer) or 0.0, min(after_ms or 0, LONGEST_MS) / 1000)
    return max(said) if max(said) > 0 else None


def _seconds(answer: Answer) -> float | None:
    """What Retry-After says: seconds, or an instant (RFC 9110)."""
    header = answer.headers.get("retry-after", "").strip()
    if header.isascii() and header.isdigit():
        return float(header)
    try:
        wanted = parsedate_to_datetime(header)
        now = parsedate_to_datetime(answer.headers.get("date", ""))
    except ValueError:
        return None
    return max(0.0, (_aware(wanted) - _aware(now)).total_seconds())


def _aware(instant: datetime) -> datetime:
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


def _places(errors: object) -> list[Place]:
    found = errors if isinstance(errors, list) else []
    return [
        Place(str(one.get("at", "")), str(one.get("problem", ""))) for one in found if isinstance(one, dict)
    ]


def _object(answer: Answer) -> Mapping[str, Any]:
    try:
        return _mapping(answer.json())
    except ValueError:
        return {}


def _mapping(said: object) -> Mapping[str, Any]:
    return said if isinstance(said, dict) else {}


def _text(said: object) -> str | None:
    return said if isinstance(said, str) and said else None


def _number(said: object) -> int | None:
    return said if isinstance(said, int) and not isinstance(said, bool) else None
