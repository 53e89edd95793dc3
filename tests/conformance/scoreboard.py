"""A pytest plugin: counts the tests of each clause, shows the table, and fails a run of the whole suite with a gap in it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from tests.conformance.clauses import Result, Row, clauses, gaps, rows

SUITE = Path(__file__).parent
COLUMNS = ("Clause", "Level", "Rule", "Tests", "Passed", "Failed", "Verdict")
WIDTH = 150


class Scoreboard:
    """Hears how each test of *suite* ended."""

    def __init__(self, suite: Path = SUITE, report: Path | None = None) -> None:
        self._suite, self._report = suite, report
        self._about: dict[str, tuple[str, ...]] = {}
        self._passed: dict[str, bool] = {}
        self._modules: set[Path] = set()
        self._left_out = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which clauses each test is about, before any is deselected."""
        for item in self._ours(items):
            self._modules.add(item.path)
            self._about[item.nodeid] = tuple(
                str(clause) for mark in item.iter_markers("clause") for clause in mark.args
            )

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note that this is no run of the whole suite."""
        self._left_out = self._left_out or any(self._ours(items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended; it passed when nothing of it failed, and counts when its own part ran."""
        if report.nodeid not in self._about:
            return
        if report.failed:
            self._passed[report.nodeid] = False
        elif report.when == "call" and report.passed:
            self._passed.setdefault(report.nodeid, True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run for a gap, and write the report of a whole run where one is wanted."""
        if self.is_whole and self.gaps() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self.is_whole and self._report:
            self._report.write_text(written(self.rows()), encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table, and what is missing."""
        if not self._passed:
            return
        terminalreporter.section("clauses of the Task Status contract")
        terminalreporter.write(shown(self.rows()))
        if not self.is_whole:
            terminalreporter.line("Only a part of the suite ran, so nobody can tell what is missing.")
            return
        for gap in self.gaps():
            terminalreporter.line(gap, red=True)

    @property
    def is_whole(self) -> bool:
        """Every test of the suite was to run."""
        return not self._left_out and bool(self._modules) and self._modules == set(self._suite.glob("test_*.py"))

    def rows(self) -> list[Row]:
        """The score of each clause."""
        return rows(clauses(), self._results())

    def gaps(self) -> list[str]:
        """What the whole suite must not lack."""
        return gaps(clauses(), self._results())

    def _results(self) -> list[Result]:
        return [Result(test, self._about[test], passed) for test, passed in self._passed.items()]

    def _ours(self, items: Iterable[pytest.Item]) -> list[pytest.Item]:
        return [item for item in items if item.path.parent == self._suite]


def shown(scored: Iterable[Row]) -> str:
    """*scored* as a table for a terminal."""
    table = Table(*COLUMNS, box=None, pad_edge=False)
    for row in scored:
        style = {"FAILS": "red", "NOT TESTED": "red", "holds": "green"}.get(row.verdict, "yellow")
        table.add_row(*cells(row), style=style)
    console = Console(width=WIDTH, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def cells(row: Row) -> tuple[str, ...]:
    """*row* in the columns' order."""
    clause = row.clause
    verdict = f"{row.verdict} (next: {clause.deferred})" if clause.deferred else row.verdict
    return clause.id, clause.level, clause.rule, str(row.tests), str(row.passed), str(row.failed), verdict


def written(scored: Sequence[Row]) -> str:
    """*scored* as a page of the documentation: the same text for the same results, wherever and whenever they were got."""
    held = sum(row.verdict.startswith("holds") for row in scored)
    deferred = sum(row.verdict == "deferred" for row in scored)
    lines = [
        "# Conformance, clause by clause",
        "",
        "Written by `make conformance REPORT=docs/conformance.md`, which runs `tests/conformance` over HTTP against a",
        "deployment. Each row is a clause of the Task Status contract of the Common Agent Specification (TS, TN, PO, IN), or",
        "of what that contract leans on: the lifecycle (LC), the messages (IO), content parts (CP), agents and guardrails (AG).",
        "",
        f"Of {len(scored)} clauses {held} hold and {deferred} are deferred, as far as their tests can tell.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells(row)) + " |" for row in scored),
        "",
    ]
    return "\n".join(lines)
