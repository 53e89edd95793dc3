"""Deny messages: a text with the values of expressions in it."""

from typing import Any

import pytest

from turnkeeper.guards.syntax import ExpressionRefused
from turnkeeper.guards.templates import Hole, ValueMissing, filled, parts


def test_braces_hold_expressions_and_double_braces_are_braces() -> None:
    assert parts("A {input.a} of {{x}} costs {b['}'] + \"{\"}.") == (
        "A ",
        Hole("input.a"),
        " of {x} costs ",
        Hole("b['}'] + \"{\""),
        ".",
    )
    assert parts("{ {'a': 1}.a }") == (Hole(" {'a': 1}.a "),)
    assert parts("{'it\\'s }'}") == (Hole("'it\\'s }'"),)
    assert parts("no more }") == ("no more }",)
    assert parts("") == ()


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("template", ["{", "a {input.a", "{'}", "{(}", "{[1)}"])
def test_a_brace_that_nothing_closes_is_refused_where_it_opens(template: str) -> None:
    with pytest.raises(ExpressionRefused, match=r"opens a brace at character \d that nothing closes"):
        parts(template)


@pytest.mark.clause("AG-1")
def test_a_template_has_1024_bytes_and_8_expressions() -> None:
    parts("é" * 512)
    parts("{a}" * 8)

    with pytest.raises(ExpressionRefused, match="is 1025 bytes; at most 1024 are taken"):
        parts("é" * 512 + "a")
    with pytest.raises(ExpressionRefused, match="has more than 8 expressions"):
        parts("{a}" * 9)


@pytest.mark.clause("AG-2")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("it", "it"),
        ("", ""),
        (3, "3"),
        (900.0, "900"),
        (900.5, "900.5"),
        (1e300, str(int(1e300))),
        (True, "true"),
        (None, "null"),
        ({"é": [1, "a"]}, '{"é": [1, "a"]}'),
    ],
)
def test_a_value_is_written_as_a_reader_wants_it(value: object, text: str) -> None:
    assert filled("<{x}>", {"x": value}.__getitem__) == f"<{text}>"


@pytest.mark.clause("AG-3")
@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_what_grows_too_long_is_cut_between_characters(character: str) -> None:
    text = filled("{x}", lambda _: character * 5_000)

    assert 1_020 <= len(text.encode()) <= 1_024
    assert text == character * (len(text) - 1) + "…"
    assert filled("{x}", lambda _: "é" * 512) == "é" * 512


def test_a_value_that_is_missing_is_said() -> None:
    def missing(expression: str) -> Any:
        raise ValueMissing(expression)

    with pytest.raises(ValueMissing):
        filled("a {b}", missing)
