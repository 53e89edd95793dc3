"""What a task waits for and what came of it, as nested maps of its item; they keep what a newer version put there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind
from turnkeeper.store.wire import Item

_WAIT = frozenset({"id", "kind", "since", "deadline", "provider", "needed_at", "reviewer", "child"})
_RESOLUTION = frozenset({"id", "kind", "verdict", "at", "child", "review"})


def text(instant: datetime | None) -> str | None:
    """*instant* as it is stored, if there is one."""
    return to_text(instant) if instant else None


def instant(text: str | None) -> datetime | None:
    """The instant that *text* is, if there is one."""
    return from_text(text) if text else None


def unknown_in(stored: Item, known: frozenset[str]) -> Item:
    """What *stored* has and *known* does not name: a newer version put it there."""
    return {name: value for name, value in stored.items() if name not in known}


def present(attributes: Item, unknown: Mapping[str, Any]) -> Item:
    """*attributes* but for those that are None, and what is *unknown* with them."""
    return {**unknown, **{name: value for name, value in attributes.items() if value is not None}}


def wait_to_map(wait: Wait) -> Item:
    """*wait*, without what it does not name."""
    known = {
        "id": wait.id,
        "kind": wait.kind.value,
        "since": to_text(wait.since),
        "deadline": to_text(wait.deadline),
        "provider": wait.provider,
        "needed_at": text(wait.needed_at),
        "reviewer": wait.reviewer,
        "child": wait.child,
    }
    return present(known, wait.unknown)


def wait_from_map(stored: Item) -> Wait:
    """The wait that *stored* holds."""
    return Wait(
        id=stored["id"],
        kind=WaitKind(stored["kind"]),
        since=from_text(stored["since"]),
        deadline=from_text(stored["deadline"]),
        provider=stored.get("provider"),
        needed_at=instant(stored.get("needed_at")),
        reviewer=stored.get("reviewer"),
        child=stored.get("child"),
        unknown=unknown_in(stored, _WAIT),
    )


def resolution_to_map(resolution: Resolution) -> Item:
    """*resolution*, without what it does not name."""
    known = {
        "id": resolution.wait_id,
        "kind": resolution.kind.value,
        "verdict": resolution.verdict.value,
        "at": to_text(resolution.at),
        "child": resolution.child,
        "review": resolution.review,
    }
    return present(known, resolution.unknown)


def resolution_from_map(stored: Item) -> Resolution:
    """The resolution that *stored* holds."""
    return Resolution(
        wait_id=stored["id"],
        kind=WaitKind(stored["kind"]),
        verdict=Verdict(stored["verdict"]),
        at=from_text(stored["at"]),
        child=stored.get("child"),
        review=stored.get("review"),
        unknown=unknown_in(stored, _RESOLUTION),
    )
