"""Guardrails after the agent, and what it exposes: whatever is said passes them, whoever says it."""

from typing import Any

import pytest

from tests.support.agents import Of
from tests.support.hosting import AGENT, FUNCTION, Host, manifest
from tests.support.laboratory import BOB, Laboratory
from turnkeeper.agents.protocol import Say, Steps, TurnView

GUARDED = {
    "after": [
        {"assert": "!output.message[0].text.contains('secret')", "deny_message": "I may not say that."},
        {"assert": "!output.message[0].text.contains('bomb')", "on_fail": "lock_task"},
        {
            "condition": "output.message[0].text.contains('whisper')",
            "transform": "{'message': [{'mimeType': 'text/plain', 'text': '...'}]}",
        },
        {"condition": "output.message[0].text.contains('ask')", "assert": f"review('{BOB}')"},
    ]
}
EXPOSES = {"length": "size(output.message[0].text)", "broken": "output.nothing", "turn": "context.turn"}


def register(host: Host, *, exposes: object = None, **ours: object) -> None:
    body = {**manifest(**{"repeatable": True, **ours}), "guardrails": GUARDED}  # type: ignore[arg-type]
    reply = host.send("PUT", f"agents/{AGENT}", {**body, **({"exposes": exposes} if exposes else {})})
    assert reply.status == 200, reply.body


@pytest.fixture
def guarded(host: Host) -> Host:
    """The host `acme`, whose agent `helper` is guarded and exposes nothing."""
    register(host)
    return host


def said(host: Host, task_id: str) -> list[tuple[str, str | None]]:
    """(text, error) of what was said."""
    entries = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    return [
        (entry["message"][0]["text"], entry.get("error")) for entry in entries if entry["type"] == "output"
    ]


def reviews(host: Host) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = host.api.get("/v1/reviews", person=BOB).json["reviews"]
    return found


def decide(host: Host, decision: str = "approve") -> None:
    (review,) = reviews(host)
    reply = host.api.post(f"/v1/reviews/{review['id']}", {"decision": decision}, person=BOB)
    assert reply.status == 200


@pytest.mark.clause("AG-3", "IO-8")
def test_a_denied_output_is_withheld_and_replaced(guarded: Host) -> None:
    task_id, fence = guarded.running()

    guarded.say(task_id, fence, 1, "a secret")
    guarded.say(task_id, fence, 2, "a whisper")
    guarded.finish(task_id, fence, "another secret")

    assert said(guarded, task_id) == [
        ("I may not say that.", "denied_by_output_guardrail"),
        ("...", None),
        ("I may not say that.", "denied_by_output_guardrail"),
    ]


@pytest.mark.clause("AG-4", "LC-5")
@pytest.mark.parametrize("last", [True, False])
def test_an_output_that_locks_is_not_said_and_ends_the_task(guarded: Host, *, last: bool) -> None:
    task_id, fence = guarded.running()

    reply = guarded.finish(task_id, fence, "a bomb") if last else guarded.say(task_id, fence, 1, "a bomb")

    assert reply.status == 200
    assert guarded.ending(task_id) == ("restricted", 4003)
    assert said(guarded, task_id) == []


@pytest.mark.clause("AG-5")
@pytest.mark.parametrize(
    ("decision", "spoken"),
    [
        ("approve", ("ask me", None)),
        ("deny", ("A guardrail of this agent withheld the answer.", "denied_by_output_guardrail")),
    ],
)
def test_a_last_output_waits_for_its_review_and_ends_the_turn_then(
    guarded: Host, decision: str, spoken: tuple[str, str | None]
) -> None:
    task_id, fence = guarded.running()
    guarded.wake_ups()

    reply = guarded.finish(task_id, fence, "ask me")

    assert (reply.status, reply.json["turn"]["state"]) == (200, "suspended")
    assert said(guarded, task_id) == []
    assert guarded.ask(task_id, "turns").status == 409
    decide(guarded, decision)
    assert [wake["task"] for wake in guarded.wake_ups()] == [task_id]
    assert guarded.ask(task_id, "turns").status == 409
    assert said(guarded, task_id) == [spoken]
    assert guarded.read(task_id)["task"]["status"]["phase"] == "idle"


