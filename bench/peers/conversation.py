"""What a peer is to the bench: something that keeps conversations, can be polled, and can be killed."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol


class PeerFailed(Exception):
    """A peer that did not start, or did not answer as one that runs; the message says what it said."""


class NoSuchConversation(Exception):
    """A conversation that the peer took, and knows nothing of any more."""


class Role(StrEnum):
    """Who said something."""

    PERSON = "person"
    AGENT = "agent"


@dataclass(frozen=True, slots=True)
class Line:
    """One message of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Poll:
    """A request that tells whether a conversation is busy, and what it is called in the tables."""

    what: str
    port: int
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    works: frozenset[int] = frozenset({200})
    """The statuses of an answer that is worth timing."""


class Peer(Protocol):
    """One of those that are compared.

    A text begins with how many seconds its answer takes: "0.7 hello".
    """

    @property
    def name(self) -> str:
        """What it is called in the tables."""

    @property
    def how(self) -> str:
        """What was compared and how it is asked, for the page."""

    @property
    def command(self) -> str:
        """What it is started with, without paths."""

    @property
    def patience_s(self) -> float:
        """How long an input may take, beyond what the agent takes, until it counts as not answered."""

    @property
    def ages_s(self) -> Sequence[float]:
        """How long before a kill inputs are sent to it, so that the kill meets answers that are being made."""

    def running(self) -> AbstractContextManager[None]:
        """It runs within the block, with nothing in it, and is gone after it, however the block ends."""

    def versions(self) -> Mapping[str, str]:
        """Of what it is made."""

    def create(self, text: str) -> str:
        """Begin a conversation; what the peer calls it."""

    def send(self, conversation: str, text: str) -> int:
        """The HTTP status that another input got."""

    def is_busy(self, conversation: str) -> bool:
        """Whether it says that an answer is being made."""

    def lines(self, conversation: str) -> Sequence[Line]:
        """All that was said, as it tells it."""

    def filled(self, messages: int) -> str:
        """A conversation of so many messages, at rest."""

    def polls(self, conversation: str) -> Sequence[Poll]:
        """Each way to poll that its own client has, the cheapest first."""

    def processes(self) -> Sequence[int]:
        """The processes that answer, for the CPU that they take."""

    def crash(self) -> None:
        """Kill what works on an answer, at once and for good."""

    def start_again(self) -> None:
        """Have it run as it did before the crash, on what it kept."""

    def pass_time(self) -> None:
        """Have it do now what it does by itself from time to time."""
