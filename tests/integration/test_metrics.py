"""What a deployment counts: each change once when it is written, conflicts, and how late the sweep came."""

import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.faults.agents import Stumbler, Vanished, Vanishing, Waiter
from tests.support.gateway import Gateway
from tests.support.laboratory import PACE, Laboratory
from turnkeeper.domain import transitions
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.metrics import Measured, Metric
from turnkeeper.service.change import apply

LATENESS = {Metric.SWEEP_LAG, Metric.OLDEST_RUNNABLE, Metric.OLDEST_WAITING}


class Board:
    """A meter: the sum of what was counted, and the last of what was measured."""

    def __init__(self, lab: Laboratory) -> None:
        self.counts: Counter[str] = Counter()
        self.seconds: dict[Metric, float] = {}
        lab.runtime = replace(lab.runtime, meter=self.hear)

    def hear(self, measured: Iterable[Measured]) -> None:
        for one in measured:
            if one.metric in LATENESS:
                self.seconds[one.metric] = one.value
            else:
                self.counts[f"{one.metric} {one.of}" if one.of else one.metric] += int(one.value)


@pytest.fixture
def board(live_lab: Laboratory) -> Board:
    return Board(live_lab)


def test_a_life_is_counted_write_by_write(live_lab: Laboratory, board: Board) -> None:
    task = live_lab.create().task
    live_lab.send(task.id, "hi", key="once")
    live_lab.send(task.id, "hi", key="once")
    live_lab.work()
    live_lab.clock.forward(days=8)
    live_lab.poll(task.id)
    live_lab.poll(task.id)

    assert board.counts == {
        "Writes": 5,
        "TasksEntered idle": 2,
        "TasksEntered processing": 1,
        "TasksEntered completed": 1,
        "Turns started": 1,
        "Turns finished": 1,
    }
    assert board.counts["Writes"] == live_lab.stored(task.id).log_number


def test_attempts_that_fail_or_are_lost_are_counted(live_lab: Laboratory, board: Board) -> None:
    live_lab.agents["echo"] = Stumbler
    failing = live_lab.create("hi").task
    live_lab.work()
    live_lab.clock.forward(seconds=70)
    live_lab.sweep()
    live_lab.work()
    assert live_lab.stored(failing.id).turn is None
    live_lab.agents["echo"] = Vanishing
    live_lab.create("hi")
    with suppress(Vanished):
        live_lab.work()
    live_lab.clock.forward(seconds=70)
    live_lab.sweep()

    turns = {name: count for name, count in board.counts.items() if name.startswith("Turns")}
    assert turns == {
        "Turns started": 2,
        "Turns failed": 1,
        "Turns resumed": 1,
        "Turns finished": 1,
        "Turns lost": 1,
    }


def test_a_conflict_is_counted_and_so_is_the_write_that_follows(live_lab: Laboratory, board: Board) -> None:
    task = live_lab.create("hi").task
    live_lab.send(task.id, "somebody was faster")
    board.counts.clear()

    def decide(current: Task, now: datetime) -> Change:
        return transitions.accept(current, content="{}", now=now, pace=PACE)

    apply(live_lab.runtime, task, decide, actor="responsible_user")

    assert board.counts == {"Conflicts": 1, "Writes": 1}


def test_a_sweep_says_how_late_it_came_and_who_has_waited_longest(live_lab: Laboratory, board: Board) -> None:
    live_lab.sweep()
    assert board.seconds == dict.fromkeys(LATENESS, 0)

    live_lab.create("nobody is woken")
    began = live_lab.clock.now
    live_lab.clock.forward(seconds=70)
    live_lab.sweep()
    assert board.seconds == {
        Metric.SWEEP_LAG: 10,
        Metric.OLDEST_RUNNABLE: 70,
        Metric.OLDEST_WAITING: 0,
    }

    live_lab.clock.forward(seconds=125)
    live_lab.sweep()
    waited = (live_lab.clock.now - began).total_seconds()
    assert waited - 10 <= board.seconds[Metric.OLDEST_RUNNABLE] <= waited
    assert board.counts["Looked"] == 2
    assert board.counts["LooksFailed"] == 0


def test_a_sweep_says_how_long_a_task_has_waited_for_somebody(live_lab: Laboratory, board: Board) -> None:
    live_lab.agents["echo"] = Waiter
    live_lab.create("ask")
    live_lab.work()
    (wait,) = next(iter(tasks_of(live_lab))).asks
    live_lab.clock.now = wait.deadline + timedelta(seconds=3)

    live_lab.sweep()

    assert board.seconds[Metric.OLDEST_WAITING] == (live_lab.clock.now - wait.since).total_seconds()
    assert board.seconds[Metric.SWEEP_LAG] == 3


def tasks_of(lab: Laboratory) -> list[Task]:
    return [lab.stored(pk.removeprefix("TASK#")) for pk, sk in lab.everything() if sk == "TASK"]


def test_a_look_that_fails_is_counted(live_lab: Laboratory, board: Board) -> None:
    task = live_lab.create("hi").task
    live_lab.dynamodb.update_item(
        TableName=live_lab.table,
        Key={"pk": {"S": f"TASK#{task.id}"}, "sk": {"S": "TASK"}},
        UpdateExpression="REMOVE received",
    )
    live_lab.clock.forward(seconds=70)

    live_lab.sweep()

    assert (board.counts["Looked"], board.counts["LooksFailed"]) == (1, 1)


def test_the_functions_write_what_they_count_to_the_log(
    api: Gateway, capsys: pytest.CaptureFixture[str]
) -> None:
    assert api.post("/v1/tasks", {"agent": "echo"}).status == 201

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "CloudWatchMetrics" in line]
    assert [line["_aws"]["CloudWatchMetrics"][0]["Namespace"] for line in lines] == ["Turnkeeper/prod"] * 2
    assert [(line.get("Writes"), line.get("phase")) for line in lines] == [([1.0], None), (None, "idle")]
