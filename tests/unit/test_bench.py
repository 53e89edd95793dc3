"""What the bench measures is there in full: each single run, beside what sums it up."""

import json
from typing import Any

import pytest

from bench import cold, warm
from bench.figures import ratio, spread


def test_a_spread_keeps_every_run_and_names_its_middle_and_its_ends() -> None:
    assert spread([3.0, 1.0, 2.0]) == {"median": 2.0, "min": 1.0, "max": 3.0, "runs": [3.0, 1.0, 2.0]}


def test_a_ratio_is_taken_pair_by_pair_and_not_of_what_was_summed_up() -> None:
    """The machine was twice as slow in the second pair, for both."""
    assert ratio([1.0, 3.0], [1.0, 2.0]) == {"median": 1.25, "min": 1.0, "max": 1.5, "runs": [1.0, 1.5]}


def test_runs_that_are_no_pairs_have_no_ratio() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ratio([1.0, 2.0], [1.0])


def test_cold_starts_are_measured_beside_both_clients() -> None:
    measured = as_json(cold.measure(2, functions=["status"]))

    of = measured["functions"]["status"]
    assert measured["rounds"] == 2
    assert [len(of[name]["runs"]) for name in ("cpu_s", "botocore_cpu_s", "boto3_cpu_s")] == [2, 2, 2]
    assert of["ratio_to_botocore"]["runs"] == [
        pytest.approx(one / other)
        for one, other in zip(of["cpu_s"]["runs"], of["botocore_cpu_s"]["runs"], strict=True)
    ]
    assert all(one > 0 for one in of["cpu_s"]["runs"])


def test_a_program_that_fails_is_not_taken_for_a_fast_one() -> None:
    with pytest.raises(RuntimeError, match="import nothing_of_that_name"):
        cold.cpu_seconds("import nothing_of_that_name")


def test_the_warm_poll_is_measured_in_each_state_beside_a_bare_one_and_in_its_parts() -> None:
    measured = as_json(warm.measure(2))

    assert set(measured["states"]) == {"idle", "running", "suspended"}
    for of in measured["states"].values():
        assert {len(took["runs"]) for took in (*of["cpu_us"].values(), *of["parts_us"].values())} == {2}
        assert {"handler", "bare", "bare_same_client"} == set(of["cpu_us"])
        assert of["parts_us"]["get_item"]["median"] < of["cpu_us"]["handler"]["median"]


def as_json(measured: dict[str, Any]) -> dict[str, Any]:
    """What was measured as a reader of the bench's file finds it."""
    read: dict[str, Any] = json.loads(json.dumps(measured))
    return read
