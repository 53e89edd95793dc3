"""HTTP: a synchronous failure is a problem (RFC 9457); asynchronous work answers 202, and reading it 200.

The status of the response says how the request went, never how the task went (INV-2, BND-HTTP-2).
"""

from collections.abc import Mapping
from math import ceil
from typing import Any

from turnkeeper.asc.registry import Code

PROBLEM_TYPE = "application/problem+json"
ACCEPTED = (202, Code.ACCEPTED)
"""What creating asynchronous work answers."""

READ = 200
"""What reading a status answers, whatever the status is."""

_URN = "urn:agent-status:"


def problem_type(name: str) -> str:
    """The problem type of the status *name*."""
    return f"{_URN}{name}"


def problem_title(name: str) -> str:
    """The name of a status as a title for people."""
    return name.replace("_", " ").capitalize()


def name_of(type_: str) -> str | None:
    """The status that a problem type names, if it names one."""
    return type_.removeprefix(_URN) if type_.startswith(_URN) else None


def problem(envelope: Mapping[str, Any], *, http_status: int) -> dict[str, Any]:
    """The problem that says what the disclosed *envelope* says (BND-HTTP-1), and no more than it."""
    status = envelope["status"]
    body: dict[str, Any] = {
        "type": problem_type(status["name"]),
        "title": problem_title(status["name"]),
        "status": http_status,
        "agent_status": {key: status[key] for key in ("code", "name", "scope", "terminal")},
    }
    if detail := envelope.get("message", {}).get("user"):
        body["detail"] = detail
    if "retry" in envelope:
        body["retry"] = envelope["retry"]
    return body


def retry_after(envelope: Mapping[str, Any]) -> int | None:
    """The seconds for `Retry-After`, where a delay is known and waiting helps."""
    retry = envelope.get("retry", {})
    after_ms = retry.get("after_ms")
    return ceil(after_ms / 1000) if retry.get("retryable") is True and after_ms is not None else None
