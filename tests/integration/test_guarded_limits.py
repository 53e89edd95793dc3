"""Guardrails at their limits: nothing that they make or hold wedges a task, loses an answer or lets anything in."""

from typing import Any

import pytest

from tests.support.agents import Of
from tests.support.hosting import AGENT, FUNCTION, Host, manifest, text
from tests.support.laboratory import BOB, Laboratory
from turnkeeper.agents.protocol import Need, Pause, Say, Steps, TurnView
from turnkeeper.domain.waits import WaitKind
from turnkeeper.guards import evaluator

ASK = {"before": [{"condition": "input.message[0].text.contains('ask')", "assert": f"review('{BOB}')"}]}
ASK_AFTER = {"after": [{"condition": "output.message[0].text.contains('ask')", "assert": f"review('{BOB}')"}]}
LARGE = {f"k{number}": "output.message[0].text.substring(0, 8000)" for number in range(16)}


def register(
    host: Host, guardrails: object = None, *, ours: dict[str, Any] | None = None, **more: object
) -> None:
    body = {**manifest(**{"repeatable": True, **(ours or {})}), **more}
    if guardrails:
        body["guardrails"] = guardrails
    reply = host.send("PUT", f"agents/{AGENT}", body)
    assert reply.status == 200, reply.body


def decide_all(host: Host, decision: str = "approve") -> None:
    for review in host.api.get("/v1/reviews", person=BOB, query={"limit": "100"}).json["reviews"]:
        reply = host.api.post(f"/v1/reviews/{review['id']}", {"decision": decision}, person=BOB)
        assert reply.status == 200


def listed(host: Host, task_id: str) -> list[tuple[str, str, str | None, bool]]:
    entries = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    return [
        (entry["type"], entry["message"][0]["text"], entry.get("error"), "committed_at" in entry)
        for entry in entries
    ]


def phase(host: Host, task_id: str) -> str:
    found: str = host.api.get(f"/v1/tasks/{task_id}").json["status"]["phase"]
    return found


def test_inputs_beyond_those_that_may_be_held_wait_without_a_sound(host: Host, live_lab: Laboratory) -> None:
    register(host, ASK)
    task_id = host.task(*[f"ask {number}" for number in range(16)], "one more")
    host.wake_ups()
    host.ask(task_id, "turns")
    entries = live_lab.stored(task_id).log_number
    host.wake_ups()

    for _ in range(5):
        assert host.ask(task_id, "turns").status == 409

    assert live_lab.stored(task_id).log_number == entries
    assert host.wake_ups() == []
    assert len(live_lab.stored(task_id).held) == 8
    for _ in range(3):
        decide_all(host)
        turn = host.ask(task_id, "turns")
        if turn.status == 201:
            host.finish(task_id, turn.json["turn"]["fence"], "done")
    inputs = [entry for entry in listed(host, task_id) if entry[0] == "input"]
    assert {entry[1:] for entry in inputs} == {
        (words, None, True) for words in ["one more", *(f"ask {number}" for number in range(16))]
    }
    assert phase(host, task_id) == "idle"


def test_a_turn_may_wait_for_all_it_may_whatever_is_held(host: Host) -> None:
    register(host, ASK)
    task_id = host.task("one", *[f"ask {number}" for number in range(8)])
    fence = host.start(task_id)["fence"]

    waits = [{"id": str(number), "kind": "host"} for number in range(16)]

    assert host.ask(task_id, "wait", {"fence": fence, "waits": waits}).status == 200


def test_a_workers_pause_is_no_failure_because_inputs_are_held(host: Host, live_lab: Laboratory) -> None:
    register(host, ASK, ours={"runs": "lambda", "function": FUNCTION})

    def run(_: TurnView) -> Steps:
        yield Pause((Need(id="p", kind=WaitKind.AUTHORISATION, provider="calendar"),))
        return None

    live_lab.agents[AGENT] = lambda: Of(run)
    task_id = host.task("one", *[f"ask {number}" for number in range(8)])
    live_lab.work()

    assert [wait.id for wait in live_lab.stored(task_id).waits] == ["p"]


