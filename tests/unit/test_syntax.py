"""The bounds that an expression keeps before the library sees it."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.guards import syntax
from turnkeeper.guards.syntax import ExpressionRefused, check


def refusal(expression: str) -> str:
    with pytest.raises(ExpressionRefused) as refused:
        check(expression)
    return refused.value.problem


@pytest.mark.parametrize(
    "expression",
    [
        "input.amount <= 500.0 || review(context.user.id)",
        "!output.message.exists(p, p.text.contains('CARD-'))",
        "{'a': [1u, 0x1F, -2, 1e3, .5, true, null], \"b\": b'x'}['a'][0] % 2 != 0 ? 'y' : 'n'",
        "r'\\d+' + R\"[\" + '''it's\n''' + \"\"\"a \"quoted\" one\"\"\" + 'it\\'s' + '\\\\'",
        "// a comment\n1 + 2 // and ] another",
        "'é😀' == input.text",
    ],
)
def test_what_people_write_is_within_bounds(expression: str) -> None:
    check(expression)


def test_the_names_that_macros_bind_are_found() -> None:
    assert check("a.map(x, x.all(y, y == z)) && b.c.filter(w, w) && all(q, q) && e.f(g)") == {"x", "y", "w"}


@pytest.mark.clause("AG-1")
def test_an_expression_has_2048_bytes_and_not_one_more() -> None:
    check(f"'{'é' * 1023}'")

    assert refusal(f"'{'é' * 1023}a'") == "is 2049 bytes; at most 2048 are taken"


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize(("opening", "closing"), ["()", "[]", "{}"])
def test_brackets_nest_16_deep_and_not_deeper(opening: str, closing: str) -> None:
    check(opening * 16 + closing * 16)

    assert refusal(opening * 17 + closing * 17) == "is nested deeper than 16"


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("chain", ["1+", "!", "-", "a?b:", "a.b.", "1 && "])
def test_a_chain_of_any_kind_ends_at_400_tokens(chain: str) -> None:
    tokens = len(syntax._tokens(chain))  # noqa: SLF001 - to end exactly at the bound
    whole, rest = divmod(syntax.MOST_TOKENS, tokens)

    check(chain * whole + "!" * rest)

    assert refusal(chain * whole + "!" * (rest + 1)) == "has more than 400 names, signs and values"


@pytest.mark.clause("AG-1")
def test_there_are_8_macros_and_2_within_one_another() -> None:
    check(" && ".join(["a.all(x, x)"] * 8))
    check("a.all(x, b.map(y, y))")
    check("a.all(x, x).b(c.all(y, y).all(z, z))")

    assert refusal(" && ".join(["a.all(x, x)"] * 9)) == "has more than 8 macros"
    assert refusal("a.all(x, b.map(y, c.filter(z, z)))") == "has macros nested deeper than 2"
    assert refusal("a.all(x, b.map (y, [{'a': c.exists_one\n(z, z)}]))") == "has macros nested deeper than 2"


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("(1", "lacks a ) at its end"),
        ("1)", "closes at character 2 what was not opened"),
        ("[1)", "closes at character 3 what was not opened"),
        ("'a", "cannot be read at character 1"),
        ("a & b", "cannot be read at character 3"),
        ("a\\b", "cannot be read at character 2"),
        ("é", "cannot be read at character 1"),
        ("'a\nb'", "cannot be read at character 1"),
        ("\ud800", "cannot be read at character 1"),
    ],
)
def test_what_cannot_be_read_is_refused_where_it_stands(expression: str, problem: str) -> None:
    assert refusal(expression) == problem


def test_brackets_and_macros_in_texts_and_comments_are_none() -> None:
    assert check("'((((((((((((((((((((' + \"a.all(x, \" // ]]]]") == frozenset()


@given(st.text(alphabet="'\"\\rRbB ()[]{}a.1\n/", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ExpressionRefused):
        check(text)
