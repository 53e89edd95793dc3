"""The conversation: inputs as they arrived, and the transcript of what was committed and answered.

An input's content is written once. The transcript says when ranges of inputs were committed, so starting a turn
costs the same however many inputs it takes.
"""

from dataclasses import dataclass
from datetime import datetime

from turnkeeper.domain.instants import MICROSECOND

type Range = tuple[int, int]
"""Input numbers from the first to the last, both included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """What the responsible user sent: *content* is one JSON object as text, its number counts from 1."""

    number: int
    received_at: datetime
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A turn's start: these inputs entered the conversation, the k-th k microseconds after *at* (IO-2, IO-5)."""

    at: datetime
    ranges: tuple[Range, ...]
    refused: frozenset[int] = frozenset()
    """Those of them that a guardrail denied: they are listed, and never shown to the model (AG-3)."""
    token: str | None = None
    """Under which lies what a guardrail made of some of them."""

    @property
    def count(self) -> int:
        """How many inputs it commits."""
        return count(self.ranges)

    @property
    def last(self) -> datetime:
        """When its last input was committed."""
        return self.at + (self.count - 1) * MICROSECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What the agent said: the *ordinal*-th output of its turn; *content* is one JSON object as text."""

    at: datetime
    turn: int
    ordinal: int
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """What one reference named when it was made: this version of the file, whatever becomes of the file later."""

    uri: str
    version: str
    size: int
    kind: str
    """Its MIME type, as whoever stored it said."""


type Entry = Commit | Output


def count(ranges: tuple[Range, ...]) -> int:
    """How many numbers *ranges* hold."""
    return sum(last - first + 1 for first, last in ranges)
