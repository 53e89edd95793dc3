"""Guardrails before the agent: what they let through, change, refuse, lock and hold, as it lies in the conversation."""

import sys
from typing import Any

import pytest

from tests.support.agents import Of
from tests.support.hosting import AGENT, FUNCTION, Host, manifest
from tests.support.laboratory import BOB, Laboratory
from turnkeeper.agents.protocol import Say, Steps, TurnView
from turnkeeper.agents.protocol import texts as spoken
from turnkeeper.guards import evaluator

GUARDED = {
    "before": [
        {
            "assert": "!input.message[0].text.contains('forbidden')",
            "deny_message": "No {input.message[0].text}.",
        },
        {"assert": "!input.message[0].text.contains('bomb')", "on_fail": "lock_task"},
        {
            "condition": "input.message[0].text.contains('shout')",
            "transform": "input.put('message', [{'mimeType': 'text/plain', 'text': 'SHOUTED'}])",
        },
        {
            "condition": "input.message[0].text.contains('ask')",
            "assert": f"review('{BOB}')",
            "deny_message": "Bob said no.",
        },
    ]
}


@pytest.fixture
def guarded(host: Host) -> Host:
    """The host `acme`, whose agent `helper` is guarded."""
    assert register(host, GUARDED).status == 200
    return host


def register(host: Host, guardrails: object, **more: object) -> Any:
    reply = host.send(
        "PUT", f"agents/{AGENT}", {**manifest(repeatable=True), "guardrails": guardrails, **more}
    )
    assert reply.status == 200, reply.body
    return reply


def listed(host: Host, task_id: str) -> list[tuple[str, str, str | None, bool]]:
    """(type, text, error, committed) of the conversation as its owner sees it."""
    entries = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    return [
        (
            entry["type"],
            " / ".join(part["text"] for part in entry["message"]),
            entry.get("error"),
            "committed_at" in entry,
        )
        for entry in entries
    ]


def heard(host: Host, task_id: str) -> list[str]:
    """What the model may see, as its host reads it."""
    entries = host.messages(task_id)["messages"]
    return [f"{entry['type']} {entry['message'][0]['text']}" for entry in entries]


def phase(host: Host, task_id: str) -> str:
    found: str = host.api.get(f"/v1/tasks/{task_id}").json["status"]["phase"]
    return found


@pytest.mark.clause("IN-1b", "AG-2", "AG-3", "IO-8")
def test_a_refused_input_is_listed_and_answered_and_never_shown_to_the_model(guarded: Host) -> None:
    task_id = guarded.task("forbidden fruit")

    started = guarded.ask(task_id, "turns")

    assert started.status == 409
    assert phase(guarded, task_id) == "idle"
    assert listed(guarded, task_id) == [
        ("input", "forbidden fruit", "denied_by_input_guardrail", True),
        ("output", "No forbidden fruit.", "denied_by_input_guardrail", True),
    ]
    assert heard(guarded, task_id) == ["output No forbidden fruit."]


@pytest.mark.clause("AG-3", "IO-5")
def test_the_others_of_a_turn_go_on_with_what_guardrails_made_of_them(guarded: Host) -> None:
    task_id = guarded.task("one", "forbidden", "please shout", "two")

    turn = guarded.start(task_id)
    guarded.finish(task_id, turn["fence"], "done")

    assert turn["first_output"] == 2
    assert heard(guarded, task_id) == [
        "input one",
        "input SHOUTED",
        "input two",
        "output No forbidden.",
        "output done",
    ]
    assert listed(guarded, task_id) == [
        ("input", "one", None, True),
        ("input", "forbidden", "denied_by_input_guardrail", True),
        ("input", "SHOUTED", None, True),
        ("input", "two", None, True),
        ("output", "No forbidden.", "denied_by_input_guardrail", True),
        ("output", "done", None, True),
    ]


def test_several_refused_inputs_are_answered_in_one_output(guarded: Host) -> None:
    task_id = guarded.task("forbidden a", "forbidden b")

    guarded.ask(task_id, "turns")

    assert listed(guarded, task_id)[-1] == (
        "output",
        "No forbidden a. / No forbidden b.",
        "denied_by_input_guardrail",
        True,
    )


@pytest.mark.clause("AG-4", "LC-5")
def test_a_step_that_locks_ends_the_task_restricted_and_commits_nothing(guarded: Host) -> None:
    task_id = guarded.task("hello", "a bomb")

    assert guarded.ask(task_id, "turns").status == 409

    assert guarded.ending(task_id) == ("restricted", 4003)
    assert listed(guarded, task_id) == [("input", "hello", None, False), ("input", "a bomb", None, False)]
    assert heard(guarded, task_id) == ["input hello", "input a bomb"]


