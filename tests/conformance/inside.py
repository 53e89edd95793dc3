"""The tests that look inside: they show what no answer over HTTP can, and stand where what they test is tested.

They import the product, so they say nothing of a deployment that somebody else brought up.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
FOLDERS = ("unit", "integration")
"""Where they may stand: the other suites are slow, and about what shows over HTTP."""

_ASC = re.compile(r"(?:INV|MOD|REG|ENV|RET|SEC|CMP|PROF|MAP)-\d+|BND-[A-Z0-9]+(?:-\d)?")


def marks_of(path: Path) -> set[str]:
    """The clauses that the tests in *path* are marked with."""
    source = path.read_text(encoding="utf-8")
    if "mark.clause(" not in source:
        return set()
    return {
        mark.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.clause"
        for mark in node.args
        if isinstance(mark, ast.Constant) and isinstance(mark.value, str)
    }


def is_about_agent_status(path: Path) -> bool:
    """A test in *path* is marked with a clause of Agent Status Codes."""
    return any(map(_ASC.fullmatch, marks_of(path)))


def inside() -> Iterator[Path]:
    """Every file whose tests name a clause of Agent Status Codes."""
    for folder in FOLDERS:
        yield from filter(is_about_agent_status, sorted((TESTS / folder).rglob("test_*.py")))
