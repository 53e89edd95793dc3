"""What people send: a task to create, an input, and which page of a list."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field

from turnkeeper.domain.manifest import NAME
from turnkeeper.domain.task import Phase
from turnkeeper.edge.bodies import Query, Sent, body, checked, content, whole_number
from turnkeeper.edge.content import Message

type AgentName = Annotated[str, Field(pattern=f"^{NAME.pattern}$")]


class Offer(Sent):
    """An input before anybody knows its agent: a message, if it brings one, and whatever stands beside it (IN-1a)."""

    model_config = ConfigDict(extra="allow")

    message: Message = Field(default_factory=list)


class NewTask(Sent):
    """What creates a task: the agent, and perhaps a first input."""

    agent: AgentName
    input: Offer = Field(default_factory=Offer)


class PageQuery(Query):
    """Which page of a list, and how much of it."""

    limit: Annotated[int, Field(ge=1, le=100), BeforeValidator(whole_number(1, 100))] = 20
    cursor: Annotated[str, Field(min_length=1)] | None = None


class ListQuery(PageQuery):
    """Which of my tasks, and how many at a time."""

    phase: Phase | None = None
    agent: AgentName | None = None


class MessagesQuery(Query):
    """From where in the conversation, and how much of it."""

    after: Annotated[str, Field(min_length=1)] | None = None
    limit: Annotated[int, Field(ge=1, le=1000), BeforeValidator(whole_number(1, 1000))] = 100


class JournalQuery(Query):
    """From where in the journal, and how much of it."""

    after: Annotated[str, Field(min_length=1)] | None = None
    limit: Annotated[int, Field(ge=1, le=1000), BeforeValidator(whole_number(1, 1000))] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """A new task as asked for; *content* is its first input as the store keeps it."""

    agent: str
    content: str | None


def creation(event: Mapping[str, Any]) -> Creation:
    """The body of *event* as a task to create."""
    sent = body(event)
    new = checked(NewTask, sent)
    return Creation(agent=new.agent, content=content(sent["input"]) if "input" in sent else None)


def input_content(event: Mapping[str, Any]) -> str:
    """The body of *event* as one input, whose parameters the agent's rules have still to judge.

    It is kept as what was sent, compact.
    """
    sent = body(event)
    checked(Offer, sent)
    return content(sent)