@pytest.mark.clause("AG-3", "AG-5", "TN-2b")
def test_a_review_holds_its_input_and_the_others_go_on(guarded: Host) -> None:
    task_id = guarded.task("ask Bob", "one")

    turn = guarded.start(task_id)
    guarded.finish(task_id, turn["fence"], "done")
    (review,) = guarded.api.get("/v1/reviews", person=BOB).json["reviews"]

    assert listed(guarded, task_id) == [
        ("input", "one", None, True),
        ("output", "done", None, True),
        ("input", "ask Bob", None, False),
    ]
    assert phase(guarded, task_id) == "processing"
    assert guarded.ask(task_id, "turns").status == 409
    assert guarded.api.get("/v1/notifications").json["notifications"] == []
    guarded.wake_ups()
    decided = guarded.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}, person=BOB)
    assert decided.status == 200
    assert [wake["task"] for wake in guarded.wake_ups()] == [task_id]
    second = guarded.start(task_id)
    assert second["number"] == 2
    assert heard(guarded, task_id)[-1] == "input ask Bob"


@pytest.mark.parametrize("how", ["denied", "too late", "interrupted"])
def test_an_input_that_nobody_approved_is_refused(guarded: Host, how: str) -> None:
    task_id = guarded.task("ask Bob")
    assert guarded.ask(task_id, "turns").status == 409
    (review,) = guarded.api.get("/v1/reviews", person=BOB).json["reviews"]
    if how == "denied":
        guarded.api.post(f"/v1/reviews/{review['id']}", {"decision": "deny"}, person=BOB)
    elif how == "too late":
        guarded.sweep_after(days=7, seconds=1)
    else:
        assert guarded.ask(task_id, "interrupt").status == 200

    guarded.ask(task_id, "turns")

    assert listed(guarded, task_id) == [
        ("input", "ask Bob", "denied_by_input_guardrail", True),
        ("output", "Bob said no.", "denied_by_input_guardrail", True),
    ]
    assert guarded.api.get("/v1/reviews", person=BOB).json["reviews"] == []
    assert phase(guarded, task_id) == "idle"


@pytest.mark.clause("TN-2a", "TN-5")
def test_a_held_input_that_waits_for_the_responsible_user_is_their_notification(host: Host) -> None:
    register(host, {"before": [{"assert": "review(context.user.id)"}]})
    task_id = host.task("mine")

    host.ask(task_id, "turns")

    (call,) = host.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"]
    (found,) = host.api.get("/v1/notifications").json["notifications"]
    assert (call["kind"], found["task"]) == ("review_required", task_id)
    assert host.read(task_id)["agent_status"]["code"] == 3002


@pytest.mark.parametrize("how", ["complete", "error", "restrict"])
def test_an_end_asks_nobody_any_more_and_keeps_the_held_input_listed(
    guarded: Host, live_lab: Laboratory, how: str
) -> None:
    task_id = guarded.task("ask Bob")
    guarded.ask(task_id, "turns")
    (review,) = guarded.api.get("/v1/reviews", person=BOB).json["reviews"]
    refused = guarded.ask(task_id, "complete")

    body = {"discard_pending": True} if how == "complete" else {}
    assert guarded.ask(task_id, how, body).status == 200
    before = live_lab.everything()

    assert refused.status == 409
    assert listed(guarded, task_id) == [("input", "ask Bob", None, False)]
    assert guarded.api.get("/v1/reviews", person=BOB).json["reviews"] == []
    assert guarded.api.post(f"/v1/reviews/{review['id']}", {"decision": "deny"}, person=BOB).status == 409
    assert live_lab.everything() == before


def test_a_review_decided_during_a_turn_is_the_next_turns(guarded: Host) -> None:
    task_id = guarded.task("ask Bob", "one")
    turn = guarded.start(task_id)
    (review,) = guarded.api.get("/v1/reviews", person=BOB).json["reviews"]
    guarded.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}, person=BOB)

    finished = guarded.finish(task_id, turn["fence"], "done")

    assert finished.json["task"]["status"]["phase"] == "processing"
    assert guarded.start(task_id)["number"] == 2
    assert heard(guarded, task_id) == ["input one", "output done", "input ask Bob"]


def test_a_follower_sees_a_held_input_once_more_when_it_is_committed(guarded: Host) -> None:
    task_id = guarded.task("ask Bob", "one")
    turn = guarded.start(task_id)
    first = guarded.api.get(f"/v1/tasks/{task_id}/messages").json
    (review,) = guarded.api.get("/v1/reviews", person=BOB).json["reviews"]
    guarded.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}, person=BOB)
    guarded.finish(task_id, turn["fence"], "done")
    guarded.start(task_id)

    rest = guarded.api.get(f"/v1/tasks/{task_id}/messages", query={"after": first["next"]}).json

    assert [entry["message"][0]["text"] for entry in first["messages"]] == ["one", "ask Bob"]
    assert [entry["message"][0]["text"] for entry in rest["messages"]] == ["done", "ask Bob"]
    assert "committed_at" in rest["messages"][1]


