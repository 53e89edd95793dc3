"""What is JSON to us: what every reader understands alike, and nothing else."""

import base64
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.edge import strict_json

MEGABYTES = 6_000_000
"""What a gateway lets through to a function."""


def refusal(body: str | None, *, is_base64: bool = False) -> str:
    """The words with which *body* is refused."""
    with pytest.raises(MalformedRequest) as refused:
        strict_json.read(body, is_base64=is_base64)
    assert [place.at for place in refused.value.places] == ["body"]
    return refused.value.places[0].problem


def test_an_object_is_read_as_it_was_sent() -> None:
    text = '{"b": [1, -0.5, 1e2, true, null], "a": {"\\ud83d\\ude00": "\\\\ud800 é"}}'

    assert strict_json.read(text) == {"b": [1, -0.5, 100.0, True, None], "a": {"😀": "\\ud800 é"}}


@pytest.mark.parametrize("body", [None, "", "  \r\n"])
def test_an_empty_body_is_called_empty(body: str | None) -> None:
    assert refusal(body) == "is empty; send a JSON object"


@pytest.mark.parametrize("body", ["\x1d", "\u00a0", "\x0c"])
def test_what_is_space_elsewhere_is_none_in_json(body: str) -> None:
    assert "is not JSON" in refusal(body)


@pytest.mark.parametrize("body", ["[]", "3", '"text"', "null", "true"])
def test_a_body_must_be_an_object(body: str) -> None:
    assert refusal(body) == "must be a JSON object"


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("{", "is not JSON at line 1, column 2: Expecting property name enclosed in double quotes"),
        ('{"a":1}x', "is not JSON at line 1, column 8: Extra data"),
        ('{"a":1}\n {}', "is not JSON at line 2, column 2: Extra data"),
        ("{'a': 1}", "is not JSON at line 1, column 2: Expecting property name enclosed in double quotes"),
        ('{"a":"\x01"}', "is not JSON at line 1, column 7: Invalid control character"),
        ('{"a":01}', "is not JSON at line 1, column 7: Expecting ',' delimiter"),
        ("\ufeff{}", "is not JSON at line 1, column 1: Expecting value"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(body: str, problem: str) -> None:
    assert refusal(body) == problem


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_have_are_refused_where_they_stand(literal: str) -> None:
    assert refusal(f'{{"NaN": "Infinity",\n"a": {literal}}}') == (
        f"has {literal}, which is not JSON, at line 2, column 6"
    )


@pytest.mark.parametrize("literal", ["1e999", "-1e999"])
def test_a_number_beyond_every_float_is_refused(literal: str) -> None:
    assert refusal(f'{{"a":{literal}}}') == "has a number that is too large at line 1, column 6"


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63), 0])
def test_integers_of_64_bits_are_taken(number: int) -> None:
    assert strict_json.read(f'{{"a":{number}}}') == {"a": number}


@pytest.mark.parametrize("number", [str(2**63), str(-(2**63) - 1), "1" * 10_000])
def test_integers_beyond_64_bits_are_refused(number: str) -> None:
    assert refusal(f'{{"a":{number}}}') == (
        "has an integer that does not fit into 64 bits at line 1, column 6"
    )


def test_a_number_of_absurd_length_is_refused() -> None:
    assert refusal(f'{{"a":0.{"1" * 200}}}') == "has a number of more than 100 characters at line 1, column 6"


@pytest.mark.parametrize("key", ["a", "\\u0061"])
def test_a_key_may_stand_once_in_an_object_however_it_is_spelled(key: str) -> None:
    assert refusal(f'{{"b": {{"a":1,"{key}":2}}}}') == 'has the key "a" twice in one object'


def test_a_long_key_does_not_come_back_at_length() -> None:
    long = "k" * 10_000

    assert len(refusal(f'{{"{long}":1,"{long}":2}}')) < 100


