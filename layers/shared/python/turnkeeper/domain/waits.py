"""What a suspended turn waits for, and which of it is the responsible user's business (TN-1 to TN-5).

The list in the task is the truth. Every wait has a deadline, so no task is parked for ever.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from turnkeeper.domain.instants import to_text

MOST_WAITS = 16
MEMO_BYTES = 32_768
"""Of the JSON that an agent leaves for itself while its turn waits."""
NAMES_BYTES = 768
"""All ids, providers, reviewers and children of a pause: they lie in the task's item, which a poll reads."""


EARLY_BYTES = 512
"""All ids of waits that were answered before they were recorded; they lie there too, beside the last resolutions."""


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
    needed_at: datetime | None = None
    """As of when the provider's authorisation was missing, where that is not the beginning of the leg."""
    reviewer: str | None = None
    child: str | None = None
    """The id of the child task."""
    unknown: Mapping[str, Any] = field(default_factory=dict)

    def is_granted(self, granted_at: datetime, *, leg_began: datetime) -> bool:
        """An authorisation given at *granted_at* is what it waits for, and not one that was found wanting.

        What was given after the leg began may have been too late for it; then the next leg finds out.
        """
        return granted_at >= (self.needed_at or leg_began)


class Verdict(StrEnum):
    """How a wait ended; the agent decides what that means."""

    DONE = "done"
    DENIED = "denied"
    FAILED = "failed"
    """The child ended without reaching its goal."""
    TIMED_OUT = "timed_out"


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A wait that ended, as the agent gets it when its turn goes on."""

    wait_id: str
    kind: WaitKind
    verdict: Verdict
    at: datetime
    child: str | None = None
    review: str | None = None
    """The name, within its task, of the review whose comment goes with the verdict."""
    comment: str | None = None
    """That comment, for who takes the turn up again; it lies with the review, and not in the task."""
    unknown: Mapping[str, Any] = field(default_factory=dict)


def resolution_object(resolution: Resolution) -> dict[str, str]:
    """*resolution* as whoever takes the turn up again gets it, with a child or a comment where there is one."""
    shown = {
        "id": resolution.wait_id,
        "kind": resolution.kind.value,
        "verdict": resolution.verdict.value,
        "at": to_text(resolution.at),
    }
    more = {"child": resolution.child, "comment": resolution.comment}
    return shown | {name: value for name, value in more.items() if value is not None}


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
