"""A task: one conversation with one agent, owned by one human. Immutable; transitions make the next one.

Invariants: idle has no turn and nothing pending; processing has a turn or something pending; terminal has no turn,
no waits and no expiry.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from turnkeeper.asc.registry import Code
from turnkeeper.domain import instants
from turnkeeper.domain.judging import Held, HeldOutput, has_ready_input, outstanding
from turnkeeper.domain.pace import Pace
from turnkeeper.domain.standing import DEPLOYMENT, Ends, Phase, Reason, TurnState
from turnkeeper.domain.waits import Resolution, Verdict, Wait

if TYPE_CHECKING:
    from turnkeeper.domain.messages import Range  # a poll has no messages

__all__ = [
    "DEPLOYMENT",
    "NOTHING_USED",
    "Pace",
    "Phase",
    "Reason",
    "Runs",
    "Task",
    "Terms",
    "Turn",
    "TurnState",
    "Usage",
]


class Runs(StrEnum):
    """Where an agent's turns run."""

    FUNCTION = "function"
    """In the `turns` function, by a class that comes with the deployment."""
    LAMBDA = "lambda"
    """By the user's own Lambda function, which `turns` invokes."""
    EXTERNAL = "external"
    """By a host anywhere, which gets wake-ups in a queue of its own and drives the turn through its API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a task's turns have used up, as their host reports it; in limits, None is no limit."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tool_calls: int | None = None

    def plus(self, more: "Usage") -> "Usage":
        """Both together."""
        return Usage(
            prompt_tokens=_sum(self.prompt_tokens, more.prompt_tokens),
            completion_tokens=_sum(self.completion_tokens, more.completion_tokens),
            tool_calls=_sum(self.tool_calls, more.tool_calls),
        )

    def is_over(self, limits: "Usage") -> bool:
        """Something was used beyond its limit."""
        pairs = (
            (self.prompt_tokens, limits.prompt_tokens),
            (self.completion_tokens, limits.completion_tokens),
            (self.tool_calls, limits.tool_calls),
        )
        return any(limit is not None and (used or 0) > limit for used, limit in pairs)


NOTHING_USED = Usage()


def _sum(one: int | None, other: int | None) -> int | None:
    return one if other is None else (one or 0) + other


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What the agent's manifest promised when the task began; the task keeps its own copy."""

    lifespan: timedelta
    max_age: timedelta
    repeatable: bool
    attempts: int
    backoff: tuple[timedelta, ...]
    owner: str
    """Who may drive the task: the IAM principal that registered the agent, or the deployment."""
    runs: Runs
    function: str | None = None
    """The Lambda function that runs the turns, where one does."""
    turn_limit: timedelta
    """The longest that one turn may run, from its start, waits aside."""
    max_turns: int | None = None
    usage: Usage = NOTHING_USED
    """The most that the task may use."""
    ruled: bool = False
    """The manifest says something about parameters, guardrails or what is exposed."""
    unknown: Mapping[str, Any] = field(default_factory=dict)

    def pause_after(self, attempt: int) -> timedelta:
        """How long to wait when the *attempt*-th failed: the last pause goes on, and none at all is no pause."""
        return next(reversed(self.backoff[:attempt]), timedelta(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One run of the agent over the inputs it committed.

    The fence decides who may write; the lease only says when somebody else may take over. A *leg* runs from the start
    or from a resume: attempts repeat a leg and count from 1 in each, and outputs up to `kept` were emitted before it.
    """

    number: int
    state: TurnState
    fence: int
    attempt: int
    started_at: datetime
    """When its leg began, or its host let it be repeated: from here its limit counts."""
    inputs: "tuple[Range, ...]"
    committed_at: datetime
    """Where its inputs stand in the transcript."""
    judged: bool = False
    """Guardrails refused or changed some of them; the transcript says which."""
    lease_until: datetime | None = None
    retry_at: datetime | None = None
    changed_at: datetime | None = None
    """When an attempt failed or was lost, or another began; None in the first attempt of a leg."""
    seen_at: datetime | None = None
    """When its user's last call ended, since when it runs to anybody who sees no other waits or attempts."""
    outputs: int = 0
    kept: int = 0
    memo_fence: int | None = None
    """The fence under which the agent left its memo, if it left one."""
    resolutions: tuple[Resolution, ...] = ()
    output: HeldOutput | None = None
    """What it is about to say, once that is approved."""
    early: tuple[tuple[str, Verdict], ...] = ()
    """Ids of waits that the host answered under this fence before they were recorded."""
    children: int = 0
    unknown: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Ends):
    """Everything that decides what may happen next. The conversation lies beside it."""

    id: str
    agent: str
    agent_version: str
    terms: Terms
    responsible_user: str
    created_at: datetime
    parent: str | None = None
    """The task whose turn created it, where an agent did."""
    depth: int = 0
    """How many delegations lie between it and a task that a person created."""
    phase: Phase
    due_at: datetime
    """When somebody must look again; may be early, never late."""
    terminal_reason: Reason | None = None
    outcome: Code | None = None
    idle_expires_at: datetime | None = None
    since: datetime | None = None
    """When it went idle or ended; None where something else says since when it is what it is."""
    turn: Turn | None = None
    waits: tuple[Wait, ...] = ()
    """What its suspended turn waits for."""
    held: tuple[Held, ...] = ()
    """Its inputs that wait for a review before they are committed."""
    turns: int = 0
    fence: int = 0
    received: int = 0
    committed: int = 0
    """Inputs up to this number are committed, but for held ones."""
    outputs: int = 0
    usage: Usage = NOTHING_USED
    trace: str | None = None
    """The id of the trace in which its last turn was taken up."""
    reports: int = 0
    """How many reports of others its turns were given."""
    unreached: int = 0
    """How many units its goal needs that, by those reports, were not reached."""
    looks: int = 0
    """Fruitless looks since the last progress; they space out."""
    last_received_at: datetime | None = None
    last_committed_at: datetime | None = None
    # Minted by the store, never by a transition.
    revision: str = ""
    write_revision: str = ""
    expiry_revision: str | None = None
    log_number: int = 0
    log_head: str = ""

    @property
    def pending(self) -> int:
        """How many inputs arrived and are not committed, held ones too."""
        return self.received - self.committed + len(self.held)

    @property
    def asks(self) -> tuple[Wait, ...]:
        """All that it waits for: what its turn does, and the reviews of its held inputs."""
        return (*self.waits, *outstanding(self.held))

    @property
    def runs_since(self) -> datetime:
        """Since when it does nothing but run, to who sees neither its hidden waits nor its attempts."""
        if self.turn is None:
            return self.last_received_at or self.created_at
        return self.turn.seen_at or self.turn.committed_at

    @property
    def has_ready_input(self) -> bool:
        """An input waits for nothing but the next turn."""
        return has_ready_input(self.received, self.committed, self.held)

    @property
    def oldest_end(self) -> datetime:
        """The end of its `max_age`: no due time lies later while it is not terminal."""
        return instants.later(self.created_at, self.terms.max_age)
