"""A2A: the state of a task, and the envelope beside it as a versioned extension (BND-A2A)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from turnkeeper.asc.registry import EXPERIMENTAL, SPEC_VERSION, Code, class_of
from turnkeeper.asc.said import SaidStatus, has_failed

EXTENSION = f"urn:agent-status:a2a:{SPEC_VERSION}"
"""What the extension is called in an agent's card and as the key of the envelope in metadata."""


class A2AState(StrEnum):
    """The states that a task can have in A2A."""

    SUBMITTED = "submitted"
    WORKING = "working"
    INPUT_REQUIRED = "input-required"
    AUTH_REQUIRED = "auth-required"
    COMPLETED = "completed"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"


_GOING_ON: Mapping[int, A2AState] = {
    Code.ACCEPTED: A2AState.SUBMITTED,
    Code.HUMAN_INPUT_REQUIRED: A2AState.INPUT_REQUIRED,
    # A2A knows no approval; what it has for "a person must say something" is this.
    Code.HUMAN_APPROVAL_REQUIRED: A2AState.INPUT_REQUIRED,
    Code.AUTHENTICATION_REQUIRED: A2AState.AUTH_REQUIRED,
}
_ENDED: Mapping[int, A2AState] = {
    Code.CANCELLED: A2AState.CANCELED,
    Code.GUARDRAIL_BLOCKED: A2AState.REJECTED,
    Code.PERMISSION_DENIED: A2AState.REJECTED,
}
_COMPLETED = frozenset({"success", "quality_or_verification"})


def a2a_state(status: SaidStatus, *, withheld: bool = False) -> A2AState:
    """The state for *status*; *withheld*: a 7xxx for which the output was held back.

    What has not ended is working, unless it waits for somebody; what has ended and is no success has failed.
    """
    if not status.terminal:
        return _GOING_ON.get(status.code, A2AState.WORKING)
    if status.code in _ENDED:
        return _ENDED[status.code]
    completed = class_of(status.code) in _COMPLETED and not has_failed(status, withheld=withheld)
    return A2AState.COMPLETED if completed else A2AState.FAILED


def declaration() -> dict[str, Any]:
    """The extension as an agent's card declares it, its being experimental with it (CMP-7)."""
    return {
        "uri": EXTENSION,
        "description": "Agent Status Codes beside the state of a task.",
        "required": False,
        "params": {"spec_version": SPEC_VERSION, "experimental": EXPERIMENTAL},
    }


def metadata(envelope: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata that carries a disclosed *envelope*."""
    return {EXTENSION: dict(envelope)}
