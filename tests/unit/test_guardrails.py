"""Guardrails: what becomes of an input before its agent sees it, and of an output before anybody does."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from turnkeeper.domain.content import text
from turnkeeper.domain.uris import Root
from turnkeeper.guards import rules
from turnkeeper.guards.evaluator import Evaluator
from turnkeeper.guards.guardrails import (
    DENIED,
    UNCHECKED,
    Decisions,
    Denied,
    Locked,
    NeedsReview,
    Passed,
    Verdict,
)
from turnkeeper.guards.scene import Scene, Side

NOW = datetime(2026, 11, 30, 13, 44, 13, 5, UTC)
SCENE = Scene(task_id="t1", agent="desk", user="alice", created_at=NOW, turn=3)
INPUT = {**text("hello"), "order": "A-1", "amount": 900, "tags": []}
OUTPUT = text("It is done.")
BROKEN = "input.nobody.knows"
PARAMETERS = {
    "type": "object",
    "properties": {
        "order": {"type": "string"},
        "amount": {"type": "number", "default": 0},
        "tags": {"type": "array", "default": []},
    },
    "required": ["order"],
}


class Desk:
    """An agent with these guardrails, and somebody who asks."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def before(
        self,
        *steps: Mapping[str, Any],
        flow: Mapping[str, Any] = INPUT,
        decisions: Decisions | None = None,
        scene: Scene = SCENE,
    ) -> Verdict:
        """What becomes of an input."""
        agent = rules.of(json.dumps({"parameters": PARAMETERS, "guardrails": {"before": steps}}))
        return agent.judge_input(flow, decisions or {}, scene=scene, now=NOW, evaluator=self.evaluator)

    def after(
        self, *steps: Mapping[str, Any], flow: Mapping[str, Any] = OUTPUT, scene: Scene = SCENE
    ) -> Verdict:
        """What becomes of an output."""
        agent = rules.of(json.dumps({"parameters": PARAMETERS, "guardrails": {"after": steps}}))
        return agent.judge_output(flow, {}, scene=scene, now=NOW, evaluator=self.evaluator)


@pytest.fixture
def desk(evaluator: Evaluator) -> Desk:
    return Desk(evaluator)


@pytest.mark.clause("AG-2")
def test_what_passes_every_step_goes_on_as_the_very_object_that_came(desk: Desk) -> None:
    assert desk.before() == Passed(flow=INPUT, is_changed=False)
    passed = desk.before({"assert": "input.amount > 0.0"}, {"assert": "size(input.message) == 1"})

    assert isinstance(passed, Passed)
    assert passed.flow is INPUT
    assert not passed.is_changed


@pytest.mark.clause("AG-2")
@pytest.mark.parametrize("falsy", ["false", "0", "0.0", "''", "[]", "{}", "null", "input.amount < 1.0"])
def test_a_falsy_assert_denies_with_its_message_filled_in(desk: Desk, falsy: str) -> None:
    step = {
        "assert": falsy,
        "deny_message": "Order {input.order}: {input.amount} is too much for {context.user.id}.",
    }

    assert desk.before(step) == Denied(step=0, message="Order A-1: 900 is too much for alice.")


@pytest.mark.clause("AG-2")
@pytest.mark.parametrize("truthy", ["true", "1", "'no'", "[0]", "{'a': 0}"])
def test_any_other_value_passes(desk: Desk, truthy: str) -> None:
    assert isinstance(desk.before({"assert": truthy}), Passed)


@pytest.mark.clause("AG-2")
def test_a_denial_without_a_message_that_can_be_filled_in_has_ours(desk: Desk) -> None:
    assert desk.before({"assert": "false"}) == Denied(step=0, message=DENIED[Side.INPUT])
    assert desk.before({"assert": "false", "deny_message": f"x {{{BROKEN}}}"}) == Denied(
        step=0, message=DENIED[Side.INPUT]
    )
    assert desk.after({"assert": "false"}) == Denied(step=0, message=DENIED[Side.OUTPUT])


@pytest.mark.clause("AG-2")
def test_a_step_whose_condition_is_falsy_is_skipped(desk: Desk) -> None:
    never, always = {"condition": "input.amount < 1.0"}, {"condition": "input.amount > 1.0"}

    assert isinstance(desk.before({"assert": "false", **never}), Passed)
    assert isinstance(desk.before({"assert": BROKEN, "on_error": "lock_task", **never}), Passed)
    assert isinstance(desk.before({"assert": "false", **always}), Denied)


