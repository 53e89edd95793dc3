"""What the suite tried, counted while it ran and told at its end."""

import shutil
from collections import Counter
from enum import StrEnum
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

SUITE = Path(__file__).parent
SENT = "requests"
"""The property of a test that says how many requests to the API it sent."""
SCREEN = (120, 40)
"""How large a screen is taken to be where there is none."""


class Tried(StrEnum):
    """What is counted."""

    CUTS = "cut points"
    """A run, cut at one of its calls in one of the ways."""
    RACES = "races"
    """Acts that began at the same moment, or one in the middle of another."""
    DELIVERIES = "deliveries"
    """Wake-ups that were handed to a worker."""
    REQUESTS = "requests"
    """Calls of the store and the queues, refused and lost ones too."""
    STRANGE = "strange requests"
    """What nobody thought of, sent to a route of the API; a test of another suite tells how many it sent."""


_tried: Counter[Tried] = Counter()


def tried(what: Tried, times: int = 1) -> None:
    """Count what was tried."""
    _tried[what] += times


class Tally:
    """A pytest plugin: hears which tests of the suite failed, and says at the end what was tried and what was lost."""

    def __init__(self, suite: Path = SUITE, counts: Counter[Tried] | None = None) -> None:
        self._suite, self._counts = suite, _tried if counts is None else counts
        self._ours: set[str] = set()
        self._passed = 0
        self._failed: set[str] = set()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which tests are of the suite."""
        self._ours = {item.nodeid for item in items if item.path.parent == self._suite}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test, or a part of it, ended."""
        if report.when == "teardown":
            self._counts[Tried.STRANGE] += sum(
                count for name, count in report.user_properties if name == SENT and isinstance(count, int)
            )
        if report.nodeid not in self._ours:
            return
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.when == "call" and report.passed:
            self._passed += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show the counts, and whether anything was lost."""
        if not self._passed and not self._failed:
            return
        terminalreporter.section("faults, races and duplicates")
        terminalreporter.write(shown(self._counts))
        terminalreporter.line(self.verdict, red=bool(self._failed), green=not self._failed)

    @property
    def verdict(self) -> str:
        """One line: that nothing was lost, or how many tests say otherwise."""
        if self._failed:
            return f"{len(self._failed)} tests found something lost, doubled or untrue."
        return "Nothing was lost, nothing was doubled, and nothing came back to life."


def shown(counts: Counter[Tried]) -> str:
    """*counts* as a table for a terminal."""
    table = Table("Tried", "How often", box=None, pad_edge=False)
    table.columns[1].justify = "right"
    for what in Tried:
        table.add_row(what.value, f"{counts[what]:,}")
    console = Console(width=shutil.get_terminal_size(SCREEN).columns, highlight=False)
    with console.capture() as capture:
        console.print(table)
    return capture.get()
