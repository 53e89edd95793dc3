"""Instants as the contract writes them, and the deployment's clock as far as one can know it from outside."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

_UTC_ISO_8601 = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)")


def instant(text: object) -> datetime:
    """The instant that *text* is, which must be UTC ISO 8601."""
    assert isinstance(text, str), f"{text!r} is no text"
    assert _UTC_ISO_8601.fullmatch(text), f"{text} is not UTC ISO 8601"
    return datetime.fromisoformat(text)


def here() -> datetime:
    """What the clock of this machine says."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class Clock:
    """How far the deployment's clock may be ahead of ours: something between *least* and *most*."""

    least: timedelta
    most: timedelta

    @classmethod
    def read(cls, *, asked: datetime, received: str, answered: datetime) -> "Clock":
        """What follows from a request *asked* and *answered* by our clock, and *received* by theirs."""
        return cls(instant(received) - answered, instant(received) - asked)

    def surely_after(self, ours: datetime, theirs: datetime) -> bool:
        """What we sent at *ours* arrived when *theirs* was over."""
        return ours + self.least >= theirs

    def surely_before(self, ours: datetime, theirs: datetime) -> bool:
        """What we had in hand at *ours* was made before *theirs*."""
        return ours + self.most < theirs


def clock_of(asked: datetime, accepted: httpx.Response) -> Clock:
    """The deployment's clock, by the input it *accepted* just now."""
    return Clock.read(asked=asked, received=accepted.headers["received-at"], answered=here())