def test_refusals_that_are_too_much_for_one_answer_are_answered_in_several(host: Host) -> None:
    register(host, {"before": [{"assert": "false", "deny_message": "{input.message[0].text}"}]})
    task_id = host.task(*["\x01" * 1_000 for _ in range(40)])

    for _ in range(6):
        host.ask(task_id, "turns")

    assert phase(host, task_id) == "idle"
    assert {entry[2] for entry in listed(host, task_id)} == {"denied_by_input_guardrail"}
    assert [entry[0] for entry in listed(host, task_id)].count("input") == 40


def test_what_is_exposed_never_keeps_an_output_from_being_said(host: Host) -> None:
    register(host, ASK_AFTER, exposes=LARGE)
    task_id, fence = host.running()
    message = [{"mimeType": "text/plain", "text": "ask" + "x" * 80_000}] * 3

    assert host.ask(task_id, "finish", {"fence": fence, "message": message}).status == 200
    decide_all(host)
    host.ask(task_id, "turns")

    (output,) = [
        entry
        for entry in host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
        if entry["type"] == "output"
    ]
    assert phase(host, task_id) == "idle"
    assert LARGE.keys() <= output.keys()
    assert None in {output[name] for name in LARGE}


def test_an_answer_that_is_too_large_as_json_is_its_agents_failure_and_no_riddle(
    host: Host, live_lab: Laboratory
) -> None:
    register(host, ours={"runs": "lambda", "function": FUNCTION, "attempts": 1})

    def run(_: TurnView) -> Steps:
        yield from ()
        return Say("\x01" * 90_000)

    live_lab.agents[AGENT] = lambda: Of(run)
    task_id = host.task("hi")
    live_lab.work()

    assert host.ending(task_id) == ("errored", 6000)


@pytest.mark.clause("AG-5")
def test_what_was_denied_stays_denied_though_the_task_went_on(host: Host) -> None:
    """It is judged again as the task was when it came."""
    register(
        host,
        {
            "before": [
                {
                    "condition": "input.message[0].text.contains('ask')",
                    "assert": f"context.turn > 1 || review('{BOB}')",
                }
            ]
        },
    )
    task_id = host.task("ask", "one")
    host.finish(task_id, host.start(task_id)["fence"], "done")

    decide_all(host, "deny")
    host.ask(task_id, "turns")

    assert ("input", "ask", "denied_by_input_guardrail", True) in listed(host, task_id)


def test_what_was_approved_is_let_in_with_what_it_saw_when_it_came(host: Host) -> None:
    register(host, {"before": [{"assert": f"size(context.input) == 1 || review('{BOB}')"}]})
    task_id = host.task("one", "two")
    host.finish(task_id, host.start(task_id)["fence"], "done")
    assert [one["subject"] for one in host.api.get("/v1/reviews", person=BOB).json["reviews"]]

    decide_all(host)
    host.start(task_id)

    assert [entry for entry in listed(host, task_id) if entry[0] == "input"] == [
        ("input", "one", None, True),
        ("input", "two", None, True),
    ]


def test_an_interrupt_refuses_what_is_held_whatever_its_expression_says(host: Host) -> None:
    register(host, {"before": [{"assert": f"review('{BOB}') || review('carol')"}]})
    task_id = host.task("ask")
    host.ask(task_id, "turns")

    assert host.ask(task_id, "interrupt").status == 200
    host.ask(task_id, "turns")

    assert listed(host, task_id)[0] == ("input", "ask", "denied_by_input_guardrail", True)
    assert phase(host, task_id) == "idle"


