"""The status object: exactly what the Task Status contract lets a consumer see, and nothing else (TS-9)."""

from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.standing import Standing
from turnkeeper.domain.waits import Notification, notifications


def status_object(task: Standing) -> dict[str, Any]:
    """The contract's shape: nullable fields stand as null, `provider` only where it applies."""
    return {
        "id": task.id,
        "agent": task.agent,
        "responsible_user": task.responsible_user,
        "created_at": to_text(task.created_at),
        "status": {
            "phase": task.phase.value,
            "terminal_reason": task.terminal_reason.value if task.terminal_reason else None,
            "revision": task.revision,
            "notifications": [_shown(call) for call in notifications(task.asks, task.responsible_user)],
            "idle_expires_at": to_text(task.idle_expires_at) if task.idle_expires_at else None,
        },
    }


def looks_the_same(one: Standing, other: Standing) -> bool:
    """The two show the same status object, their revisions aside (TS-6)."""
    return (
        one.phase is other.phase
        and one.terminal_reason is other.terminal_reason
        and one.idle_expires_at == other.idle_expires_at
        and notifications(one.asks, one.responsible_user) == notifications(other.asks, other.responsible_user)
    )


def _shown(call: Notification) -> dict[str, str]:
    shown = {"kind": call.kind.value, "since": to_text(call.since)}
    return shown if call.provider is None else {**shown, "provider": call.provider}
