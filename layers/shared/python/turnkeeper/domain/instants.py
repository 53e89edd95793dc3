"""Instants as text: UTC, always six digits and `Z`, so that text order is time order."""

from datetime import UTC, datetime, timedelta

MICROSECOND = timedelta(microseconds=1)
LATEST = datetime.max.replace(tzinfo=UTC)


def to_text(instant: datetime) -> str:
    """*instant* as `2026-11-30T13:44:13.000000Z`."""
    # strftime writes years before 1000 without their zeros, and then text order is not time order.
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def from_text(text: str) -> datetime:
    """The aware instant that `to_text` wrote."""
    return datetime.fromisoformat(text)


def later(instant: datetime, lasts: timedelta) -> datetime:
    """*instant* and *lasts* after it, or the last instant there is where no calendar goes so far."""
    try:
        return instant + lasts
    except OverflowError:
        return LATEST


def after(now: datetime, last: datetime | None) -> datetime:
    """*now*, or the microsecond after *last* where a clock stands behind it: strictly increasing (IO-3)."""
    return now if last is None else max(now, last + MICROSECOND)
