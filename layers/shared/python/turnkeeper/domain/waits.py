"""What a suspended turn waits for, and which of it is the responsible user's business (TN-1 to TN-5).

The list in the task is the truth. Every wait has a deadline, so no task is parked for ever.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class WaitKind(StrEnum):
    """What must happen before the turn can go on."""

    AUTHORISATION = "auth"
    REVIEW = "review"
    CHILD = "child"
    HOST = "host"
    RECONCILE = "reconcile"
    """A turn was lost after it may have acted; its host must say what became of it (RET-4)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One thing a turn waits for, since when and at most until when."""

    id: str
    kind: WaitKind
    since: datetime
    deadline: datetime
    provider: str | None = None
    reviewer: str | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)


class Verdict(StrEnum):
    """How a wait ended; the agent decides what that means."""

    DONE = "done"
    DENIED = "denied"
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A wait that ended, as the agent gets it when its turn goes on."""

    wait_id: str
    kind: WaitKind
    verdict: Verdict
    at: datetime
    unknown: Mapping[str, Any] = field(default_factory=dict)


class NotificationKind(StrEnum):
    """The only two calls to action there are (TN-3)."""

    USER_AUTH_REQUIRED = "user_auth_required"
    REVIEW_REQUIRED = "review_required"


@dataclass(frozen=True, slots=True)
class Notification:
    """Something only the responsible user can do before the task can go on."""

    kind: NotificationKind
    since: datetime
    provider: str | None = None


def notifications(waits: Iterable[Wait], responsible_user: str) -> tuple[Notification, ...]:
    """What *waits* ask of the responsible user: one per provider, by `since` ascending (TS-7, TN-1b, TN-2)."""
    calls: list[Notification] = []
    first: dict[str, datetime] = {}
    for wait in waits:
        if wait.kind is WaitKind.AUTHORISATION and wait.provider is not None:
            first[wait.provider] = min(wait.since, first.get(wait.provider, wait.since))
        elif wait.kind is WaitKind.REVIEW and wait.reviewer == responsible_user:
            calls.append(Notification(NotificationKind.REVIEW_REQUIRED, wait.since))
    calls += [Notification(NotificationKind.USER_AUTH_REQUIRED, since, name) for name, since in first.items()]
    return tuple(sorted(calls, key=lambda call: (call.since, call.kind, call.provider or "")))
