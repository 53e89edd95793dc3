"""The conformance suite is held to knowing nothing of the product, and to noticing what it lacks."""

import ast
import sys
from pathlib import Path

import pytest

from tests.conformance.clauses import Clause, Result, clauses, gaps, rows
from tests.conformance.scoreboard import Scoreboard, written
from tests.conformance.target import VARIABLES, NotToldEnough, Target

pytest_plugins = ["pytester"]

SUITE = Path(__file__).parents[1] / "conformance"
SOURCES = sorted(SUITE.glob("*.py"))
LIBRARIES = frozenset({"botocore", "httpx", "pytest", "rich"})
BRINGS_UP = SUITE / "offline_stack.py"

A, B = Clause("TS-1", "must", "One"), Clause("TS-2", "must", "Two")
NEXT = Clause("TS-3", "must", "Three", deferred="guardrails", is_deferred_whole=True)
KNOWN = (A, B, NEXT)


def imports(source: str) -> set[str]:
    """The modules that *source* imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


def knows_the_product(source: str) -> set[str]:
    """The modules that *source* imports and a black-box test must not."""
    return {
        module
        for module in imports(source)
        if module.partition(".")[0] not in LIBRARIES | sys.stdlib_module_names
        and not module.startswith("tests.conformance.")
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_it_imports_nothing_of_ours_but_itself(path: Path) -> None:
    found = knows_the_product(path.read_text(encoding="utf-8"))

    assert {module for module in found if not (path == BRINGS_UP and module.startswith("offline"))} == set()


@pytest.mark.parametrize(
    "source",
    [
        "import turnkeeper.domain",
        "from turnkeeper import settings",
        "from tests.support.deployed import SHORT",
        "from infra import cli",
        "from offline.engine import Engine",
        "import boto3",
        "from ..support import hosts",
        "def later():\n    from scripts import demo",
    ],
)
def test_a_source_that_does_is_noticed(source: str) -> None:
    assert knows_the_product(source)


def test_only_the_fixtures_bring_up_a_deployment() -> None:
    name = f"tests.conformance.{BRINGS_UP.stem}"

    assert {path.name for path in SOURCES if name in imports(path.read_text())} == {"conftest.py"}


def test_every_clause_that_is_not_deferred_needs_a_test() -> None:
    found = gaps(KNOWN, [Result("test_a", ("TS-1",), passed=True)])

    assert found == ["TS-2 has no test"]


def test_a_test_names_a_clause_and_one_that_there_is() -> None:
    whole = [Result("test_a", ("TS-1", "TS-2"), passed=True)]

    assert gaps(KNOWN, whole) == []
    assert gaps(KNOWN, [*whole, Result("test_b", (), passed=True)]) == ["test_b names no clause"]
    assert gaps(KNOWN, [*whole, Result("test_b", ("TS-9z",), passed=True)]) == [
        "test_b names TS-9z, which is no clause"
    ]


def test_a_clause_with_tests_is_not_deferred() -> None:
    found = gaps(KNOWN, [Result("test_a", ("TS-1", "TS-2", "TS-3"), passed=True)])

    assert found == ["TS-3 is listed as deferred, and has tests"]


def test_a_clause_fails_with_one_of_its_tests() -> None:
    results = [Result("a", ("TS-1",), passed=True), Result("b", ("TS-1", "TS-2"), passed=False)]

    scored = rows(KNOWN, results)

    assert [(row.passed, row.failed, row.verdict) for row in scored] == [
        (1, 1, "FAILS"),
        (0, 1, "FAILS"),
        (0, 0, "deferred"),
    ]


def test_the_list_says_of_each_clause_what_it_is_about() -> None:
    known = clauses()

    assert {clause.level for clause in known} <= {"must", "should", "may"}
    assert all(clause.rule for clause in known)
    assert len({clause.id for clause in known}) == len(known)


@pytest.mark.parametrize(
    ("tests", "arguments", "outcome", "says"),
    [
        ({"test_a": "TS-1", "test_b": "TS-2"}, [], 0, "*TS-1*holds*"),
        ({"test_a": "TS-1"}, [], 1, "TS-2 has no test"),
        (
            {"test_a": "TS-1", "test_b": "TS-2", "test_c": "TS-7"},
            [],
            1,
            "*test_c names TS-7, which is no clause",
        ),
        ({"test_a": "TS-1", "test_b": "TS-2"}, ["-k", "test_a"], 0, "A part of the suite did not run*"),
        ({"test_a": "TS-1"}, ["test_it.py"], 0, "A part of the suite did not run*"),
        ({"test_a": "TS-1"}, ["--collect-only"], 0, "*tests collected*"),
    ],
    ids=["whole", "a gap", "an unknown id", "a part, deselected", "a part, named", "none"],
)
def test_a_run_of_the_whole_suite_fails_for_a_gap(
    pytester: pytest.Pytester, tests: dict[str, str], arguments: list[str], outcome: int, says: str
) -> None:
    marked = [f'@pytest.mark.clause("{clause}")\ndef {name}(): pass' for name, clause in tests.items()]
    pytester.makepyfile(test_it="import pytest\n" + "\n".join(marked))
    pytester.makepyfile(test_also='import pytest\n@pytest.mark.clause("TS-1")\ndef test_also(): pass')
    scoreboard = Scoreboard(pytester.path, KNOWN, pytester.path / "report.md")

    run = pytester.runpytest_inprocess(*arguments, plugins=[scoreboard])

    assert run.ret == outcome
    run.stdout.fnmatch_lines([says])


def test_the_report_is_the_same_for_the_same_results() -> None:
    results = [Result("a", ("TS-1",), passed=True), Result("b", ("TS-2",), passed=True)]

    page = written(rows(KNOWN, results))

    assert page == written(rows(KNOWN, reversed(results)))
    assert "Of 3 clauses 2 hold as far as their tests can tell, and 1 are deferred." in page
    assert "| TS-3 | must | Three | 0 | 0 | 0 | deferred (not yet: guardrails) |" in page


def test_a_run_elsewhere_says_what_it_was_not_told() -> None:
    told = dict.fromkeys(VARIABLES, "x")

    assert Target.told("https://example.test/", told).base_url == "https://example.test"
    for name in VARIABLES:
        with pytest.raises(NotToldEnough, match=name):
            Target.told("https://example.test", told | {name: ""})
