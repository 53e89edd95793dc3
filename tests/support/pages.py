"""The pages of docs/ as tests read them: their fenced blocks, in order."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infra import ROOT

DOCS = ROOT / "docs"
FENCE = re.compile(r'^( *)```(\w*)(?: title="([^"\n]*)")?[^\n]*\n(.*?)^\1```$', re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title, its text, and the line on which that begins."""

    language: str
    title: str
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of docs/*page*."""
    yield from blocks_of((DOCS / page).read_text(encoding="utf-8"))


def blocks_of(text: str) -> Iterator[Block]:
    """The fenced blocks of a page's *text*."""
    for found in FENCE.finditer(text):
        inner = "".join(line.removeprefix(found[1]) for line in found[4].splitlines(keepends=True))
        yield Block(found[2], found[3] or "", inner, text.count("\n", 0, found.start(4)) + 1)


def blocks_in(page: str, language: str) -> list[str]:
    """The blocks of docs/*page* in that *language*."""
    return [block.text for block in blocks(page) if block.language == language]


def run_python(page: str) -> dict[str, Any]:
    """What the Python blocks of docs/*page*, one after the other, leave defined."""
    names: dict[str, Any] = {"__name__": Path(page).stem}
    for block in blocks(page):
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.text, str(DOCS / page), "exec")
            exec(code, names)  # noqa: S102 - our own pages
    return names
