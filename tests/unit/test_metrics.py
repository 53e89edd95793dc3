"""Metrics: what can be counted at all, and the line that CloudWatch reads."""

import io
import json
import sys
from typing import Any

import pytest

from tests.support.specimens import CONTENT, NOW, PACE, approved, to_reconcile
from turnkeeper.domain import transitions
from turnkeeper.domain.task import Phase, Reason
from turnkeeper.domain.transitions import Answer
from turnkeeper.metrics import DIMENSIONS, UNITS, Measured, Metric, Turned, told_to
from turnkeeper.service.metering import TURNS, written


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.readouterr().out.splitlines()]


def test_what_has_the_same_dimension_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    told_to("Turnkeeper/dev")(
        [
            Measured(Metric.WRITES, 1),
            Measured(Metric.TURNS, 1, Turned.STARTED),
            Measured(Metric.SWEEP_LAG, 2.5),
        ]
    )

    plain, turns = lines(capsys)
    assert plain["_aws"]["CloudWatchMetrics"] == [
        {
            "Namespace": "Turnkeeper/dev",
            "Dimensions": [[]],
            "Metrics": [{"Name": "Writes", "Unit": "Count"}, {"Name": "SweepLag", "Unit": "Seconds"}],
        }
    ]
    assert {name: value for name, value in plain.items() if name != "_aws"} == {
        "Writes": [1.0],
        "SweepLag": [2.5],
    }
    assert turns["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["outcome"]]
    assert {name: value for name, value in turns.items() if name != "_aws"} == {
        "outcome": "started",
        "Turns": [1.0],
    }


@pytest.mark.clause("BND-OTEL")
@pytest.mark.parametrize(
    ("metric", "of"),
    [
        (Metric.TURNS, "a prompt"),
        (Metric.TURNS, None),
        (Metric.TASKS_ENTERED, "4f1c"),
        (Metric.WRITES, "alice"),
    ],
)
def test_a_dimension_that_is_not_listed_cannot_be_counted(metric: Metric, of: str | None) -> None:
    with pytest.raises(ValueError, match="see DIMENSIONS"):
        Measured(metric, 1, of)


def test_every_phase_end_and_turn_has_its_value() -> None:
    assert DIMENSIONS[Metric.TASKS_ENTERED][1] == {*Phase, *Reason} - {Phase.TERMINAL}
    assert DIMENSIONS[Metric.TURNS][1] == {*TURNS.values()} == {*Turned}
    assert {*UNITS} == {*Metric}


def test_a_metric_that_cannot_be_written_fails_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)

    told_to("Turnkeeper/dev")([Measured(Metric.WRITES, 1)])

    assert "a metric was not written (ValueError)" in caplog.text


@pytest.mark.parametrize("is_last", [True, False])
def test_a_turn_that_ends_with_an_approved_output_has_finished(*, is_last: bool) -> None:
    change = transitions.release_output(approved(is_last=is_last), content=CONTENT, now=NOW, pace=PACE)

    assert (Measured(Metric.TURNS, 1, Turned.FINISHED) in tuple(written(change))) is is_last


@pytest.mark.parametrize(
    ("said", "finished"), [(Answer.DONE, True), (Answer.REPEAT, False), (Answer.FAILED, False)]
)
def test_a_lost_turn_has_finished_when_its_host_says_it_is_done(*, said: Answer, finished: bool) -> None:
    change = transitions.reconcile(to_reconcile(), answer=said, now=NOW, pace=PACE)

    assert (Measured(Metric.TURNS, 1, Turned.FINISHED) in tuple(written(change))) is finished