@pytest.mark.clause("AG-2")
def test_a_transform_replaces_what_flows_on_and_the_next_steps_see_that(desk: Desk) -> None:
    verdict = desk.before(
        {"transform": "input.put('order', input.order.lowerAscii())"},
        {"transform": "input.put('order', input.order + '!')"},
        {"assert": "input.order == 'a-1!' && context.input[0].order == 'a-1!'"},
    )

    assert verdict == Passed(flow={**INPUT, "order": "a-1!"}, is_changed=True)
    assert INPUT["order"] == "A-1"


@pytest.mark.clause("AG-2")
def test_steps_run_in_order_and_the_first_denial_ends_them(desk: Desk) -> None:
    assert desk.before(
        {"assert": "input.order == 'A-1'"},
        {"transform": "input.put('order', 'B')"},
        {"assert": "input.order == 'A-1'", "deny_message": "now {input.order}"},
        {"assert": BROKEN, "on_error": "lock_task"},
    ) == Denied(step=2, message="now B")


@pytest.mark.clause("AG-2")
def test_a_transformed_input_is_validated_as_the_original_was_and_gets_its_defaults(desk: Desk) -> None:
    verdict = desk.before({"transform": "{'message': input.message, 'order': 'B'}"})

    assert verdict == Passed(flow={**text("hello"), "order": "B", "amount": 0, "tags": []}, is_changed=True)


@pytest.mark.clause("AG-4")
@pytest.mark.parametrize(
    "transform",
    [
        "'a text'",
        "[input]",
        "null",
        "{'message': input.message}",
        "{'order': 'B'}",
        "input.put('amount', 'much')",
        "input.put('city', 'Bern')",
        "input.put('error', 'x')",
        "input.put('message', [])",
        "input.put('message', 'hi')",
        "input.put('message', [{'mimeType': 'text/html', 'text': 'x'}])",
        "input.put('message', [{'mimeType': 'text/plain', 'file': 'task://a'}])",
        "input.put('message', [{'mimeType': 'text/plain', 'text': 'é', 'sizeBytes': 1}])",
        BROKEN,
    ],
)
def test_a_transform_into_what_could_not_have_been_sent_is_an_error_of_its_step(
    desk: Desk, transform: str
) -> None:
    assert desk.before({"transform": transform}) == Denied(step=0, message=UNCHECKED[Side.INPUT])
    assert desk.before({"transform": transform, "on_error": "lock_task"}) == Locked(step=0)
    assert desk.before({"transform": transform, "on_error": "ignore"}) == Passed(flow=INPUT, is_changed=False)


@pytest.mark.clause("CP-5")
def test_a_transform_into_more_than_the_store_takes_is_an_error_of_its_step(desk: Desk) -> None:
    big = {**INPUT, "tags": ["x" * 99_000]}

    assert isinstance(
        desk.before({"transform": "input.put('tags', input.tags + input.tags)"}, flow=big), Passed
    )
    assert isinstance(
        desk.before({"transform": "input.put('tags', input.tags + input.tags + input.tags)"}, flow=big),
        Denied,
    )


@pytest.mark.clause("AG-4")
@pytest.mark.parametrize("part", ["assert", "condition"])
@pytest.mark.parametrize(
    ("policy", "verdict"),
    [
        ({}, Denied(step=1, message=UNCHECKED[Side.INPUT])),
        ({"on_error": "fail_call"}, Denied(step=1, message=UNCHECKED[Side.INPUT])),
        ({"on_error": "lock_task"}, Locked(step=1)),
        ({"on_error": "ignore"}, Passed(flow=INPUT, is_changed=False)),
    ],
)
def test_an_expression_that_cannot_be_evaluated_follows_on_error(
    desk: Desk, part: str, policy: dict[str, str], verdict: Verdict
) -> None:
    step = {"assert": "true", "deny_message": "No.", **policy, part: BROKEN}

    assert desk.before({"assert": "true"}, step, {"assert": "true"}) == verdict


@pytest.mark.clause("AG-4")
def test_on_error_is_for_errors_and_a_denial_denies_whatever_it_says(desk: Desk) -> None:
    for policy in ("fail_call", "lock_task", "ignore"):
        assert desk.before({"assert": "false", "deny_message": "No.", "on_error": policy}) == Denied(
            step=0, message="No."
        )


