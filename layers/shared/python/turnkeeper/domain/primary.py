"""The one code that says where a task stands, by the mapping of `asc.md`, to insiders and to the public."""

from collections.abc import Mapping
from types import MappingProxyType

from turnkeeper.asc.registry import Code
from turnkeeper.domain.standing import Phase, Standing, TurnState
from turnkeeper.domain.waits import NotificationKind, notifications

INTERNAL = frozenset({Code.RETRY_SCHEDULED, Code.WAITING_DEPENDENCY})
"""What is none of the public's business: to it the task is RUNNING."""

_PHASES: Mapping[Code, str] = MappingProxyType(
    {Code.ACCEPTED: "QUEUED", Code.RUNNING: "EXECUTING", Code.RETRY_SCHEDULED: "EXECUTING"}
)


def public_code(task: Standing) -> Code:
    """The primary status as anybody may see it: internal waits and attempts are work like any other."""
    code = primary_code(task)
    return Code.RUNNING if code in INTERNAL else code


def lifecycle_phase(task: Standing, code: Code) -> str:
    """The phase of the status model that goes with *code* of *task* (MOD-1)."""
    return "FINISHED" if task.is_terminal else _PHASES.get(code, "WAITING")


def primary_code(task: Standing) -> Code:
    """One declared scope, one primary status (INV-1): 3003 before 3002 before the rest."""
    if task.phase is Phase.IDLE:
        return Code.HUMAN_INPUT_REQUIRED
    if task.phase is Phase.TERMINAL:
        return task.outcome or Code.FATAL_ERROR
    if task.turn is None:
        return Code.ACCEPTED if task.has_ready_input else _waiting_for(task)
    if task.turn.state is TurnState.BETWEEN_ATTEMPTS and task.turn.changed_at is not None:
        return Code.RETRY_SCHEDULED
    if task.turn.state is TurnState.SUSPENDED:
        return _waiting_for(task)
    return Code.RUNNING


def _waiting_for(task: Standing) -> Code:
    kinds = {call.kind for call in notifications(task.asks, task.responsible_user)}
    if NotificationKind.USER_AUTH_REQUIRED in kinds:
        return Code.AUTHENTICATION_REQUIRED
    if NotificationKind.REVIEW_REQUIRED in kinds:
        return Code.HUMAN_APPROVAL_REQUIRED
    return Code.WAITING_DEPENDENCY
