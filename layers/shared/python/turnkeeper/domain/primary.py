"""The one code that says where a task stands, by the mapping of `asc.md`, to those who may see internal waits."""

from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Phase, Task, TurnState
from turnkeeper.domain.waits import NotificationKind, notifications


def primary_code(task: Task) -> Code:
    """One declared scope, one primary status (INV-1): 3003 before 3002 before the rest."""
    if task.phase is Phase.IDLE:
        return Code.HUMAN_INPUT_REQUIRED
    if task.phase is Phase.TERMINAL:
        return task.outcome or Code.FATAL_ERROR
    if task.turn is None:
        return Code.ACCEPTED if task.has_ready_input else _waiting_for(task)
    if task.turn.state is TurnState.BETWEEN_ATTEMPTS:
        return Code.RETRY_SCHEDULED
    if task.turn.state is TurnState.SUSPENDED:
        return _waiting_for(task)
    return Code.RUNNING


def _waiting_for(task: Task) -> Code:
    kinds = {call.kind for call in notifications(task.asks, task.responsible_user)}
    if NotificationKind.USER_AUTH_REQUIRED in kinds:
        return Code.AUTHENTICATION_REQUIRED
    if NotificationKind.REVIEW_REQUIRED in kinds:
        return Code.HUMAN_APPROVAL_REQUIRED
    return Code.WAITING_DEPENDENCY
