"""OpenTelemetry: attributes of a span, its events, and the labels of a metric (BND-OTEL).

No function here takes a message, a prompt, a user, an id or a URL, so none can end up in a label (SEC-5). Labels are
bounded: whatever others invent shares one value for its class.
"""

from turnkeeper.asc.registry import class_of, registered
from turnkeeper.asc.retry import Contract
from turnkeeper.asc.said import SaidStatus, has_failed
from turnkeeper.asc.vocabulary import Kind, Phase, Scope

type Attributes = dict[str, str | int | bool]

EVENT = "agent.status"
"""What a span event that reports a status is called."""

UNREGISTERED = "UNREGISTERED"
EXTENSION_SCOPE = "extension"


def attributes(
    status: SaidStatus, *, retry: Contract | None = None, phase: Phase | None = None
) -> Attributes:
    """The attributes of a span or of a span event."""
    told: Attributes = {
        "agent.status.code": int(status.code),
        "agent.status.name": status.name,
        "agent.status.class": class_of(status.code),
        "agent.status.kind": status.kind.value,
        "agent.status.scope": str(status.scope),
        "agent.status.terminal": status.terminal,
    }
    if retry is not None:
        told |= {"agent.status.retryable": retry.retryable, "agent.status.retry_safe": retry.safe}
    return told if phase is None else told | {"agent.lifecycle.phase": phase.value}


def labels(status: SaidStatus, *, phase: Phase | None = None) -> Attributes:
    """The dimensions of a metric: the same names, each with a bounded number of values."""
    known = registered(status.code)
    bounded: Attributes = attributes(status, phase=phase)
    if known is None or known.name != status.name:
        bounded |= {"agent.status.code": status.code // 1000 * 1000, "agent.status.name": UNREGISTERED}
    if status.scope not in set(Scope):
        bounded["agent.status.scope"] = EXTENSION_SCOPE
    return bounded


def is_span_event(status: SaidStatus, *, span_scope: str) -> bool:
    """*status* is an event of the span, not its outcome: a transition, an 8xxx, or a child's outcome."""
    return not status.terminal or status.kind is not Kind.STATUS or status.scope != span_scope


def marks_error(status: SaidStatus, *, span_scope: str, withheld: bool = False) -> bool:
    """The span ends in error: by its own outcome alone, so an attempt that failed on the way leaves none."""
    return has_failed(status, withheld=withheld) and not is_span_event(status, span_scope=span_scope)
