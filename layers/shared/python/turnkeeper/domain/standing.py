"""Where a task stands: what everybody who looks is told follows from this, and a poll reads no more of a task.

A whole task says it, and so does a glance at one. The functions that tell where a task stands take either.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from turnkeeper.asc.registry import Code
from turnkeeper.domain.waits import Resolution, Wait

if TYPE_CHECKING:
    from turnkeeper.domain.task import Task  # a poll has no whole task

DEPLOYMENT = "deployment"
"""The owner of the built-in agents, and whoever the deployment lets act as it."""


class Phase(StrEnum):
    """Coarse enough to act on: awaits input, is busy, has ended (TS-5a)."""

    IDLE = "idle"
    PROCESSING = "processing"
    TERMINAL = "terminal"


class Reason(StrEnum):
    """Why a task ended (TS-5b). The one place to add a reason."""

    COMPLETED = "completed"
    ERRORED = "errored"
    RESTRICTED = "restricted"


class TurnState(StrEnum):
    """Whether somebody runs the turn, may run it, or must wait."""

    RUNNING = "running"
    BETWEEN_ATTEMPTS = "between_attempts"
    SUSPENDED = "suspended"
    RUNNABLE = "runnable"


class Ends:
    """What has an end to come or behind it."""

    __slots__ = ()
    if TYPE_CHECKING:
        phase: Phase
        due_at: datetime
        idle_expires_at: datetime | None

    @property
    def is_terminal(self) -> bool:
        """It has ended."""
        return self.phase is Phase.TERMINAL

    def is_expired(self, now: datetime) -> bool:
        """It is idle and the instant it announced has come (TS-8c)."""
        return self.idle_expires_at is not None and now >= self.idle_expires_at

    def is_gone(self, now: datetime) -> bool:
        """Its retention is over: from that instant it is an unknown task to everybody, deleted already or not."""
        return self.is_terminal and now >= self.due_at


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TurnGlance:
    """What a glance shows of the task's turn."""

    state: TurnState
    started_at: datetime
    changed_at: datetime | None
    resolutions: tuple[Resolution, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Glance(Ends):
    """A task as far as a poll reads it: each field is a task's of that name."""

    id: str
    agent: str
    responsible_user: str
    created_at: datetime
    phase: Phase
    terminal_reason: Reason | None
    outcome: Code | None
    idle_expires_at: datetime | None
    since: datetime | None
    last_received_at: datetime | None
    last_committed_at: datetime | None
    due_at: datetime
    revision: str
    turn: TurnGlance | None
    asks: tuple[Wait, ...]
    has_ready_input: bool


type Standing = Task | Glance
"""What says where a task stands."""
