"""A pytest plugin: counts the tests of each clause, shows the table, and fails a whole run that has a gap."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from tests.conformance.clauses import Clause, Result, Row, clauses, gaps, rows

SUITE = Path(__file__).parent
COLUMNS = ("Clause", "Level", "Rule", "Tests", "Passed", "Failed", "Verdict")
SCREEN = (120, 40)
"""How large a screen is taken to be where there is none."""


class Scoreboard:
    """Hears how each test of *suite* ended, and scores the *known* clauses."""

    def __init__(
        self, suite: Path = SUITE, known: tuple[Clause, ...] | None = None, report: Path | None = None
    ) -> None:
        self._suite, self._known, self._report = suite, clauses() if known is None else known, report
        self._about: dict[str, tuple[str, ...]] = {}
        self._passed: dict[str, bool] = {}
        self._modules: set[Path] = set()
        self._left_out = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which clauses each test is about, before any is deselected."""
        for item in self._ours(items):
            self._modules.add(item.path)
            self._about[item.nodeid] = clauses_of(item)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note that some are left out."""
        self._left_out = self._left_out or bool(self._ours(items))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended: it passed when it ran and nothing of it failed, its set-up and clean-up included."""
        if report.nodeid not in self._about:
            return
        if report.failed:
            self._passed[report.nodeid] = False
        elif report.when == "call" and report.passed:
            self._passed.setdefault(report.nodeid, True)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run for a gap, and write the report of a whole run where one is wanted."""
        is_cut_short = session.shouldfail or session.shouldstop or session.config.getoption("collectonly")
        self._left_out = self._left_out or bool(is_cut_short)
        if not self.is_whole:
            return
        if self.gaps() and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if self._report:
            self._report.write_text(written(self.rows()), encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the table, and what is missing."""
        if not self._passed:
            return
        terminalreporter.section("the Task Status contract, clause by clause")
        terminalreporter.write(shown(row for row in self.rows() if row.tests or self.is_whole))
        if not self.is_whole:
            terminalreporter.line("A part of the suite did not run, so this does not say what is missing.")
            return
        for gap in self.gaps():
            terminalreporter.line(gap, red=True)

    @property
    def is_whole(self) -> bool:
        """Every test of the suite was to run."""
        return (
            not self._left_out and bool(self._modules) and self._modules == set(self._suite.glob("test_*.py"))
        )

    def rows(self) -> list[Row]:
        """The score of each clause."""
        return rows(self._known, self._results())

    def gaps(self) -> list[str]:
        """What the whole suite must not lack."""
        return gaps(self._known, self._results())

    def _results(self) -> list[Result]:
        return [Result(test, self._about[test], passed) for test, passed in self._passed.items()]

    def _ours(self, items: Iterable[pytest.Item]) -> list[pytest.Item]:
        return [item for item in items if item.path.parent == self._suite]


def clauses_of(item: pytest.Item) -> tuple[str, ...]:
    """The clauses that the test *item* is about."""
    return tuple(str(clause) for mark in item.iter_markers("clause") for clause in mark.args)


def shown(scored: Iterable[Row]) -> str:
    """*scored* as a table for a terminal."""
    table = Table(*COLUMNS, box=None, pad_edge=False)
    styles = {"FAILS": "red", "NOT TESTED": "red", "holds": "green"}
    for row in scored:
        table.add_row(*cells(row), style=styles.get(row.verdict, "yellow"))
    console = Console(width=shutil.get_terminal_size(SCREEN).columns, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def cells(row: Row) -> tuple[str, ...]:
    """*row* in the columns' order."""
    clause = row.clause
    verdict = f"{row.verdict} (not yet: {clause.deferred})" if clause.deferred else row.verdict
    return clause.id, clause.level, clause.rule, str(row.tests), str(row.passed), str(row.failed), verdict


def written(scored: Sequence[Row]) -> str:
    """*scored* as a page of the documentation: the same for the same results, wherever and whenever they were got."""
    held = sum(row.verdict.startswith("holds") for row in scored)
    deferred = sum(row.verdict == "deferred" for row in scored)
    lines = [
        "# Conformance, clause by clause",
        "",
        "Written by `make conformance REPORT=docs/conformance.md`, which drives a deployment over HTTP with the tests",
        "in `tests/conformance`. The clauses are those of the Task Status contract of the Common Agent Specification",
        "(TS, TN, PO, IN), and of what it leans on there: the lifecycle (LC), the messages (IO), content parts (CP),",
        "agents and guardrails (AG).",
        "",
        f"Of {len(scored)} clauses {held} hold as far as their tests can tell, and {deferred} are deferred.",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells(row)) + " |" for row in scored),
        "",
    ]
    return "\n".join(lines)
