"""What people get. Phases, kinds and verdicts are open: a server may know one that this client does not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from turnkeeper_client.shapes import Shape, at, many, told


class Phase(StrEnum):
    """The phases that there are so far; compare them with `task.status.phase`, which is a text."""

    IDLE = "idle"
    PROCESSING = "processing"
    TERMINAL = "terminal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification(Shape):
    """Something that only the task's user can let go on: `user_auth_required`, `review_required`."""

    kind: str
    since: datetime = at()
    provider: str | None = None
    """Where to sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Shape):
    """Where a task stands."""

    phase: str
    """One of `Phase`, or one that is newer than this client."""
    revision: str
    """Changes whenever the task or its conversation does; compare it for inequality only."""
    terminal_reason: str | None = None
    notifications: tuple[Notification, ...] = many(Notification.of)
    idle_expires_at: datetime | None = at(default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Shape):
    """A task: an agent's conversation, owned by one person."""

    id: str
    agent: str
    responsible_user: str
    created_at: datetime = at()
    status: Status = told(Status.of)

    @property
    def is_terminal(self) -> bool:
        """It has ended, and will never change again."""
        return self.status.phase == Phase.TERMINAL

    @property
    def is_settled(self) -> bool:
        """It does nothing by itself now: it awaits input, has ended, or waits for its user."""
        return self.status.phase != Phase.PROCESSING or bool(self.status.notifications)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Shape):
    """The task after something was sent to it."""

    task: Task
    received_at: datetime | None = None
    """Of the input, in the list of messages; None where nothing was sent but the task created."""
    key: str
    """The Idempotency-Key that it went under: sent again with it, it is not there twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled(Shape):
    """A look at a task; *task* is None when nothing has changed since the revision that was known."""

    task: Task | None
    etag: str
    poll_after_s: float | None
    """When to look again; None when nothing will change any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(Shape):
    """A part of a message: a text, or a file."""

    mime_type: str = told(name="mimeType")
    text: str | None = None
    file: str | None = None
    size_bytes: int | None = told(name="sizeBytes", default=None)
    metadata: Mapping[str, Any] | None = None


def _parts(said: Iterable[Any]) -> tuple[Part, ...]:
    return tuple(Part.of(one) for one in said)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Shape):
    """An entry of a conversation: `input` or `output`."""

    type: str
    message: tuple[Part, ...] = many(Part.of)
    received_at: datetime | None = at(default=None)
    committed_at: datetime | None = at(default=None)
    """Absent on an input that the agent has not seen yet; it comes again, once, when it was."""
    error: str | None = None
    """Where a guardrail stepped in."""

    @property
    def text(self) -> str:
        """All that it says in texts."""
        return "\n".join(part.text for part in self.message if part.text is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Messages(Shape):
    """A page of a conversation."""

    messages: tuple[Entry, ...] = many(Entry.of)
    next: str
    """The cursor for what is new after this page; there on the last page, too."""
    more: bool = False
    etag: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tasks(Shape):
    """A page of tasks; it may be empty and have a `next` all the same."""

    tasks: tuple[Task, ...] = many(Task.of)
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Shape):
    """A notification with its task."""

    task: str
    agent: str
    kind: str
    since: datetime = at()
    provider: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls(Shape):
    """A page of what waits for somebody over all tasks."""

    notifications: tuple[Call, ...] = many(Call.of)
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review(Shape):
    """Something to decide, or that was decided."""

    id: str
    agent: str
    subject: str
    since: datetime = at()
    deadline: datetime = at()
    decision: str | None = None
    decided_at: datetime | None = at(default=None)
    comment: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews(Shape):
    """A page of reviews."""

    reviews: tuple[Review, ...] = many(Review.of)
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus(Shape):
    """Where a task stands, as an envelope of Agent Status Codes; `raw` is the envelope."""

    code: int
    name: str
    phase: str | None = None
    terminal: bool = False

    @property
    def is_success(self) -> bool:
        """It came to what was asked for, or is an event that says nothing against it."""
        return self.code // 1000 in (2, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntry(Shape):
    """Something that happened to a task, without a word of what was said."""

    n: int
    at: datetime = at()
    actor: str
    transition: str
    code: int
    """Where the task stood afterwards."""
    name: str
    to: str
    """The phase afterwards."""
    turn: int | None = None
    attempt: int | None = None
    fence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal(Shape):
    """A page of a journal."""

    entries: tuple[JournalEntry, ...] = many(JournalEntry.of)
    next: str
    """The cursor for what is new after this page; there on the last page, too."""
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent(Shape):
    """An agent that a person can start."""

    name: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents(Shape):
    """A page of agents, by name."""

    agents: tuple[Agent, ...] = many(Agent.of)
    next: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedAgent(Agent):
    """An agent with all that it takes to start it."""

    parameters: Mapping[str, Any]
    """JSON Schema (2020-12) of what may stand beside a message; a string of the format `file` is a file's URI."""
    default_message: tuple[Part, ...] | None = told(_parts, default=None)
    """What an input without a message says; None: each needs one."""
    files: tuple[str, ...] = told(tuple, default=())
    """The roots in which messages may name files."""
    exposes: tuple[str, ...] = told(tuple, default=())
    """What its outputs carry beside their message."""
    lifespan_seconds: float
    """After so long without anything new, a task of it ends."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """What a task may use at most; what is absent has no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File(Shape):
    """A file that a message may name."""

    file: str
    """Its URI."""
    mime_type: str = told(name="mimeType")

    def part(self) -> dict[str, Any]:
        """The part of a message that names it."""
        return {"mimeType": self.mime_type, "file": self.file}


@dataclass(frozen=True, slots=True, kw_only=True)
class Download(Shape):
    """A file that was got."""

    file: str
    mime_type: str | None = told(name="mimeType", default=None)
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What has changed of a task: its status, and the entries that are new or were committed meanwhile."""

    task: Task
    entries: tuple[Entry, ...]
    cursor: str | None
    """Follow on from here and nothing comes twice, nor is anything missed."""


type Said = str | Mapping[str, Any] | File | Iterable[str | Mapping[str, Any] | File]
"""What somebody says: texts, files, or parts as the API has them."""


def message_of(said: Said) -> list[Mapping[str, Any]]:
    """*said* as the parts of a message."""
    if isinstance(said, str | Mapping | File):
        return [_part(said)]
    return [_part(one) for one in said]


def _part(said: str | Mapping[str, Any] | File) -> Mapping[str, Any]:
    if isinstance(said, str):
        return {"mimeType": "text/plain", "text": said}
    return said.part() if isinstance(said, File) else said