HALVES = ["\\ud83d", "\\uDC00", "\\ud83d\\u0041", "\\ud83d\\ud83d\\ude00", "\\ude00\\ud83d"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("shape", ['{{"a":"{}"}}', '{{"{}":1}}'])
def test_half_a_surrogate_pair_is_refused_in_values_and_in_keys(half: str, shape: str) -> None:
    problem = refusal(shape.format(half))

    assert problem.startswith("has half a surrogate pair, which is no character, at line 1")


def test_a_body_that_is_no_unicode_is_refused() -> None:
    assert refusal('{"a":"\ud800"}') == "is not UTF-8 at character 6"


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_is_taken_to_its_limit_and_refused_beyond(opening: str) -> None:
    closing = "]" if opening == "[" else "}"
    levels = strict_json.DEEPEST - 1
    brackets_in_text = '"b":"' + "[{" * 100 + '\\"[[["'

    strict_json.read(f'{{{brackets_in_text},"a":{opening * levels}1{closing * levels}}}')

    assert refusal(f'{{"a":{opening * (levels + 1)}1{closing * (levels + 1)}}}').startswith(
        "is nested deeper than 64 at line 1, column "
    )


def test_lists_beside_one_another_are_not_nested() -> None:
    many: list[list[dict[str, int]]] = [[{}]] * 200

    assert strict_json.read(f'{{"a":{strict_json.written(many)}}}') == {"a": many}


def test_a_base64_body_is_unpacked_first() -> None:
    packed = base64.b64encode('{"a":"é"}'.encode()).decode()

    assert strict_json.read(packed, is_base64=True) == {"a": "é"}


@pytest.mark.parametrize("packed", ["!!!", "e30", "e30=\n", "é"])
def test_a_body_that_is_no_base64_is_refused(packed: str) -> None:
    assert refusal(packed, is_base64=True) == "is not base64, although the gateway says so"


def test_a_base64_body_that_is_no_utf8_is_refused() -> None:
    packed = base64.b64encode(b'{"a":"\xff"}').decode()

    assert refusal(packed, is_base64=True) == "is not UTF-8 at byte 6"


HOSTILE = {
    "lists, opened": "[" * MEGABYTES,
    "objects, opened": '{"a":' * (MEGABYTES // 5),
    "a string of escaped quotes, open": '"' + '\\"' * (MEGABYTES // 2),
    "brackets, then such a string": "[]" * 80 + '"' + '\\"' * (MEGABYTES // 2),
    "backslashes": "\\" * MEGABYTES,
    "digits": f'{{"a":{"1" * MEGABYTES}}}',
    "fraction": f'{{"a":1.{"1" * MEGABYTES}}}',
    "minuses": f'{{"a":{"-1." * (MEGABYTES // 3)}}}',
    "NaN in a string, then one outside": f'{{"a":"{"NaN" * (MEGABYTES // 3)}","b":NaN}}',
    "pairs, then a half": f'{{"a":"{"\\ud83d\\ude00" * (MEGABYTES // 12)}\\ud83d"}}',
    "lines": "\n" * MEGABYTES + '{"a":NaN}',
    "one key again and again": "{" + '"a":1,' * (MEGABYTES // 6) + '"a":1}',
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_body_is_refused_in_linear_time(body: str) -> None:
    started = time.perf_counter()

    refusal(body)

    assert time.perf_counter() - started < 3


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBER = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBER | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(st.dictionaries(TEXT, JSON), st.booleans())
def test_what_is_written_reads_back_the_same(sent: dict[str, Any], in_ascii: bool) -> None:  # noqa: FBT001
    text = json.dumps(sent, indent=1) if in_ascii else strict_json.written(sent)

    assert strict_json.read(text) == sent
    assert strict_json.read(strict_json.written(strict_json.read(text))) == sent


@given(st.text() | st.text('[]{}",:\\u0dD8c9e-+.1NaIfity \n'))
def test_anything_is_read_as_an_object_or_refused(body: str) -> None:
    try:
        read = strict_json.read(body)
    except MalformedRequest:
        return

    assert isinstance(read, dict)
    strict_json.written(read).encode()
