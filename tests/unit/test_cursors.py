"""Cursors: a place has one cursor, and whatever else a caller sends is refused before anything is read."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.specimens import NOW
from tests.support.strategies import instants
from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.domain.manifest import NAME
from turnkeeper.service.cursors import (
    Place,
    read_name,
    read_place,
    read_position,
    write_name,
    write_place,
    write_position,
)

TASK_ID = "0123456789abcdef" * 2
AT = "2026-11-30T12:00:00.000000Z"
counts = st.integers(0, 10**9)
places = st.builds(Place, at=instants, taken=counts, pending=counts) | st.builds(Place, pending=counts)


def encoded(position: Any) -> str:
    text = position if isinstance(position, str) else json.dumps(position, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


NO_CURSORS = {
    "nothing": "",
    "no base64": "%%%",
    "no ASCII": "é",
    "no JSON": encoded("[1,"),
    "not UTF-8": base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    "too long": "A" * 201,
    "an object": encoded({}),
    "a number": encoded(1),
    "null": encoded(None),
    "an empty list": encoded([]),
    "padded": encoded([AT, 0, 0]) + "=" * (-len(encoded([AT, 0, 0])) % 4 or 4),
    "spaced": encoded(f'["{AT}", 0, 0]'),
    "followed by a newline": encoded([AT, 0, 0]) + "\n",
    "in the alphabet of others": encoded([AT, 0, 0]).replace("-", "+").replace("_", "/") + "+",
}
NO_PLACES = NO_CURSORS | {
    "a position in a list": write_position((NOW, TASK_ID)),
    "one too many": encoded([AT, 0, 0, 0]),
    "taken below zero": encoded([AT, -1, 0]),
    "pending below zero": encoded([AT, 0, -1]),
    "taken of nothing": encoded(["", 1, 0]),
    "a truth value": encoded([AT, True, 0]),
    "a fraction": encoded([AT, 0.5, 0]),
    "a huge number": encoded(f'["{AT}",0,{"9" * 150}e1]'),
    "no instant": encoded(["yesterday", 0, 0]),
    "an instant without its digits": encoded(["2026-11-30T12:00:00Z", 0, 0]),
    "an instant elsewhere": encoded(["2026-11-30T12:00:00.000000+01:00", 0, 0]),
    "an instant on no calendar": encoded(["2026-13-30T12:00:00.000000Z", 0, 0]),
    "an instant in other digits": encoded(["٢٠٢٦-11-30T12:00:00.000000Z", 0, 0]),
}
NO_POSITIONS = NO_CURSORS | {
    "a place in a conversation": write_place(Place(at=NOW)),
    "another id": encoded([AT, "X" * 32]),
    "no instant": encoded(["yesterday", TASK_ID]),
    "a user's name besides": encoded([AT, TASK_ID, "bob"]),
}


@given(places)
def test_a_place_comes_back_from_its_cursor(place: Place) -> None:
    assert read_place(write_place(place)) == place


@given(instants, st.text("0123456789abcdef", min_size=32, max_size=32))
def test_a_position_comes_back_from_its_cursor(created_at: Any, task_id: str) -> None:
    assert read_position(write_position((created_at, task_id))) == (created_at, task_id)


@given(st.from_regex(NAME, fullmatch=True))
def test_a_name_comes_back_from_its_cursor(name: str) -> None:
    assert read_name(write_name(name)) == name


@pytest.mark.parametrize("value", [[], [1], ["No!"], ["a", "b"], "a", {"a": 1}, ["a" * 65], [["a"]]])
def test_what_is_no_place_in_the_list_of_agents_is_refused_by_the_name_of_its_parameter(value: Any) -> None:
    with pytest.raises(MalformedRequest) as refused:
        read_name(encoded(value))
    assert [place.at for place in refused.value.places] == ["cursor"]


@given(places)
def test_a_cursor_fits_into_a_url_as_it_is(place: Place) -> None:
    assert set(write_place(place)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")


@pytest.mark.parametrize("name", NO_PLACES)
def test_what_is_no_place_in_a_conversation_is_refused_by_the_name_of_its_parameter(name: str) -> None:
    with pytest.raises(MalformedRequest) as refused:
        read_place(NO_PLACES[name])
    assert [place.at for place in refused.value.places] == ["after"]


@pytest.mark.parametrize("name", NO_POSITIONS)
def test_what_is_no_position_in_a_list_is_refused_by_the_name_of_its_parameter(name: str) -> None:
    with pytest.raises(MalformedRequest) as refused:
        read_position(NO_POSITIONS[name])
    assert [place.at for place in refused.value.places] == ["cursor"]


@given(st.text(max_size=210))
def test_whatever_a_caller_sends_is_a_cursor_of_ours_or_malformed(text: str) -> None:
    for read in (read_place, read_position, read_name):
        with pytest.raises(MalformedRequest):
            read(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just(AT), st.lists))
def test_whatever_is_encoded_is_a_cursor_of_ours_or_malformed(value: Any) -> None:
    try:
        place = read_place(encoded(value))
    except MalformedRequest:
        return
    assert write_place(place) == encoded(value)
