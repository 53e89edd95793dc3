"""What an agent exposes is on each of its outputs, whatever happens (IO-7)."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from turnkeeper.domain.content import text
from turnkeeper.guards import rules, scene
from turnkeeper.guards.evaluator import Evaluator
from turnkeeper.guards.scene import Scene

NOW = datetime(2026, 11, 30, 13, 44, tzinfo=UTC)
FIRST = {**text("hi"), "order": "A-1"}
SCENE = Scene(task_id="t", agent="a", user="u", created_at=NOW, turn=1, inputs=(FIRST,))


def exposing(evaluator: Evaluator, **exposes: str | None) -> dict[str, Any]:
    agent = rules.of(json.dumps({"exposes": exposes}))
    return agent.exposing(text("done"), scene=SCENE, now=NOW, evaluator=evaluator)


@pytest.mark.clause("IO-7")
def test_every_key_is_there_with_the_value_of_its_expression(evaluator: Evaluator) -> None:
    assert exposing(
        evaluator,
        order="context.input[0].order",
        answered="size(context.output) > 0",
        length="size(output.message[0].text)",
        at="now",
    ) == {**text("done"), "order": "A-1", "answered": True, "length": 4, "at": "2026-11-30T13:44:00.000000Z"}


@pytest.mark.clause("IO-7")
@pytest.mark.parametrize(
    "expression", [None, "input.order", "1 / 0", "duration('1s')", "context.input.map(x, lists.range(5000))"]
)
def test_a_key_whose_expression_has_no_value_or_a_large_one_is_null(
    evaluator: Evaluator, expression: str | None
) -> None:
    assert exposing(evaluator, a=expression, b="1") == {**text("done"), "a": None, "b": 1}


@pytest.mark.clause("IO-7")
def test_an_agent_that_exposes_nothing_says_just_its_message_and_starts_no_process() -> None:
    fresh = Evaluator()

    assert exposing(fresh) == text("done")
    assert fresh._child is None  # noqa: SLF001 - nothing else shows it


@pytest.mark.clause("AG-5")
def test_expressions_see_the_first_entries_that_fit_into_256_kb_and_no_more_are_read() -> None:
    entries = (text(f"{number}" + "x" * 60_000) for number in range(10))

    seen = scene.kept(entries)

    assert [entry["message"][0]["text"][0] for entry in seen] == ["0", "1", "2", "3"]
    assert next(entries)["message"][0]["text"][0] == "5"
    assert len(scene.kept(text("x") for _ in range(300))) == 200