@pytest.mark.clause("AG-4")
def test_an_expression_that_takes_too_long_cannot_be_evaluated() -> None:
    hasty = Evaluator(deadline=0.2)
    slow = {"assert": "input.tags.all(x, input.tags.all(y, x == y))", "on_error": "lock_task"}

    assert Desk(hasty).before(slow, flow={**INPUT, "tags": [1] * 9_000}) == Locked(step=0)
    hasty.close()


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("expression", ["false", BROKEN])
@pytest.mark.parametrize(
    ("on_fail", "kind"), [("block", Denied), ("lock_task", Locked), ("continue", Passed), (None, Denied)]
)
def test_the_older_form_says_with_one_word_what_follows_a_denial_and_an_error(
    desk: Desk, expression: str, on_fail: str | None, kind: type
) -> None:
    verdict = desk.before({"assert": expression, "error_message": "No.", "on_fail": on_fail})

    assert isinstance(verdict, kind)
    if isinstance(verdict, Denied):
        assert verdict.message == ("No." if expression == "false" else UNCHECKED[Side.INPUT])


REVIEWED = {
    "assert": "input.amount <= 500.0 || review(context.user.id)",
    "deny_message": "{input.amount}: no.",
}


@pytest.mark.clause("AG-5")
def test_a_review_is_waited_for_and_then_decides(desk: Desk) -> None:
    first = {"assert": "true"}

    assert desk.before(first, REVIEWED) == NeedsReview(step=1, reviewer="alice")
    assert isinstance(desk.before(first, REVIEWED, decisions={(1, "alice"): True}), Passed)
    assert desk.before(first, REVIEWED, decisions={(1, "alice"): False}) == Denied(step=1, message="900: no.")


@pytest.mark.clause("AG-5")
def test_a_review_that_is_not_needed_is_not_asked_for(desk: Desk) -> None:
    assert isinstance(desk.before(REVIEWED, flow={**INPUT, "amount": 500}), Passed)
    assert isinstance(desk.before({**REVIEWED, "condition": "false"}), Passed)


@pytest.mark.clause("AG-5")
def test_each_step_has_decisions_of_its_own_and_of_its_own_reviewers(desk: Desk) -> None:
    both = {"assert": "review('bob') && review('eve')"}
    yes = {(0, "bob"): True, (0, "eve"): True}

    assert desk.before(both, REVIEWED) == NeedsReview(step=0, reviewer="bob")
    assert desk.before(both, decisions={(0, "bob"): True}) == NeedsReview(step=0, reviewer="eve")
    assert desk.before(both, decisions={(1, "bob"): True}) == NeedsReview(step=0, reviewer="bob")
    assert desk.before(both, REVIEWED, decisions=yes) == NeedsReview(step=1, reviewer="alice")
    assert isinstance(desk.before(both, REVIEWED, decisions={**yes, (1, "alice"): True}), Passed)
    assert isinstance(desk.before(both, decisions={(0, "bob"): False}), Denied)


@pytest.mark.clause("AG-5")
def test_what_a_transform_made_is_what_is_reviewed_and_what_goes_on_afterwards(desk: Desk) -> None:
    steps = ({"transform": "input.put('order', 'B')"}, {"assert": "review('bob-' + input.order)"})

    assert desk.before(*steps) == NeedsReview(step=1, reviewer="bob-B")
    assert desk.before(*steps, decisions={(1, "bob-B"): True}) == Passed(
        flow={**INPUT, "order": "B"}, is_changed=True
    )


@pytest.mark.clause("AG-5")
def test_expressions_see_the_task_its_user_and_the_time(desk: Desk) -> None:
    scene = Scene(
        task_id="t1",
        agent="desk",
        user="alice",
        created_at=NOW,
        turn=3,
        inputs=(text("first"),),
        outputs=(OUTPUT,),
    )
    seen = (
        "context.id == 't1' && context.agent.name == 'desk' && context.user.id == 'alice' && context.turn == 3"
        " && now == '2026-11-30T13:44:13.000005Z' && context.created_at == now && c == context && i == input"
        " && size(context.input) == 2 && context.input[0].message[0].text == 'first' && context.input[1] == input"
        " && context.output.map(one, one.message[0].text) == ['It is done.']"
    )

    assert isinstance(desk.before({"assert": seen}, scene=scene), Passed)


@pytest.mark.clause("AG-5")
def test_a_parameter_of_the_type_number_is_a_double_however_it_was_sent(desk: Desk) -> None:
    scene = Scene(task_id="t", agent="a", user="u", created_at=NOW, turn=1, inputs=(INPUT,))

    step = {"assert": "input.amount + 0.5 == 900.5 && context.input[0].amount + 0.5 == 900.5"}
    verdict = desk.before(step, scene=scene)

    assert verdict == Passed(flow=INPUT, is_changed=False)


