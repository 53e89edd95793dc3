"""What hosts get: a task as whoever drives it may see it, with its turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnkeeper_client.results import AgentStatus, Task
from turnkeeper_client.shapes import Shape, at, many, told

RECONCILE = "reconcile"


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Shape):
    """An agent as it is registered."""

    name: str
    version: str
    manifest: Mapping[str, Any]
    not_acted_on: tuple[str, ...] = many(str)
    """What of the manifest changes nothing here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait(Shape):
    """Something that a turn waits for."""

    id: str
    kind: str
    since: datetime = at()
    deadline: datetime = at()
    provider: str | None = None
    reviewer: str | None = None
    child: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution(Shape):
    """What became of a wait: `done`, `denied`, `failed` or `timed_out`."""

    id: str
    kind: str
    verdict: str
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnState(Shape):
    """A turn: its `fence` is the right to write."""

    number: int
    state: str
    """`running`, `suspended`, or another."""
    fence: int
    attempt: int
    outputs: int
    first_output: int
    """The number of the first output of this attempt."""
    inputs_after: str
    """The cursor after which the messages begin with the turn's inputs."""
    started_at: datetime = at()
    lease_until: datetime | None = at(default=None)
    retry_at: datetime | None = at(default=None)
    memo: Any = None
    resolutions: tuple[Resolution, ...] = many(Resolution.of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven(Shape):
    """A task as its host has it."""

    task: Task = told(Task.of)
    agent_status: AgentStatus = told(AgentStatus.of)
    pending: int = 0
    turns: int = 0
    usage: Mapping[str, int] = told(default=None)
    waits: tuple[Wait, ...] = many(Wait.of)
    turn: TurnState | None = told(TurnState.of, default=None)

    @property
    def is_lost(self) -> bool:
        """A turn of it was lost, and its host is to say what became of that (`reconcile`)."""
        return any(wait.kind == RECONCILE for wait in self.waits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted(Shape):
    """An authorisation that was recorded, and on how many tasks something waited for it."""

    user: str
    provider: str
    granted_at: datetime = at()
    tasks: int = 0
