"""Cursors: a position and nothing else. Whose list it is comes from the caller, never from the cursor."""

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.manifest import NAME
from turnkeeper.service.owned import TASK_ID
from turnkeeper.store.tasks import Position

LONGEST = 200
_POINTED = re.compile(r"[0-9a-f]{32}([0-9a-f]{16})?", re.ASCII)
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a reader of the conversation has come.

    *at* is the last transcript entry reached, *taken* how many inputs of it when it was not all of them, and *pending*
    the number of the last input that was shown uncommitted.
    """

    at: datetime | None = None
    taken: int = 0
    pending: int = 0


def write_place(place: Place) -> str:
    """The cursor of a place in the conversation."""
    return _encode([to_text(place.at) if place.at else "", place.taken, place.pending])


def read_place(cursor: str) -> Place:
    """The place that *cursor* is; `MalformedRequest` names the query parameter `after`."""
    match _decode(cursor, "after"):
        case [str(at), int(taken), int(pending)] if taken >= 0 and pending >= 0 and (at or not taken):
            # A truth value is an int to Python; as one it is not written as it came.
            place = Place(at=_instant(at, "after") if at else None, taken=int(taken), pending=int(pending))
            return _as_written(place, write_place(place), cursor, "after")
        case _:
            raise bad_cursor("after")


def write_number(number: int) -> str:
    """The cursor of a place in what is numbered."""
    return _encode([number])


def read_number(cursor: str) -> int:
    """The place that *cursor* is; `MalformedRequest` names the query parameter `after`."""
    match _decode(cursor, "after"):
        case [int(number)] if number >= 0:
            return _as_written(int(number), write_number(int(number)), cursor, "after")
        case _:
            raise bad_cursor("after")


def write_position(position: Position) -> str:
    """The cursor of a position in a list of tasks."""
    return _encode([to_text(position[0]), position[1]])


def read_position(cursor: str) -> Position:
    """The position that *cursor* is; `MalformedRequest` names the query parameter `cursor`."""
    match _decode(cursor, "cursor"):
        case [str(created_at), str(task_id)] if TASK_ID.fullmatch(task_id):
            position = _instant(created_at, "cursor"), task_id
            return _as_written(position, write_position(position), cursor, "cursor")
        case _:
            raise bad_cursor("cursor")


def write_pointer(pointer: str) -> str:
    """The cursor of a place in the list of what waits for somebody."""
    return _encode(pointer.split("#"))


def read_pointer(cursor: str) -> str:
    """The place that *cursor* is; `MalformedRequest` names the query parameter `cursor`."""
    match _decode(cursor, "cursor"):
        case [str(since), str(named)] if _POINTED.fullmatch(named):
            _instant(since, "cursor")
            return _as_written(f"{since}#{named}", write_pointer(f"{since}#{named}"), cursor, "cursor")
        case _:
            raise bad_cursor("cursor")


def write_name(name: str) -> str:
    """The cursor of a place in the list of agents."""
    return _encode([name])


def read_name(cursor: str) -> str:
    """The place that *cursor* is; `MalformedRequest` names the query parameter `cursor`."""
    match _decode(cursor, "cursor"):
        case [str(name)] if NAME.fullmatch(name):
            return _as_written(name, write_name(name), cursor, "cursor")
        case _:
            raise bad_cursor("cursor")


def bad_cursor(parameter: str) -> MalformedRequest:
    """The refusal of a cursor that we did not write, or not for this."""
    return MalformedRequest(
        parameter,
        "this is no cursor of ours; send one exactly as it came, or leave it out to start from the beginning",
    )


def _encode(position: Sequence[str | int]) -> str:
    return base64.urlsafe_b64encode(json.dumps(position, separators=(",", ":")).encode()).decode().rstrip("=")


def _decode(cursor: str, parameter: str) -> object:
    if len(cursor) > LONGEST:
        raise bad_cursor(parameter)
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        position: object = json.loads(text)
    except (ValueError, binascii.Error, RecursionError) as error:
        raise bad_cursor(parameter) from error
    return position


def _as_written[T](read: T, written: str, cursor: str, parameter: str) -> T:
    """*read*, if *cursor* is how we would have written it: one place has one cursor."""
    if written != cursor:
        raise bad_cursor(parameter)
    return read


def _instant(text: str, parameter: str) -> datetime:
    if not _INSTANT.fullmatch(text):
        raise bad_cursor(parameter)
    try:
        return from_text(text)
    except ValueError as error:
        raise bad_cursor(parameter) from error
