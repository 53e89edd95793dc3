"""A pytest plugin: counts the tests of each clause, shows the table, and fails a whole run that has a gap."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from tests.conformance.clauses import Clause, Result, Row, Verdict, clauses, gaps, rows
from tests.conformance.inside import inside as those_inside

SUITE = Path(__file__).parent
COLUMNS = ("Clause", "Level", "Rule", "Over HTTP", "Inside", "Failed", "Verdict")
SCREEN = (120, 40)
"""How large a screen is taken to be where there is none."""
PREFACE = """\
# Conformance, clause by clause

Written by `make conformance REPORT=docs/conformance.md`. *Over HTTP* counts the tests in `tests/conformance`, which
drive a deployment and know nothing of the product; *Inside* those beside the code, for what no answer tells: a
consumer's rules, the tables of other protocols, the frozen registry. A clause holds by the tests over HTTP, unless only
those inside can show it.

The clauses are those of the Task Status contract of the Common Agent Specification (TS, TN, PO, IN), of what it leans
on there: the lifecycle (LC), the messages (IO), content parts (CP), agents and guardrails (AG); and those of Agent
Status Codes 0.1, which are experimental (INV to CMP), with how a task's state maps to them (MAP). A profile (PROF) is
made of the clauses that it names, and holds when each of them does; its tests are theirs.
"""


class Part:
    """The tests in *places*, files or folders of them: whether all that count were to run."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._places = tuple(places)
        self._seen: set[Path] = set()
        self.left_out = False

    def has(self, item: pytest.Item) -> bool:
        """*item* is one of them."""
        return not {item.path, item.path.parent}.isdisjoint(self._places)

    def saw(self, item: pytest.Item) -> None:
        """*item* was collected."""
        self._seen.add(item.path)

    @property
    def is_whole(self) -> bool:
        """All of its files were collected, and no test that counts was left out."""
        return not self.left_out and bool(self._seen) and self._seen == set(self._files())

    def _files(self) -> Iterator[Path]:
        for place in self._places:
            yield from place.glob("test_*.py") if place.is_dir() else (place,)


class Scoreboard:
    """Hears how each test of *suite*, and each of *inside* that names a clause, ended; scores the *known* clauses."""

    def __init__(
        self,
        suite: Path = SUITE,
        known: tuple[Clause, ...] | None = None,
        report: Path | None = None,
        inside: Iterable[Path] | None = None,
    ) -> None:
        self._known, self._report = clauses() if known is None else known, report
        self._suite, self._inside = Part([suite]), Part(those_inside() if inside is None else inside)
        self._about: dict[str, tuple[str, ...]] = {}
        self._looks_inside: set[str] = set()
        self._passed: dict[str, bool] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which clauses each test is about, before any is deselected."""
        for item in items:
            if self._suite.has(item):
                self._suite.saw(item)
                self._about[item.nodeid] = clauses_of(item)
            elif self._inside.has(item):
                self._inside.saw(item)
                if about := clauses_of(item):
                    self._about[item.nodeid] = about
                    self._looks_inside.add(item.nodeid)

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Note that some are left out."""
        for item in items:
            if item.nodeid in self._looks_inside:
                self._inside.left_out = True
            elif item.nodeid in self._about:
                self._suite.left_out = True

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
        if session.shouldfail or session.shouldstop or session.config.getoption("collectonly"):
            self._suite.left_out = self._inside.left_out = True
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
        terminalreporter.section("the contract, clause by clause")
        terminalreporter.write(shown(row for row in self.rows() if row.tests or self.is_whole))
        if not self.is_whole:
            terminalreporter.line("A part of the suite did not run, so this does not say what is missing.")
            return
        for gap in self.gaps():
            terminalreporter.line(gap, red=True)

    @property
    def is_whole(self) -> bool:
        """Every test over HTTP was to run; those inside may be left out as a whole."""
        return self._suite.is_whole

    def rows(self) -> list[Row]:
        """The score of each clause."""
        return rows(self._known, self._results(), looked_inside=self._inside.is_whole)

    def gaps(self) -> list[str]:
        """What the whole suite must not lack."""
        return gaps(self._known, self._results(), looked_inside=self._inside.is_whole)

    def _results(self) -> list[Result]:
        return [
            Result(test, self._about[test], passed, is_inside=test in self._looks_inside)
            for test, passed in self._passed.items()
        ]


def clauses_of(item: pytest.Item) -> tuple[str, ...]:
    """The clauses that the test *item* is about."""
    return tuple(str(clause) for mark in item.iter_markers("clause") for clause in mark.args)


def shown(scored: Iterable[Row]) -> str:
    """*scored* as a table for a terminal."""
    table = Table(*COLUMNS, box=None, pad_edge=False)
    styles = {Verdict.FAILS: "red", Verdict.NOT_TESTED: "red", Verdict.HOLDS: "green"}
    for row in scored:
        table.add_row(*cells(row), style=styles.get(row.verdict, "yellow"))
    console = Console(width=shutil.get_terminal_size(SCREEN).columns, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def cells(row: Row) -> tuple[str, ...]:
    """*row* in the columns' order."""
    clause = row.clause
    verdict = f"{row.verdict} (not yet: {clause.deferred})" if clause.deferred else row.verdict.value
    if row.because_of:
        verdict = f"{verdict} ({', '.join(row.because_of)})"
    counted = row.over_http, row.inside, row.failed
    return clause.id, clause.level, _rule(clause), *map(str, counted), verdict


def _rule(clause: Clause) -> str:
    """What it asks; of a profile, by which clauses."""
    return f"{clause.rule}: {', '.join(clause.parts)}" if clause.parts else clause.rule


def written(scored: Sequence[Row]) -> str:
    """*scored* as a page of the documentation: the same for the same results, wherever and whenever they were got."""
    count = Counter(row.verdict for row in scored)
    held, deferred = count[Verdict.HOLDS] + count[Verdict.HOLDS_SO_FAR], count[Verdict.DEFERRED]
    rest = f"{deferred} are deferred, {count[Verdict.NOT_OF_THIS_RUN]} not of this run."
    lines = [
        PREFACE,
        f"Of {len(scored)} rows {held} hold as far as their tests can tell, {rest}",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
        *("| " + " | ".join(cells(row)) + " |" for row in scored),
        "",
    ]
    return "\n".join(lines)