def test_a_process_that_died_meanwhile_condemns_nothing(host: Host) -> None:
    register(host, {"before": [{"assert": "true", "on_error": "lock_task"}]})
    host.start(host.task("one"))
    child = evaluator.shared()._child  # noqa: SLF001 - nobody else can kill it
    assert child
    child.kill()
    child.wait()

    task_id = host.task("two")

    assert host.start(task_id)["number"] == 1


@pytest.mark.parametrize("letter", ["a", "\u0436", "\U0001f40c"])
def test_a_large_input_is_changed_whatever_its_letters(host: Host, letter: str) -> None:
    register(
        host,
        {"before": [{"transform": "input.put('order', 'B')"}]},
        parameters={"type": "object", "properties": {"order": {"type": "string", "default": "A"}}},
    )
    body = {"message": [{"mimeType": "text/plain", "text": letter * (94_000 // len(letter.encode()))}] * 2}
    task_id = host.api.post("/v1/tasks", {"agent": AGENT, "input": body}).json["id"]

    host.start(task_id)

    (entry,) = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    assert (entry["order"], entry.get("error")) == ("B", None)


@pytest.mark.parametrize("key", [None, "w"])
def test_a_turn_goes_on_after_each_of_its_outputs_was_approved(host: Host, key: str | None) -> None:
    register(host, ASK_AFTER)
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "ask")
    decide_all(host)

    started = host.ask(task_id, "turns", key=key)
    again = host.ask(task_id, "turns", key=key) if key else started
    turn = started.json["turn"]
    held = host.finish(task_id, turn["fence"], "ask again")
    decide_all(host)
    host.ask(task_id, "turns")

    assert (started.status, again.status) == (201, 201)
    assert again.json["turn"]["fence"] == turn["fence"]
    assert held.json["turn"]["state"] == "suspended"
    assert [entry[1] for entry in listed(host, task_id) if entry[0] == "output"] == ["ask", "ask again"]


def test_a_start_with_a_key_that_left_nothing_to_run_says_so_each_time(host: Host) -> None:
    register(host, {"before": [{"assert": "false"}]})
    task_id = host.task("hi")

    answers = [host.ask(task_id, "turns", key="k") for _ in range(2)]

    assert [(answer.status, answer.json["agent_status"]["code"]) for answer in answers] == [(409, 4001)] * 2


@pytest.mark.parametrize("instant", ["0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"])
def test_an_instant_beyond_the_calendar_is_refused_by_its_place(host: Host, instant: str) -> None:
    task_id, fence = host.running()
    wait = {"id": "a", "kind": "auth", "provider": "p", "needed_at": instant}

    waits = host.ask(task_id, "wait", {"fence": fence, "waits": [wait]})
    grant = host.send("POST", "grants", {"user": BOB, "provider": "p", "granted_at": instant})

    assert (waits.status, grant.status) == (422, 422)


def test_a_task_that_waits_for_a_review_alone_is_not_to_be_polled_each_second(host: Host) -> None:
    register(host, ASK)
    task_id = host.task("ask")
    host.ask(task_id, "turns")

    assert host.api.get(f"/v1/tasks/{task_id}").headers["Poll-After"] == "2"


def test_a_parent_in_our_worker_reads_its_child_as_the_model_may(host: Host, live_lab: Laboratory) -> None:
    heard: list[str] = []
    body = {**manifest("other", delegates_from=[AGENT]), "guardrails": {"before": [{"assert": "false"}]}}
    assert host.send("PUT", "agents/other", body).status == 200
    register(host, ours={"runs": "lambda", "function": FUNCTION})
    task_id = host.task("hi")
    turn = host.start(task_id)
    child = host.ask(
        task_id, "children", {"fence": turn["fence"], "call": "c", "agent": "other", "input": text("go")}
    ).json["id"]
    host.ask(child, "turns")

    def run(view: TurnView) -> Steps:
        heard.extend(entry["type"] for entry in view.child(child))
        yield from ()
        return None

    live_lab.agents[AGENT] = lambda: Of(run)
    host.sweep_after(seconds=61)
    live_lab.work()

    assert heard == ["output"]
