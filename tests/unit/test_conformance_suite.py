"""The conformance suite is held to knowing nothing of the product, and to noticing what it lacks."""

import ast
import re
import sys
from pathlib import Path

import pytest

from tests.conformance.clauses import Clause, ListRefused, Result, clauses, gaps, rows
from tests.conformance.inside import TESTS, inside, is_about_agent_status, marks_of
from tests.conformance.scoreboard import Scoreboard, cells, written
from tests.conformance.target import VARIABLES, NotToldEnough, Target

pytest_plugins = ["pytester"]

SUITE = Path(__file__).parents[1] / "conformance"
SOURCES = sorted(SUITE.glob("*.py"))
LIBRARIES = frozenset({"botocore", "httpx", "pytest", "rich"})
BRINGS_UP = SUITE / "offline_stack.py"

A, B = Clause("TS-1", "must", "One"), Clause("TS-2", "must", "Two")
NEXT = Clause("TS-3", "must", "Three", deferred="guardrails", is_deferred_whole=True)
KNOWN = (A, B, NEXT)
C = Clause("CMP-1", "must", "Four", is_inside=True)
PROFILE = Clause("PROF-1", "must", "Both", parts=("TS-1", "CMP-1"))
WITH_PROFILE = (A, C, PROFILE)
A_HOLDS = Result("a", ("TS-1",), passed=True)
C_HOLDS = Result("c", ("CMP-1",), passed=True, is_inside=True)


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

    assert [(row.tests, row.failed, row.verdict) for row in scored] == [
        (2, 1, "FAILS"),
        (1, 1, "FAILS"),
        (0, 0, "deferred"),
    ]


def verdicts(*results: Result, looked_inside: bool = True) -> list[str]:
    """What is said of A, of C, which only tests inside show, and of the profile of both."""
    return [row.verdict.value for row in rows(WITH_PROFILE, results, looked_inside=looked_inside)]


def test_a_profile_holds_when_each_of_its_clauses_does() -> None:
    assert verdicts(A_HOLDS, C_HOLDS) == ["holds", "holds", "holds"]


def test_a_profile_fails_with_one_of_its_clauses_and_says_which() -> None:
    scored = rows(WITH_PROFILE, [A_HOLDS, C_HOLDS, Result("d", ("CMP-1",), passed=False, is_inside=True)])

    assert [row.verdict.value for row in scored] == ["holds", "FAILS", "FAILS"]
    assert cells(scored[-1]) == ("PROF-1", "must", "Both: TS-1, CMP-1", "1", "2", "1", "FAILS (CMP-1)")


def test_a_profile_with_a_clause_that_nobody_tried_does_not_hold() -> None:
    assert verdicts(C_HOLDS) == ["NOT TESTED", "holds", "NOT TESTED"]
    assert gaps(WITH_PROFILE, [C_HOLDS]) == ["TS-1 has no test"]


def test_a_profile_fails_with_a_test_that_is_about_the_whole_of_it() -> None:
    assert verdicts(A_HOLDS, C_HOLDS, Result("p", ("PROF-1",), passed=False)) == ["holds", "holds", "FAILS"]


def test_a_profile_that_asks_for_more_than_its_clauses_needs_a_test_of_that() -> None:
    more = Clause("PROF-1", "must", "Both, and more", is_inside=True, parts=("TS-1", "CMP-1"))
    of_it = Result("p", ("PROF-1",), passed=True, is_inside=True)
    known = (A, C, more)

    assert gaps(known, [A_HOLDS, C_HOLDS]) == ["PROF-1 has no test"]
    assert rows(known, [A_HOLDS, C_HOLDS])[-1].verdict == "NOT TESTED"
    assert gaps(known, [A_HOLDS, C_HOLDS, of_it]) == []
    assert rows(known, [A_HOLDS, C_HOLDS, of_it])[-1].verdict == "holds"


@pytest.mark.parametrize("parts", [["TS-1", "RET-99"], ["PROF-2"], []], ids=["unknown", "profile", "nothing"])
def test_a_profile_is_made_of_clauses_that_there_are(parts: list[str]) -> None:
    listed = {
        "TS-1": {"level": "must", "rule": "One"},
        "PROF-1": {"level": "must", "rule": "All", "parts": parts},
        "PROF-2": {"level": "must", "rule": "Some", "parts": ["TS-1"]},
    }

    with pytest.raises(ListRefused, match="PROF-1 is"):
        clauses(listed)


def test_what_an_answer_shows_is_not_shown_by_looking_inside() -> None:
    inside_only = Result("a", ("TS-1",), passed=True, is_inside=True)

    assert verdicts(inside_only, C_HOLDS) == ["NOT TESTED", "holds", "NOT TESTED"]
    assert gaps(WITH_PROFILE, [inside_only, C_HOLDS]) == ["TS-1 has no test"]


def test_what_only_the_inside_shows_is_not_said_of_somebody_elses_deployment() -> None:
    assert verdicts(A_HOLDS, looked_inside=False) == ["holds", "not of this run", "not of this run"]
    assert gaps(WITH_PROFILE, [A_HOLDS], looked_inside=False) == []
    assert gaps(WITH_PROFILE, [A_HOLDS]) == ["CMP-1 has no test"]


