"""A message that is made here keeps the bounds of one that is sent, part by part (CP-1 to CP-3)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.domain.content import text, wrong_places
from turnkeeper.domain.errors import InvalidInput
from turnkeeper.edge import requests

PART = {"mimeType": "text/plain", "text": "hi"}


def is_sendable(message: object) -> bool:
    """People may send *message*."""
    try:
        requests.input_content({"body": json.dumps({"message": message})})
    except InvalidInput:
        return False
    return True


def metadata_of(size: int) -> dict[str, str]:
    return {"k": "é" * ((size - len('{"k":""}')) // 2) + "a" * ((size - len('{"k":""}')) % 2)}


BOUNDS: dict[str, tuple[object, object]] = {
    "64 parts": ([PART] * 64, [PART] * 65),
    "1 part": ([PART], []),
    "100,000 bytes": (text("é" * 50_000)["message"], text("é" * 50_000 + "a")["message"]),
    "100,000 bytes of emoji": (text("😀" * 25_000)["message"], text("😀" * 25_000 + "a")["message"]),
    "8 KB of metadata": (
        [{**PART, "metadata": metadata_of(8_192)}],
        [{**PART, "metadata": metadata_of(8_193)}],
    ),
    "a size that is a number": (
        [{"mimeType": "text/plain", "text": "a", "sizeBytes": 1}],
        [{"mimeType": "text/plain", "text": "a", "sizeBytes": True}],
    ),
    "a size that is a whole number": ([{**PART, "sizeBytes": 2}], [{**PART, "sizeBytes": 2.0}]),
    "a true size": ([{"mimeType": "text/plain", "text": "é", "sizeBytes": 2}], [{**PART, "sizeBytes": 1}]),
}


@pytest.mark.clause("CP-1")
@pytest.mark.clause("CP-2")
@pytest.mark.clause("CP-3")
@pytest.mark.parametrize("name", BOUNDS)
def test_what_is_at_a_bound_is_taken_by_both_and_what_is_beyond_it_by_none(name: str) -> None:
    within, beyond = BOUNDS[name]

    assert list(wrong_places(within)) == []
    assert is_sendable(within)
    assert list(wrong_places(beyond))
    assert not is_sendable(beyond)


PARTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["mimeType", "text", "file", "sizeBytes", "metadata", "data"]),
    st.sampled_from(["text/plain", "hi", 2, 2.0, True, None, {}, {"a": [1]}, [], "text/html"]),
    max_size=5,
)
LIKELY = st.builds(lambda odd: {**PART, **odd}, PARTS)


@given(
    st.lists(LIKELY | PARTS | st.sampled_from([None, "hi", []]), max_size=3)
    | st.sampled_from([None, "hi", {}])
)
def test_both_take_the_same_messages(message: Any) -> None:
    """Any file may be sent: the edge does not know which there are."""
    files = {"text/plain", "hi", "text/html"}

    assert (list(wrong_places(message, files)) == []) is is_sendable(message)


@pytest.mark.clause("CP-4")
def test_what_is_made_here_names_no_file_that_was_not_there() -> None:
    part = {"mimeType": "text/csv", "file": "task://x/a.csv", "sizeBytes": 3}

    assert list(wrong_places([part], {"task://x/a.csv"})) == []
    assert [place.at for place in wrong_places([part, PART, part], {"task://x/b.csv"})] == [
        "message[0]",
        "message[2]",
    ]


def test_each_wrong_part_is_named() -> None:
    assert [place.at for place in wrong_places([PART, 1, PART, {"mimeType": "text/plain"}])] == [
        "message[1]",
        "message[3]",
    ]
    assert [place.at for place in wrong_places([{**PART, "text": "\ud800"}])] == ["message[0]"]