@pytest.mark.clause("AG-5")
def test_an_output_along_the_way_waits_too_and_its_leg_goes_on(guarded: Host) -> None:
    task_id, fence = guarded.running()
    guarded.say(task_id, fence, 1, "first")

    held = guarded.say(task_id, fence, 2, "ask me")
    late = guarded.say(task_id, fence, 3, "too early")
    decide(guarded)
    turn = guarded.start(task_id)
    again = guarded.say(task_id, turn["fence"], 1, "first")
    guarded.finish(task_id, turn["fence"], "done")

    assert (held.json["turn"]["state"], late.status) == ("suspended", 409)
    assert (turn["first_output"], turn["outputs"], turn["number"]) == (1, 2, 1)
    assert again.json["turn"]["outputs"] == 2
    assert said(guarded, task_id) == [("first", None), ("ask me", None), ("done", None)]


def test_a_review_that_took_too_long_withholds_the_output(guarded: Host) -> None:
    task_id, fence = guarded.running()
    guarded.finish(task_id, fence, "ask me")

    guarded.sweep_after(days=7, seconds=1)
    guarded.ask(task_id, "turns")

    assert said(guarded, task_id) == [
        ("A guardrail of this agent withheld the answer.", "denied_by_output_guardrail")
    ]


@pytest.mark.parametrize("how", ["interrupt", "complete"])
def test_an_end_of_the_turn_drops_what_waited(guarded: Host, live_lab: Laboratory, how: str) -> None:
    task_id, fence = guarded.running()
    guarded.finish(task_id, fence, "ask me")

    assert guarded.ask(task_id, how).status == 200

    assert said(guarded, task_id) == []
    assert reviews(guarded) == []
    assert not [key for key in live_lab.everything() if key[0].startswith("PERSON#")]


@pytest.mark.clause("IO-7")
def test_every_output_carries_all_that_is_exposed(host: Host) -> None:
    register(host, exposes=EXPOSES)
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "hello")
    host.finish(task_id, fence, "a secret")

    entries = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"][1:]

    assert [{name: entry[name] for name in EXPOSES} for entry in entries] == [
        {"length": 5, "broken": None, "turn": 1},
        {"length": len("I may not say that."), "broken": None, "turn": 1},
    ]


def worker(host: Host, lab: Laboratory, *words: str, repeatable: bool = True) -> str:
    """A task whose turn in the user's function says *words*."""
    register(host, runs="lambda", function=FUNCTION, repeatable=repeatable)

    def run(_: TurnView) -> Steps:
        for word in words[:-1]:
            yield Say(word)
        return Say(words[-1])

    lab.agents[AGENT] = lambda: Of(run)
    task_id = host.task("hi")
    lab.work()
    return task_id


def test_a_worker_is_held_to_it_as_a_host_is(guarded: Host, live_lab: Laboratory) -> None:
    task_id = worker(guarded, live_lab, "a whisper", "a secret", "done")

    assert said(guarded, task_id) == [
        ("...", None),
        ("I may not say that.", "denied_by_output_guardrail"),
        ("done", None),
    ]


def test_a_workers_agent_is_run_again_after_a_review_and_nothing_is_said_twice(
    guarded: Host, live_lab: Laboratory
) -> None:
    task_id = worker(guarded, live_lab, "first", "ask me", "ask again")
    decide(guarded)
    live_lab.work()
    decide(guarded)
    live_lab.work()

    assert said(guarded, task_id) == [("first", None), ("ask me", None), ("ask again", None)]
    assert guarded.read(task_id)["task"]["status"]["phase"] == "idle"
    assert guarded.read(task_id)["turns"] == 1


def test_an_agent_that_must_not_run_again_may_not_wait_along_the_way(
    guarded: Host, live_lab: Laboratory
) -> None:
    task_id = worker(guarded, live_lab, "ask me", "ask again", repeatable=False)

    assert said(guarded, task_id) == [
        (
            "A guardrail of this agent could not check the answer, so it was withheld.",
            "denied_by_output_guardrail",
        )
    ]
    decide(guarded)
    live_lab.work()
    assert said(guarded, task_id)[-1] == ("ask again", None)


def test_what_a_reconcile_says_is_guarded(guarded: Host) -> None:
    register(guarded, repeatable=False)
    task_id, _ = guarded.running()
    guarded.sweep_after(seconds=61)

    body = {"answer": "done", "message": [{"mimeType": "text/plain", "text": "a secret"}]}
    assert guarded.ask(task_id, "reconcile", body).status == 200

    assert said(guarded, task_id) == [("I may not say that.", "denied_by_output_guardrail")]
