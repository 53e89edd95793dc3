"""Whether an If-None-Match already names a revision (RFC 9110)."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.edge import etags


def test_a_tag_is_the_revision_in_quotes() -> None:
    assert etags.tag("r-1") == '"r-1"'


@pytest.mark.parametrize(
    "header",
    [
        '"r-1"',
        'W/"r-1"',
        "*",
        " * ",
        '"a","r-1"',
        '"a" , W/"r-1"',
        ',, "a",\t"r-1" ,',
        ' \t"r-1"\t ',
        '"a,b", "r-1"',
        '"", "r-1"',
    ],
)
def test_a_header_that_names_the_revision_matches(header: str) -> None:
    assert etags.matches(header, "r-1")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        " ",
        ",",
        '"r-2"',
        '"a","b"',
        '"R-1"',
        '"r-1 "',
        '"x,r-1"',
    ],
)
def test_a_header_that_names_others_or_none_does_not_match(header: str | None) -> None:
    assert not etags.matches(header, "r-1")


@pytest.mark.parametrize(
    "header",
    [
        "r-1",
        '"r-1',
        'r-1"',
        "'r-1'",
        'w/"r-1"',
        'W/ "r-1"',
        '"r-1" "b"',
        '"r-1"x',
        '"r-1";q=1',
        '"r-1", *',
        '*, "r-1"',
        '"r-1", b',
        '"r-1"\n',
        '"r-1"\x00',
        '"a\x7f", "r-1"',
    ],
)
def test_a_malformed_header_is_ignored(header: str) -> None:
    assert not etags.matches(header, "r-1")


@pytest.mark.parametrize(
    "header", [" " * 100_000 + "x", ", " * 50_000 + "x", '"' * 100_000, 'W/"a",' * 20_000 + "x"]
)
def test_a_hostile_header_is_read_in_linear_time(header: str) -> None:
    started = time.perf_counter()

    assert not etags.matches(header, "r-1")
    assert time.perf_counter() - started < 1


OPAQUE = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters='"\x7f'), max_size=9
).filter(lambda tag: not any("\x7f" <= character < "\x80" for character in tag))


@given(st.lists(OPAQUE, min_size=1), st.sampled_from([",", ", ", " ,\t", ",,"]), st.sampled_from(["", "W/"]))
def test_each_tag_of_a_list_is_found_and_no_other(tags: list[str], comma: str, weak: str) -> None:
    header = comma.join(f'{weak}"{tag}"' for tag in tags)

    assert all(etags.matches(header, tag) for tag in tags)
    assert not etags.matches(header, "no such revision")
