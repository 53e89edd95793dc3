"""What is YAML to us: one document that says what JSON can say, alike to every reader."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.edge import strict_yaml


def refusal(text: str) -> str:
    with pytest.raises(MalformedRequest) as refused:
        strict_yaml.read(text)
    assert [place.at for place in refused.value.places] == ["body"]
    return refused.value.places[0].problem


def test_a_document_is_read_as_it_was_meant() -> None:
    text = """
--- # a comment
name: order_desk
prompt: |
  You work here.
  Be brief.
limits: {max_turns: 20, ratio: 1.50, less: -2, much: 1e3, "quoted": "5"}
empty:
nothing: ~
neither: null
yes_and_no: [true, false]
nested:
  - - a
    - 'it''s'
  - b: "x\\u00e9"
version: 1.2.3
time: "2026-11-30"
"""
    assert strict_yaml.read(text) == {
        "name": "order_desk",
        "prompt": "You work here.\nBe brief.\n",
        "limits": {"max_turns": 20, "ratio": 1.5, "less": -2, "much": 1000.0, "quoted": "5"},
        "empty": None,
        "nothing": None,
        "neither": None,
        "yes_and_no": [True, False],
        "nested": [["a", "it's"], {"b": "xé"}],
        "version": "1.2.3",
        "time": "2026-11-30",
    }


@pytest.mark.parametrize("text", ["- a", "a", "3", "''", "# nothing", "---", "~"])
def test_a_document_must_be_a_mapping(text: str) -> None:
    assert refusal(text) == "must be a mapping"


WORDS = """
    yes No on OFF True NULL 0777 0o17 0x1F 0b1 1_000 1:30 2026-11-30 2026-11-30T12:00:00Z
    +1 .5 +.5 1. 01 .inf -.INF .NaN = <<
"""


@pytest.mark.parametrize("word", WORDS.split())
def test_what_two_readers_take_for_two_things_must_be_quoted(word: str) -> None:
    assert refusal(f"b: 1\na: {word}") == (
        f"has {word} at line 2, column 4, which not every reader takes for the same: quote it"
    )
    assert strict_yaml.read(f"a: '{word}'") == {"a": word}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: &x 1", "has an anchor at line 1, column 4; write it out"),
        ("a: &x [1]", "has an anchor at line 1, column 4; write it out"),
        ("&x a: 1", "has an anchor at line 1, column 1; write it out"),
        ("&x {a: 1}", "has an anchor at line 1, column 1; write it out"),
        ("a: *x", "has an anchor at line 1, column 4; write it out"),
        ("a: !!python/object:os.system x", "has a tag at line 1, column 4; leave it out"),
        ("a: !!str 1", "has a tag at line 1, column 4; leave it out"),
        ("a: !x {}", "has a tag at line 1, column 4; leave it out"),
        (
            "a: 1\n<<: {b: 1}",
            "has << at line 2, column 1, which not every reader takes for the same: quote it",
        ),
        ("a: 1\n'a': 2", 'has the key "a" twice in one mapping at line 2, column 1'),
        ("a: {b: 1, b: 1}", 'has the key "b" twice in one mapping at line 1, column 11'),
        ("1: a", "has a key that is no text at line 1, column 1; quote it"),
        ("true: a", "has a key that is no text at line 1, column 1; quote it"),
        ("? [a]\n: b", "has a key that is no text at line 1, column 3; quote it"),
        ("? {a: b}\n: b", "has a key that is no text at line 1, column 3; quote it"),
        ("a: 1\n---\nb: 1", "has a second document at line 2, column 1"),
        ("a: 9223372036854775808", "has a number that is too large at line 1, column 4"),
        ("a: 1e999", "has a number that is too large at line 1, column 4"),
        ("a: " + "1" * 101, "has a number that is too large at line 1, column 4"),
        ("a: [1", "is not YAML at line 2, column 1"),
        ("a: b: c", "is not YAML at line 1, column 5"),
        ('a: "\\q"', "is not YAML at line 1, column 5"),
        ("\ta: 1", "is not YAML at line 1, column 1"),
        ("a: \x00", "is not YAML"),
    ],
)
def test_what_is_more_than_json_or_less_than_yaml_is_refused_with_its_place(text: str, problem: str) -> None:
    assert refusal(text).startswith(problem)


def test_64_levels_are_taken_and_a_65th_is_refused() -> None:
    assert strict_yaml.read("a: " + "[" * 63 + "]" * 63)
    assert refusal("a: " + "[" * 64 + "]" * 64).startswith("is nested deeper than 64 at line 1, column ")
    assert refusal("a: " + "[" * 60_000).startswith("is n")


@pytest.mark.parametrize(
    "text",
    [
        "a: [" + "[]," * 40_000 + "]",
        "".join(f"k{n}: {n}\n" for n in range(12_000)),
        "a: '" + "x" * 120_000 + "'",
    ],
)
def test_the_longest_body_is_read_in_no_time(text: str) -> None:
    started = time.perf_counter()

    assert strict_yaml.read(text)
    assert time.perf_counter() - started < 2


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(-1e9, 1e9, allow_nan=False)
    | st.text("ab é\"'\\:#-\n", max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab:", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc", min_size=1), JSON, max_size=3))
def test_json_is_yaml_and_means_the_same(value: dict[str, Any]) -> None:
    assert strict_yaml.read(json.dumps(value)) == value


@given(st.text(alphabet="ab:-{}[],&*!<>|'\"#? \n\t1%@`", max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        value = strict_yaml.read(text)
    except MalformedRequest:
        return
    assert json.loads(json.dumps(value)) == value