@pytest.mark.clause("IO-8")
def test_an_output_is_withheld_or_changed_or_locks_the_task(desk: Desk) -> None:
    leak = text("It is CARD-4711.")
    check = {
        "assert": "!output.message.exists(p, p.text.contains('CARD-'))",
        "deny_message": "Withheld, {now}.",
    }
    redact = {
        "transform": "{'message': o.message.map(p, p.put('text', p.text.replace('4711', '…')))}",
    }

    assert desk.after(check) == Passed(flow=OUTPUT, is_changed=False)
    assert desk.after(check, flow=leak) == Denied(step=0, message="Withheld, 2026-11-30T13:44:13.000005Z.")
    assert desk.after(redact, flow=leak) == Passed(flow=text("It is CARD-…."), is_changed=True)
    assert desk.after({"assert": "input.x", "on_error": "lock_task"}) == Locked(step=0)
    assert desk.after({"assert": "review('bob')"}) == NeedsReview(step=0, reviewer="bob")


@pytest.mark.clause("IO-8")
@pytest.mark.parametrize("transform", ["'text'", "{'text': 'x'}", "o.put('city', 'Bern')", "{'message': []}"])
def test_an_output_is_transformed_into_a_message_and_nothing_beside_it(desk: Desk, transform: str) -> None:
    assert desk.after({"transform": transform}) == Denied(step=0, message=UNCHECKED[Side.OUTPUT])


@pytest.mark.clause("AG-5")
def test_an_output_is_the_last_of_the_context_while_it_is_checked(desk: Desk) -> None:
    scene = Scene(
        task_id="t", agent="a", user="u", created_at=NOW, turn=1, inputs=(INPUT,), outputs=(text("1"),)
    )

    step = {"assert": "size(c.output) == 2 && c.output[1] == output && size(c.input) == 1"}

    assert isinstance(desk.after(step, scene=scene), Passed)


FILE = {"mimeType": "text/csv", "file": "task://x/a.csv", "sizeBytes": 3}
WITH_FILES = {
    "parameters": {
        "type": "object",
        "properties": {"doc": {"type": "file"}, "more": {"type": "array", "items": {"type": "file"}}},
        "required": [],
    }
}


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    ("transform", "becomes"),
    [
        ("input", Passed),
        ("input.put('message', [input.message[0]])", Passed),
        ("input.put('message', [input.message[0].put('file', 'task://x/b.csv')])", Denied),
        ("input.put('message', [input.message[0].put('file', input.doc)])", Passed),
        ("input.put('doc', 'task://x/a.csv')", Passed),
        ("input.put('doc', 'task://y/other.csv')", Denied),
        ("input.put('more', ['task://y/doc.csv', 'task://x/b.csv'])", Denied),
    ],
)
def test_a_step_passes_files_on_and_names_no_other(
    evaluator: Evaluator, transform: str, becomes: type[Verdict]
) -> None:
    agent = rules.of(json.dumps({**WITH_FILES, "guardrails": {"before": [{"transform": transform}]}}))
    flow = {"message": [FILE, {"mimeType": "text/plain", "text": "hi"}], "doc": "task://y/doc.csv"}

    verdict = agent.judge_input(
        flow, {}, scene=SCENE, now=NOW, evaluator=evaluator, roots=frozenset({Root.TASK})
    )

    assert isinstance(verdict, becomes)


@pytest.mark.clause("CP-4")
def test_a_step_after_the_agent_passes_its_files_on_too(desk: Desk) -> None:
    flow = {"message": [FILE]}

    assert isinstance(
        desk.after({"transform": "{'message': output.message + output.message}"}, flow=flow), Passed
    )
    made_up = "{'message': [output.message[0].put('file', 'task://x/b.csv')]}"
    assert isinstance(desk.after({"transform": made_up}, flow=flow), Denied)


@pytest.mark.clause("CP-4")
def test_the_files_of_an_input_are_those_of_its_message_and_of_its_parameters() -> None:
    agent = rules.of(json.dumps(WITH_FILES))
    sent = {
        "message": [{"mimeType": "text/plain", "text": "hi"}, FILE],
        "doc": "task://d",
        "more": ["task://m"],
    }

    assert [*agent.files(sent)] == [
        (("message", 1, "file"), "task://x/a.csv"),
        (("doc",), "task://d"),
        (("more", 0), "task://m"),
    ]
