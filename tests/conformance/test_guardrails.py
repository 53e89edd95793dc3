"""Guardrails: what they let through, change, refuse, lock and hold, on either side of an agent (IN-1b, IO, AG)."""

import pytest

from tests.conformance.client import Json, answered
from tests.conformance.host import Host
from tests.conformance.person import Person, texts_of

DENIED_INPUT, DENIED_OUTPUT = "denied_by_input_guardrail", "denied_by_output_guardrail"
BEFORE: list[Json] = [
    {
        "assert": "!input.message[0].text.contains('forbidden')",
        "deny_message": "No {input.message[0].text}.",
    },
    {
        "condition": "input.message[0].text.contains('shout')",
        "transform": "input.put('message', [{'mimeType': 'text/plain', 'text': 'SHOUTED'}])",
    },
    {"assert": "input.message[0].text != 'SHOUTED' || size(input.message) == 1"},
]
AFTER: list[Json] = [
    {"assert": "!output.message[0].text.contains('secret')", "deny_message": "I may not say that."},
    {
        "condition": "output.message[0].text.contains('whisper')",
        "transform": "{'message': [{'mimeType': 'text/plain', 'text': '...'}]}",
    },
]
NO_VALUE = "input.nothing == 1"
"""An expression that cannot be evaluated."""


@pytest.fixture(scope="module")
def guarded(host: Host) -> str:
    """An agent with guards on both sides."""
    return host.declare(guardrails={"before": BEFORE, "after": AFTER})


def guard(host: Host, side: str, **step: str) -> str:
    """An agent with one *step* on one *side*."""
    return host.declare(guardrails={side: [step]})


def listed(owner: Person, task: str) -> list[tuple[str, str, str | None]]:
    """(type, text, error) of the conversation."""
    return [(entry["type"], texts_of(entry), entry.get("error")) for entry in owner.messages(task)]


def heard(host: Host, task: str) -> list[str]:
    """What the agent was shown of the conversation, as its host reads it."""
    entries = answered(host.ask("GET", f"host/tasks/{task}/messages"), 200)["messages"]
    return [texts_of(entry) for entry in entries if "committed_at" in entry]


@pytest.mark.clause("IN-1b")
@pytest.mark.clause("AG-3")
@pytest.mark.clause("IO-8")
def test_a_denied_input_is_recorded_and_answered_and_never_shown_to_the_agent(
    owner: Person, host: Host, guarded: str
) -> None:
    task = owner.create(guarded, "forbidden fruit")

    assert host.post(task, "turns").status_code == 409

    assert listed(owner, task) == [
        ("input", "forbidden fruit", DENIED_INPUT),
        ("output", "No forbidden fruit.", DENIED_INPUT),
    ]
    assert owner.waiting(task) == []
    assert "forbidden fruit" not in heard(host, task)
    assert owner.phase(task) == ("idle", None)


@pytest.mark.clause("IN-1b")
@pytest.mark.clause("AG-3")
def test_the_other_inputs_of_a_turn_go_on(owner: Person, host: Host, guarded: str) -> None:
    task = owner.create(guarded, "one")
    owner.tell(task, "forbidden")
    owner.tell(task, "two")

    host.take_turn(task, "done")

    assert [text for _, text, error in listed(owner, task) if error is None] == ["one", "two", "done"]
    assert [(text, error) for _, text, error in listed(owner, task) if error] == [
        ("forbidden", DENIED_INPUT),
        ("No forbidden.", DENIED_INPUT),
    ]


@pytest.mark.clause("AG-2")
def test_a_transform_replaces_what_flows_on_where_its_condition_holds(
    owner: Person, host: Host, guarded: str
) -> None:
    task = owner.create(guarded, "quietly")
    owner.tell(task, "please shout")

    host.start(task)

    assert heard(host, task) == ["quietly", "SHOUTED"]


@pytest.mark.clause("AG-2")
def test_steps_run_in_order_each_on_what_the_last_one_left(owner: Person, host: Host) -> None:
    mark = "input.put('message', [{'mimeType': 'text/plain', 'text': input.message[0].text + '%s'}])"
    steps = [{"transform": mark % letter} for letter in "ab"]
    agent = host.declare(guardrails={"before": [*steps, {"assert": "input.message[0].text == 'start-ab'"}]})
    task = owner.create(agent, "start-")

    host.start(task)

    assert heard(host, task) == ["start-ab"]


@pytest.mark.clause("AG-3")
@pytest.mark.clause("IO-8")
def test_a_denied_output_is_withheld_and_replaced(owner: Person, host: Host, guarded: str) -> None:
    task = owner.create(guarded, "hello")
    fence = host.start(task)

    host.say(task, fence, 1, "a secret")
    host.say(task, fence, 2, "a whisper")
    host.finish(task, fence, "another secret")

    assert listed(owner, task)[1:] == [
        ("output", "I may not say that.", DENIED_OUTPUT),
        ("output", "...", None),
        ("output", "I may not say that.", DENIED_OUTPUT),
    ]


@pytest.mark.clause("AG-4")
@pytest.mark.parametrize("step", [{}, {"on_error": "fail_call"}], ids=["by default", "fail_call"])
def test_what_cannot_be_evaluated_denies(owner: Person, host: Host, step: dict[str, str]) -> None:
    task = owner.create(guard(host, "before", **{"assert": NO_VALUE, **step}), "hello")

    assert host.post(task, "turns").status_code == 409

    assert [error for _, _, error in listed(owner, task)] == [DENIED_INPUT, DENIED_INPUT]
    assert owner.phase(task) == ("idle", None)


