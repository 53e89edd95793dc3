"""Files are named by their root and their path in it, and no name leads anywhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.domain.uris import FileRefused, FileUri, Root, parse

ALL = frozenset(Root)


def refusal(text: str, available: frozenset[Root] = ALL) -> str:
    with pytest.raises(FileRefused) as refused:
        parse(text, available)
    return refused.value.problem


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("task://report.pdf", FileUri(Root.TASK, "report.pdf")),
        ("agent://skills/é 1.md", FileUri(Root.AGENT, "skills/é 1.md")),
        ("workspace://a/b/.hidden", FileUri(Root.WORKSPACE, "a/b/.hidden")),
        ("task://a..b/...", FileUri(Root.TASK, "a..b/...")),
    ],
)
def test_a_file_is_a_path_in_a_root(text: str, file: FileUri) -> None:
    assert parse(text, ALL) == file
    assert str(file) == text


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    "path",
    [
        "..",
        "../a",
        "a/../b",
        "a/..",
        "./a",
        "a/./b",
        "/etc/passwd",
        "a//b",
        "a/",
        "",
        "/",
        "%2e%2e/a",
        "a/%2E%2E/b",
        "..%2fa",
        "..\\a",
        "a\\..\\b",
        "a\x00b",
        "a\nb",
        "a?b",
        "a#b",
        " ",
        "a/ /b",
        "a\u2028b",
        "\ud800",
        "a" * 1025,
        "é" * 513,
    ],
)
def test_a_path_that_leads_out_or_means_two_things_is_refused(path: str) -> None:
    assert refusal(f"task://{path}").endswith("; available roots: task://, agent://, workspace://")


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/a",
        "http://task/a",
        "s3://bucket/a",
        "file:///etc/passwd",
        "data:text/plain,hi",
        "TASK://a",
        "tasks://a",
        "javascript:alert(1)",
    ],
)
def test_what_is_remote_or_unknown_is_refused_with_the_roots_there_are(text: str) -> None:
    assert refusal(text, frozenset({Root.AGENT, Root.TASK})) == (
        "has a scheme that no root has, and nothing remote is fetched; available roots: task://, agent://"
    )


@pytest.mark.clause("CP-4")
def test_a_root_that_is_not_available_is_refused_and_those_that_are_are_named() -> None:
    assert refusal("workspace://a", frozenset({Root.TASK})) == (
        "is in a root that is not available here; available roots: task://"
    )
    assert refusal("task://a", frozenset()) == (
        "is in a root that is not available here; no root for files is available"
    )


@pytest.mark.parametrize("text", ["", "a.txt", "/a", "://a", "task", "//task/a"])
def test_what_is_no_uri_is_refused(text: str) -> None:
    assert refusal(text).startswith("is no URI of a file; available roots: ")


@pytest.mark.parametrize("text", ["task:a", "task:/a", "task:"])
def test_a_uri_without_its_slashes_is_refused(text: str) -> None:
    assert refusal(text).startswith("lacks the // after its scheme")


@given(st.text(alphabet="ab./\\%:?# \n", max_size=12))
def test_whatever_is_taken_stays_below_its_root(path: str) -> None:
    try:
        file = parse(f"task://{path}", ALL)
    except FileRefused:
        return
    assert str(file) == f"task://{path}"
    assert not {"", ".", ".."} & set(file.path.split("/"))