def test_a_built_in_worker_judges_as_a_host_does(guarded: Host, live_lab: Laboratory) -> None:
    seen: list[list[str]] = []
    register(guarded, GUARDED, turnkeeper={"runs": "lambda", "function": FUNCTION, "repeatable": True})
    live_lab.agents[AGENT] = lambda: Of(lambda turn: listen(turn, seen))
    task_id = guarded.task("one", "forbidden", "please shout")

    live_lab.work()

    assert seen == [["one", "SHOUTED"]]
    assert [entry[1] for entry in listed(guarded, task_id)] == [
        "one",
        "forbidden",
        "SHOUTED",
        "No forbidden.",
        "heard",
    ]


def test_a_worker_that_gives_a_task_up_asks_nobody_any_more(guarded: Host, live_lab: Laboratory) -> None:
    register(guarded, GUARDED, turnkeeper={"runs": "lambda", "function": FUNCTION})
    live_lab.agents[AGENT] = lambda: Of(break_off)
    task_id = guarded.task("one", "ask Bob")

    live_lab.work()

    assert guarded.ending(task_id)[0] == "errored"
    assert guarded.api.get("/v1/reviews", person=BOB).json["reviews"] == []


def break_off(_turn: TurnView) -> Steps:
    yield from ()
    raise RuntimeError("broken")


def listen(turn: TurnView, seen: list[list[str]]) -> Steps:
    seen.append([said for message in turn.inputs for said in spoken(message)])
    yield from ()
    return Say("heard")


def test_guardrails_that_cannot_be_evaluated_at_all_leave_everything_as_it_was(
    guarded: Host, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process can be started: that is ours to mend, and denies nobody anything."""
    task_id = guarded.task("one")
    before = live_lab.everything()
    evaluator.shared().close()
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/nowhere/python")
        refused = guarded.ask(task_id, "turns")

    assert (refused.status, refused.json["agent_status"]["code"]) == (503, 5003)
    assert refused.json["retry"]["retryable"]
    assert live_lab.everything() == before
    assert guarded.start(task_id)["number"] == 1


def test_a_reviewer_is_shown_what_the_manifest_says_is_to_be_decided(host: Host) -> None:
    shown = f"review('{BOB}', 'Let in: ' + input.message[0].text)"
    register(host, {"before": [{"assert": shown}]})
    task_id = host.task("ten parcels")

    refused = host.ask(task_id, "turns")

    (review,) = host.api.get("/v1/reviews", person=BOB).json["reviews"]
    assert review["subject"] == "Let in: ten parcels"
    assert [wait["reviewer"] for wait in host.read(task_id)["waits"]] == [BOB]
    assert (refused.status, refused.json["retry"]["side_effect_state"]) == (409, "confirmed")


@pytest.mark.clause("AG-1", "AG-5")
@pytest.mark.parametrize("asks", ["review()", "review('a', 'b', 'c')", "true || review()"])
def test_a_review_of_nobody_is_refused_when_it_is_registered(host: Host, asks: str) -> None:
    body = {**manifest(), "guardrails": {"before": [{"assert": asks}]}}

    reply = host.send("PUT", f"agents/{AGENT}", body)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (
        422,
        ["guardrails.before[0].assert"],
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_pages_of_any_size_show_what_was_made_of_inputs(host: Host, limit: int) -> None:
    shout = "input.put('message', [{'mimeType': 'text/plain', 'text': input.message[0].text.upperAscii()}])"
    step = {"condition": "!input.message[0].text.startsWith('plain')", "transform": shout}
    refusing = {"assert": "input.message[0].text != 'no'"}
    register(host, {"before": [refusing, step]})
    words = ["a", "plain b", "no", "c", "plain d", "e", "f"]
    task_id = host.task(*words)
    host.finish(task_id, host.start(task_id)["fence"], "done")
    whole = [entry[1] for entry in listed(host, task_id)]
    found: list[str] = []
    after: str | None = None
    while True:
        query = {"limit": str(limit), **({"after": after} if after else {})}
        page = host.api.get(f"/v1/tasks/{task_id}/messages", query=query).json
        found += [entry["message"][0]["text"] for entry in page["messages"]]
        after = page["next"]
        if not page["more"]:
            break

    assert found == whole
    assert whole[:7] == ["A", "plain b", "no", "C", "plain d", "E", "F"]
