"""The tutorial, followed line by line: what it has one type is typed, and what it shows must be what is answered."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra import ROOT
from offline.engine import free_port, is_taken
from tests.support.deployed import eventually
from tests.support.followed import Drifted, Reader, shown
from tests.support.pages import blocks, blocks_of

PAGE = "tutorial.md"


def two_free_ports() -> int:
    """A port that is free, and the next one, too."""
    while is_taken((port := free_port()) + 1):
        pass
    return port


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    port = two_free_ports()
    found = Reader({"PORT": str(port), "TMPDIR": str(tmp_path)})
    yield found
    found.close()
    eventually(lambda: not is_taken(port))
    # Tens of thousands of small files, which nobody has to wait for.
    subprocess.run(["/bin/sh", "-c", 'rm -rf "$0" &', str(ROOT / ".turnkeeper" / str(port))], check=True)


@pytest.mark.timeout(400)
def test_the_tutorial_is_what_happens_to_whoever_follows_it(reader: Reader) -> None:
    reader.follow(blocks(PAGE))

    assert {"make up", "python spender.py"} <= set(reader.typed)
    assert any(line.startswith("turnkeeper approve") for line in reader.typed)


RUN = '```sh title="terminal 1"\n{}\n```\n\n```text\n{}\n```\n'


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("echo three lines; echo; echo here", "three lines\n\nhere"),
        ("echo a; echo b; echo c; echo d", "a\n…\nd"),
        ("printf '  a   b\\n'", " a  b"),
        ("echo it ends 2027-01-31 23:59:59", "it ends 2026-12-07 12:00:01"),
        ("echo took 17 s", "took … s"),
        ("echo abc abc", "<one> <one>"),
    ],
)
def test_what_is_answered_as_the_page_shows_it_is_passed(reader: Reader, command: str, page: str) -> None:
    reader.follow(blocks_of(RUN.format(command, page)))


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("echo Hello, too", "Hello"),
        ("echo Hello", "Hello\nand more"),
        ("echo a; echo b", "a"),
        ("echo abc abd", "<one> <one>"),
        ("echo it ends soon", "it ends 2026-12-07 12:00:01"),
        ("turnkeepr new", "…\nidle"),
        ("true", "Hello"),
    ],
)
def test_what_is_answered_otherwise_is_found(reader: Reader, command: str, page: str) -> None:
    with pytest.raises(Drifted):
        reader.follow(blocks_of(RUN.format(command, page)))


def test_a_name_stands_for_what_stood_there_and_what_was_never_shown_cannot_be_typed(reader: Reader) -> None:
    reader.follow(blocks_of(RUN.format("echo id-17 is made", "<made> is made")))
    reader.follow(blocks_of(RUN.format("echo again: <made>", "again: id-17")))

    with pytest.raises(Drifted, match="lost"):
        reader.follow(blocks_of(RUN.format("echo <lost>", "")))
    assert shown("<made>", reader.known).fullmatch("id-18\n") is None


def test_every_command_of_the_tutorial_has_a_terminal_and_every_file_a_name() -> None:
    for block in blocks(PAGE):
        wanted = {
            "sh": r"terminal \d(, once|, until Ctrl-C)?",
            "text": "",
            "yaml": r"\w+\.yaml",
            "python": r"\w+\.py",
        }
        assert re.fullmatch(wanted[block.language], block.title), f"line {block.line}"