@pytest.mark.clause("AG-4")
def test_what_cannot_be_evaluated_is_skipped_where_it_says_so(owner: Person, host: Host) -> None:
    task = owner.create(guard(host, "before", **{"assert": NO_VALUE, "on_error": "ignore"}), "hello")

    host.take_turn(task, "done")

    assert listed(owner, task) == [("input", "hello", None), ("output", "done", None)]


@pytest.mark.clause("AG-4")
@pytest.mark.clause("LC-5")
@pytest.mark.parametrize("side", ["before", "after"])
def test_what_cannot_be_evaluated_locks_the_task_where_it_says_so(
    owner: Person, host: Host, side: str
) -> None:
    put = "input" if side == "before" else "output"
    task = owner.create(
        guard(host, side, **{"assert": f"{put}.nothing == 1", "on_error": "lock_task"}), "hello"
    )

    started = host.post(task, "turns")
    if side == "after":
        host.finish(task, answered(started, 201)["turn"]["fence"], "done")

    assert owner.phase(task) == ("terminal", "restricted")
    assert owner.texts(task) == ["hello"]
    assert owner.send(task, "please").status_code == 409


@pytest.mark.clause("AG-5")
@pytest.mark.clause("AG-3")
@pytest.mark.clause("TN-2b")
@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_review_holds_its_input_until_that_user_decides_and_the_others_go_on(
    owner: Person, other: Person, host: Host, other_id: str, decision: str
) -> None:
    step = {"condition": "input.message[0].text == 'ask'", "assert": f"review('{other_id}')"}
    agent = guard(host, "before", **step)
    task = owner.create(agent, "ask")
    owner.tell(task, "one")

    host.take_turn(task, "done")
    held = owner.waiting(task), owner.phase(task), owner.notifications(task)
    (asked,) = [one for one in other.reviews() if one["agent"] == agent]
    decided = other.decide(asked["id"], decision)
    if decision == "approve":
        host.start(task)
    else:
        host.post(task, "turns")

    assert held == (["ask"], ("processing", None), [])
    assert decided.status_code == 200, decided.text
    assert owner.waiting(task) == []
    assert ("ask" in heard(host, task)) == (decision == "approve")
    errors = [error for kind, text, error in listed(owner, task) if (kind, text) == ("input", "ask")]
    assert errors == [None if decision == "approve" else DENIED_INPUT]


@pytest.mark.clause("AG-5")
@pytest.mark.clause("TN-2a")
@pytest.mark.clause("TS-6a")
def test_a_review_by_the_responsible_user_is_their_notification(owner: Person, host: Host) -> None:
    agent = guard(host, "before", **{"assert": "review(context.user.id)"})
    task = owner.create(agent, "mine")
    before = owner.revision(task)

    host.post(task, "turns")
    calls, asked = owner.notifications(task), owner.revision(task)
    (review,) = [one for one in owner.reviews() if one["agent"] == agent]
    owner.decide(review["id"], "approve")

    assert [call["kind"] for call in calls] == ["review_required"]
    assert owner.notifications(task) == []
    assert len({before, asked, owner.revision(task)}) == 3


@pytest.mark.clause("AG-5")
def test_an_output_waits_for_its_review_and_nobody_sees_it_before(
    owner: Person, other: Person, host: Host, other_id: str
) -> None:
    agent = guard(host, "after", **{"assert": f"review('{other_id}')"})
    task = owner.create(agent, "hello")

    host.finish(task, host.start(task), "is this right?")
    before = owner.texts(task), owner.phase(task)
    (asked,) = [one for one in other.reviews() if one["agent"] == agent]
    other.decide(asked["id"], "approve")
    host.post(task, "turns")

    assert before == (["hello"], ("processing", None))
    assert owner.texts(task) == ["hello", "is this right?"]
    assert owner.phase(task) == ("idle", None)


@pytest.mark.clause("IO-7")
@pytest.mark.clause("IO-1")
def test_every_output_carries_all_that_its_agent_exposes(owner: Person, host: Host) -> None:
    exposes = {"length": "size(output.message[0].text)", "broken": "output.nothing"}
    agent = host.declare(exposes=exposes, guardrails={"after": AFTER})
    task = owner.create(agent, "hello")
    fence = host.start(task)
    host.say(task, fence, 1, "four")
    host.finish(task, fence, "a secret")

    outputs = owner.messages(task)[1:]

    assert [{name: entry[name] for name in exposes} for entry in outputs] == [
        {"length": 4, "broken": None},
        {"length": len("I may not say that."), "broken": None},
    ]
    assert [set(entry) - set(exposes) for entry in outputs] == [
        {"type", "message", "committed_at"},
        {"type", "message", "committed_at", "error"},
    ]


@pytest.mark.clause("TS-5c")
@pytest.mark.clause("AG-5")
def test_a_decision_about_an_input_of_a_task_that_has_ended_changes_nothing(
    owner: Person, other: Person, host: Host, other_id: str
) -> None:
    agent = guard(host, "before", **{"assert": f"review('{other_id}')"})
    task = owner.create(agent, "ask")
    host.post(task, "turns")
    (asked,) = [one for one in other.reviews() if one["agent"] == agent]
    host.do(task, "complete", discard_pending=True)
    before = owner.sees(task)

    late = other.decide(asked["id"], "approve")

    assert late.status_code == 409, late.text
    assert owner.waiting(task) == ["ask"]
    assert owner.sees(task) == before


@pytest.mark.clause("IN-1b")
@pytest.mark.clause("IN-1c")
def test_an_input_that_is_held_is_not_lost_by_completing(owner: Person, host: Host, other_id: str) -> None:
    task = owner.create(guard(host, "before", **{"assert": f"review('{other_id}')"}), "ask")
    host.post(task, "turns")

    refused = host.post(task, "complete")

    assert refused.status_code == 409, refused.text
    assert owner.waiting(task) == ["ask"]