def test_a_clause_that_an_answer_shows_is_not_listed_as_shown_inside_only() -> None:
    found = gaps(WITH_PROFILE, [A_HOLDS, C_HOLDS, Result("b", ("CMP-1",), passed=True)])

    assert found == ["CMP-1 is listed as shown inside only, and has tests over HTTP"]


def test_whatever_looks_inside_and_names_a_clause_of_agent_status_codes_is_counted() -> None:
    elsewhere = [path for path in TESTS.rglob("test_*.py") if SUITE not in path.parents]
    counted = set(inside())

    assert set(filter(is_about_agent_status, elsewhere)) == counted
    assert {"test_retry.py", "test_traces.py"} <= {path.name for path in counted}


@pytest.mark.parametrize(
    ("source", "is_about_it"),
    [
        ('@pytest.mark.clause("RET-3")\ndef test_a(): pass', True),
        ('@pytest.mark.clause("TS-1", "BND-HTTP-1")\ndef test_a(): pass', True),
        ('pytestmark = pytest.mark.clause("BND-OTEL")', True),
        ('@pytest.mark.clause("TS-1")\ndef test_a(): pass', False),
        ("SOURCE = '@pytest.mark.clause(\"RET-3\")'", False),
        ("def test_a(): pass", False),
    ],
)
def test_a_file_is_about_agent_status_codes_by_its_marks(
    tmp_path: Path, source: str, *, is_about_it: bool
) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(source)

    assert is_about_agent_status(path) is is_about_it


def test_every_mark_in_the_project_is_a_clause() -> None:
    known = {clause.id for clause in clauses()}

    strange = {(path.name, mark) for path in TESTS.rglob("test_*.py") for mark in marks_of(path) - known}

    assert strange == set()


def test_the_list_says_of_each_clause_what_it_is_about() -> None:
    known = clauses()

    assert {clause.level for clause in known} <= {"must", "should", "may"}
    assert all(clause.rule for clause in known)
    assert len({clause.id for clause in known}) == len(known)


def test_the_page_about_agent_status_codes_says_what_each_profile_is_made_of() -> None:
    page = (TESTS.parent / "docs" / "asc.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| (PROF-\d) \|.*\| ([^|]+) \|$", page, re.MULTILINE))

    assert told == {clause.id: ", ".join(clause.parts) for clause in clauses() if clause.parts}
    assert len(told) == 7


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
    scoreboard = Scoreboard(pytester.path, KNOWN, pytester.path / "report.md", inside=())

    run = pytester.runpytest_inprocess(*arguments, plugins=[scoreboard])

    assert run.ret == outcome
    run.stdout.fnmatch_lines([says])


@pytest.mark.parametrize(
    ("inside", "arguments", "outcome", "verdict"),
    [
        ('@pytest.mark.clause("CMP-1")\ndef test_c(): pass', [], 0, "holds"),
        ('@pytest.mark.clause("CMP-1")\ndef test_c(): assert False', [], 1, "FAILS"),
        ("def test_c(): pass", [], 1, "NOT TESTED"),
        ('@pytest.mark.clause("CMP-1")\ndef test_c(): pass', ["suite"], 0, "not of this run"),
        (
            '@pytest.mark.clause("CMP-1")\ndef test_c(): pass\ndef test_d(): pass',
            ["-k", "not test_d"],
            0,
            "holds",
        ),
        (
            '@pytest.mark.clause("CMP-1")\n@pytest.mark.parametrize("x", [1, 2])\ndef test_c(x): pass',
            ["-k", "not 2"],
            0,
            "holds",
        ),
    ],
    ids=["shown", "failed", "a gap", "left out", "an unmarked one left out", "one of two left out"],
)
def test_a_run_counts_what_looks_inside_and_says_so_when_that_did_not_run(
    pytester: pytest.Pytester, inside: str, arguments: list[str], outcome: int, verdict: str
) -> None:
    for folder, test in (("suite", '@pytest.mark.clause("TS-1")\ndef test_a(): pass'), ("inside", inside)):
        pytester.mkdir(folder).joinpath(f"test_{folder}.py").write_text(f"import pytest\n{test}\n")
    report = pytester.path / "report.md"
    places = [pytester.path / "inside"]
    scoreboard = Scoreboard(pytester.path / "suite", WITH_PROFILE, report, inside=places)

    run = pytester.runpytest_inprocess(*arguments, "--import-mode=importlib", plugins=[scoreboard])

    assert run.ret == outcome
    profile = report.read_text(encoding="utf-8").splitlines()[-1]
    assert profile.startswith("| PROF-1 | must | Both: TS-1, CMP-1 |")
    assert f" {verdict} " in profile


def test_the_report_is_the_same_for_the_same_results() -> None:
    results = [Result("a", ("TS-1",), passed=True), Result("b", ("TS-2",), passed=True)]

    page = written(rows(KNOWN, results))

    assert page == written(rows(KNOWN, reversed(results)))
    assert "Of 3 rows 2 hold as far as their tests can tell, 1 are deferred, 0 not of this run." in page
    assert "| TS-3 | must | Three | 0 | 0 | 0 | deferred (not yet: guardrails) |" in page


def test_a_run_elsewhere_says_what_it_was_not_told() -> None:
    told = dict.fromkeys(VARIABLES, "x")

    assert Target.told("https://example.test/", told).base_url == "https://example.test"
    for name in VARIABLES:
        with pytest.raises(NotToldEnough, match=name):
            Target.told("https://example.test", told | {name: ""})
