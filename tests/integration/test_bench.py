"""Each part of the bench measures, in little, what it measures at length."""

from collections import Counter

import pytest

from bench import accounting, contention, results, scale
from bench.tables import markdown
from tests.support.engines import Engine
from tests.support.use_cases import USE_CASES


def test_writers_on_one_task_lose_and_double_nothing(moto_engine: Engine) -> None:
    found = contention.measure(1, writers=(1, 4), sends=8, engine=moto_engine)

    alone, crowd = found["steps"]
    assert (alone["inputs"], alone["tries"], alone["refused"]) == (8, 8, 0)
    assert crowd["inputs"] == 8
    assert crowd["tries"] >= 8
    assert [(step["lost"], step["doubled"]) for step in found["steps"]] == [(0, 0), (0, 0)]
    assert len(crowd["ms"]) == 8
    (table,) = contention.tables(found)
    assert markdown(table).startswith("**Many writers")
    assert [len(line.points) for plot in contention.plots(found) for line in plot.lines] == [2, 2, 2]


def test_what_a_use_case_costs_is_what_the_page_says() -> None:
    """One of them is counted anew here; each is held to its budget where it is listed."""
    kept = results.read().parts["accounting"].found

    assert accounting.measure(1, use_cases=["poll"])["poll"] == kept["poll"]
    assert {
        name: (of["used"].get("read_unit", 0), of["used"].get("write_unit", 0)) for name, of in kept.items()
    } == {name: (case.read, case.written) for name, case in USE_CASES.items()}


def test_operations_stay_flat_and_a_sweep_looks_at_each_task_once() -> None:
    found = scale.measure(1, tasks=(10, 300), messages=(1, 60), looks_of_a_run=100)

    few, many = found["tasks"]
    flat = ("accept", "poll", "page", "sweep, nothing due")
    assert {name: few[name] for name in flat} == {name: many[name] for name in flat}
    assert many["sweep, nothing due"]["calls"] == 32
    short, long = found["messages"]
    assert (short["poll"]["read"], long["poll"]["read"]) == (1, 1)
    assert long["page, nothing new"]["calls"] <= 2
    assert long["the whole"]["bytes"] > 10 * short["the whole"]["bytes"]
    due = found["due"]
    assert (due["once"], due["twice"], due["never"]) == (300, 0, 0)
    assert sum(due["runs"]) == 300
    assert max(due["runs"]) == 100
    assert len([*scale.tables(found), *scale.plots(found)]) == 7


@pytest.mark.parametrize("stored", [["a"], ["a", "b", "b"], ["a", "c"]], ids=["lost", "doubled", "another's"])
def test_writers_that_were_told_what_is_not_so_stop_the_measurement(stored: list[str]) -> None:
    with pytest.raises(contention.NotAsAcknowledged, match="lost"):
        contention.compared(Counter(["a", "b"]), Counter(stored))


@pytest.mark.parametrize("looked", [["a"], ["a", "b", "b"]], ids=["never", "twice"])
def test_a_sweep_that_leaves_one_out_or_looks_again_stops_the_measurement(looked: list[str]) -> None:
    with pytest.raises(scale.LookedTwice):
        scale.each_once(Counter(looked), 2)
