"""What one transition makes of a task: the next task, what is added beside it, and whom it wakes."""

from dataclasses import dataclass
from enum import StrEnum

from turnkeeper.domain.messages import Entry, Input
from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Task


class Wake(StrEnum):
    """Whom a change needs: nobody, the task's own line of wake-ups, or one that a dead worker cannot block."""

    NONE = "none"
    TASK = "task"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one transition makes of a task, what it adds to the conversation, and whom it wakes."""

    transition: Transition
    before: Task | None
    after: Task
    input: Input | None = None
    entry: Entry | None = None
    memo: str | None = None
    wake: Wake = Wake.NONE

    @property
    def is_change(self) -> bool:
        """There is something to write."""
        return self.after is not self.before

    @property
    def is_journalled(self) -> bool:
        """It is a transition, and not merely a lease or a due time that moved."""
        return self.transition not in {Transition.HEARTBEAT, Transition.LOOK}
