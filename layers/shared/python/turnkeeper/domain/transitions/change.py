"""What one transition makes of a task: the next task, what is added beside it, and whom it wakes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from turnkeeper.domain.messages import Entry, Input, Output, Pin
from turnkeeper.domain.reviews import Decision
from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Phase, Task

NO_SUBJECTS: Mapping[str, str] = MappingProxyType({})


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
    reply: Output | None = None
    """What answers the inputs that were refused with the entry."""
    memo: str | None = None
    held_output: str | None = None
    """What a turn is about to say, once it is approved."""
    seals: Mapping[str, str] = field(default=NO_SUBJECTS)
    """What the journal says of what was put down before, and counts from now on."""
    subjects: Mapping[str, str] = field(default=NO_SUBJECTS)
    """What the reviewer of each new review decides, by its wait's id."""
    declared: str | None = None
    """What a host said with the task's end, as JSON."""
    report: str | None = None
    """What somebody else reported to the turn, as JSON."""
    decision: Decision | None = None
    delegation: "Delegation | None" = None
    files: tuple[Pin, ...] = ()
    """What its input or output names."""
    wake: Wake = Wake.NONE

    @property
    def is_change(self) -> bool:
        """There is something to write."""
        return self.after is not self.before

    @property
    def is_journalled(self) -> bool:
        """It is a transition, and not merely a lease or a due time that moved."""
        return self.transition not in {Transition.HEARTBEAT, Transition.LOOK}

    @property
    def goes_quiet(self) -> bool:
        """A task that was busy is idle or has ended: a turn that waits for it may go on."""
        was_busy = self.before is not None and self.before.phase is Phase.PROCESSING
        return was_busy and self.after.phase is not Phase.PROCESSING


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """A child task, made by the one call of this name in the turn; *body* is what makes it another call."""

    call: str
    body: str
    child: Change
