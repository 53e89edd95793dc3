"""What is told at the end of the suite: the counts as they are, and that nothing was lost only where nothing was."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.faults.tally import Tally, Tried, shown

SUITE = Path("/suite")


def ran(*outcomes: tuple[str, str, str]) -> Tally:
    """A tally after tests of such a name ended so, each at such a stage."""
    tally = Tally(SUITE, Counter())
    names = {name for name, _, _ in outcomes}
    items: Any = [SimpleNamespace(nodeid=name, path=SUITE / "test_it.py") for name in names]
    items.append(SimpleNamespace(nodeid="another's", path=Path("/elsewhere/test_it.py")))
    tally.pytest_collection_modifyitems(items)
    for name, when, outcome in outcomes:
        report: Any = SimpleNamespace(
            nodeid=name, when=when, failed=outcome == "failed", passed=outcome == "passed", user_properties=[]
        )
        tally.pytest_runtest_logreport(report)
    return tally


def test_nothing_was_lost_where_all_passed() -> None:
    assert ran(("one", "call", "passed"), ("two", "call", "passed")).verdict.startswith("Nothing was lost")


@pytest.mark.parametrize("when", ["setup", "call", "teardown"])
def test_a_test_that_fails_anywhere_says_otherwise(when: str) -> None:
    tally = ran(("one", "call", "passed"), ("two", when, "failed"), ("two", when, "failed"))

    assert tally.verdict == "1 tests found something lost, doubled or untrue."


def test_tests_of_others_are_none_of_its_business() -> None:
    tally = ran(("one", "call", "passed"))
    report: Any = SimpleNamespace(nodeid="another's", when="call", failed=True, passed=False)

    tally.pytest_runtest_logreport(report)

    assert tally.verdict.startswith("Nothing was lost")


def test_requests_that_a_test_says_it_sent_are_counted_once() -> None:
    counts: Counter[Tried] = Counter()
    tally = Tally(SUITE, counts)
    for when in ("setup", "call", "teardown"):
        sent = [("requests", 8), ("another", 1)]
        report: Any = SimpleNamespace(
            nodeid="another's", when=when, failed=False, passed=True, user_properties=sent
        )
        tally.pytest_runtest_logreport(report)

    assert counts == {Tried.STRANGE: 8}


def test_the_table_has_every_count() -> None:
    table = shown(Counter({Tried.CUTS: 4321, Tried.RACES: 7}))

    assert [line.split()[-1] for line in table.splitlines()[1:]] == ["4,321", "7", "0", "0", "0"]
    assert all(what.value in table for what in Tried)
