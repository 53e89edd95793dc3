"""The whole life of a turn that an external host drives: woken, begun, spoken in, ended."""

from datetime import timedelta

import pytest

from tests.support.hosting import AGENT, Host, Hosts, manifest, text
from tests.support.laboratory import Laboratory, texts
from turnkeeper.domain import transitions
from turnkeeper.domain.instants import from_text
from turnkeeper.domain.waits import Verdict, Wait, WaitKind
from turnkeeper.service.change import apply


def said_in(host: Host, task_id: str, **query: str) -> list[tuple[str, str]]:
    """(type, text) of the conversation as the host reads it."""
    return list(texts(host.messages(task_id, **query)["messages"]))


def test_a_turn_lives_from_its_wake_up_to_its_end(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task("one", "two")
    assert {wake["task"] for wake in host.wake_ups()} == {task_id}

    started = host.ask(task_id, "turns")
    turn = started.json["turn"]
    heard = said_in(host, task_id, after=turn["inputs_after"])
    first = host.say(task_id, turn["fence"], turn["first_output"], "thinking")
    second = host.say(task_id, turn["fence"], turn["first_output"] + 1, "still")
    done = host.finish(task_id, turn["fence"], "done")

    assert started.status == 201
    assert (turn["number"], turn["fence"], turn["attempt"], turn["first_output"]) == (1, 1, 1, 1)
    assert (turn["state"], turn["memo"], turn["resolutions"]) == ("running", None, [])
    assert heard == [("input", "one"), ("input", "two")]
    assert (first.status, second.status, done.status) == (200, 200, 200)
    assert done.json["task"]["status"]["phase"] == "idle"
    assert (done.json["turn"], done.json["turns"], done.json["pending"]) == (None, 1, 0)
    assert list(texts(live_lab.conversation(task_id))) == [
        ("input", "one"),
        ("input", "two"),
        ("output", "thinking"),
        ("output", "still"),
        ("output", "done"),
    ]


def test_what_a_host_sees_is_the_task_as_people_see_it_and_its_turn_beside(host: Host) -> None:
    task_id, _ = host.running()
    host.tell(task_id, "more")

    shown = host.send("GET", f"tasks/{task_id}")
    people = host.api.get(f"/v1/tasks/{task_id}")

    assert shown.status == 200
    assert shown.json["task"] == people.json
    assert shown.headers["ETag"] == people.headers["ETag"]
    assert shown.headers["Cache-Control"] == "private, no-store"
    assert shown.json["agent_status"] == {"code": 1010, "name": "RUNNING"}
    assert (shown.json["pending"], shown.json["turns"], shown.json["waits"]) == (1, 1, [])
    assert shown.json["usage"] == {"prompt_tokens": 0, "completion_tokens": 0, "tool_calls": 0}


def test_a_turn_may_end_without_a_word(host: Host) -> None:
    task_id, fence = host.running()

    reply = host.finish(task_id, fence)

    assert reply.status == 200
    assert reply.json["task"]["status"]["phase"] == "idle"
    assert said_in(host, task_id) == [("input", "hi")]


def test_input_that_comes_during_a_turn_is_the_next_ones(host: Host) -> None:
    task_id, fence = host.running("one")
    host.wake_ups()
    host.tell(task_id, "two")
    seen = host.messages(task_id, after=host.read(task_id)["turn"]["inputs_after"])["messages"]

    assert [("committed_at" in entry, entry["message"][0]["text"]) for entry in seen] == [
        (True, "one"),
        (False, "two"),
    ]
    finished = host.finish(task_id, fence, "re: one")
    assert (finished.json["pending"], finished.json["task"]["status"]["phase"]) == (1, "processing")
    assert [wake["task"] for wake in host.wake_ups()] == [task_id] * 2
    turn = host.start(task_id)
    assert (turn["number"], turn["fence"]) == (2, 2)
    assert said_in(host, task_id, after=turn["inputs_after"]) == [("input", "two")]


def test_a_turns_inputs_come_first_however_many_pages_they_are(host: Host) -> None:
    inputs = [str(number) for number in range(7)]
    before, fence = host.running("earlier")
    host.finish(before, fence, "said earlier")
    for each in inputs:
        host.tell(before, each)
    turn = host.start(before)
    host.say(before, turn["fence"], 1, "now")
    host.tell(before, "later")

    heard: list[tuple[str, str]] = []
    page = {"next": turn["inputs_after"], "more": True}
    while page["more"]:
        page = host.messages(before, after=page["next"], limit="3")
        heard += texts(page["messages"])

    assert heard == [*(("input", each) for each in inputs), ("output", "now"), ("input", "later")]


def test_an_output_whose_number_was_there_is_not_said_again(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    first = host.say(task_id, fence, 1, "one")
    before = live_lab.everything()

    again = host.say(task_id, fence, 1, "one, otherwise")

    assert again.status == 200
    assert again.json == first.json
    assert live_lab.everything() == before


def test_no_output_may_overtake_the_one_before_it(host: Host, live_lab: Laboratory) -> None:
    """Else that one would be taken for a repeated one, and be lost."""
    task_id, fence = host.running()
    before = live_lab.everything()

    reply = host.say(task_id, fence, 2, "two")

    assert reply.status == 422
    assert [place["at"] for place in reply.json["errors"]] == ["number"]
    assert live_lab.everything() == before
    assert host.say(task_id, fence, 1, "one").status == 200
    assert host.say(task_id, fence, 2, "two").status == 200


def test_an_attempt_that_repeats_says_only_what_is_new(host: Host) -> None:
    task_id, fence = host.running("hi")
    host.say(task_id, fence, 1, "one")
    host.sweep_after(seconds=61)

    turn = host.start(task_id)
    for number, words in enumerate(["one", "two"], start=turn["first_output"]):
        host.say(task_id, turn["fence"], number, words)
    host.finish(task_id, turn["fence"], "three")

    assert (turn["attempt"], turn["fence"], turn["outputs"], turn["first_output"]) == (2, 2, 1, 1)
    assert [words for kind, words in said_in(host, task_id) if kind == "output"] == ["one", "two", "three"]


def test_a_heartbeat_renews_the_lease_and_changes_nothing_that_anybody_sees(
    host: Host, live_lab: Laboratory
) -> None:
    task_id, fence = host.running()
    before, shown = live_lab.stored(task_id), host.read(task_id)

    reply = host.ask(task_id, "heartbeat", {"fence": fence})
    after = live_lab.stored(task_id)

    assert reply.status == 200
    assert before.turn
    assert before.turn.lease_until
    assert after.turn
    assert after.turn.lease_until
    assert after.turn.lease_until > before.turn.lease_until
    assert reply.json["task"] == shown["task"]
    assert from_text(reply.json["turn"]["lease_until"]) == after.turn.lease_until
    assert (after.log_number, after.due_at) == (before.log_number, before.due_at)


def test_what_is_used_is_counted_with_whatever_carries_it(host: Host) -> None:
    task_id, fence = host.running()

    host.ask(task_id, "heartbeat", {"fence": fence, "usage": {"prompt_tokens": 10, "tool_calls": 1}})
    host.say(task_id, fence, 1, "one", usage={"completion_tokens": 5})
    ended = host.finish(task_id, fence, "two", usage={"prompt_tokens": 3, "completion_tokens": 2})

    assert ended.json["usage"] == {"prompt_tokens": 13, "completion_tokens": 7, "tool_calls": 1}
    assert host.read(task_id)["usage"] == ended.json["usage"]


def test_a_resumed_turn_gets_its_memo_and_how_its_waits_ended(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "one")
    suspend(live_lab, task_id)
    assert host.ask(task_id, "turns").status == 409
    assert host.read(task_id)["waits"][0]["id"] == "w"
    resolve(live_lab, task_id)

    turn = host.start(task_id)

    assert (turn["memo"], turn["first_output"], turn["fence"]) == ({"so": "far"}, 2, 2)
    assert [(one["id"], one["kind"], one["verdict"]) for one in turn["resolutions"]] == [
        ("w", "host", "done")
    ]
    assert host.read(task_id)["turn"]["memo"] == {"so": "far"}


def suspend(lab: Laboratory, task_id: str) -> None:
    now = lab.clock.now
    wait = Wait(id="w", kind=WaitKind.HOST, since=now, deadline=now + timedelta(days=1))
    task = lab.stored(task_id)
    apply(
        lab.runtime,
        task,
        lambda task, now: transitions.suspend(
            task, fence=task.fence, waits=[wait], memo='{"so":"far"}', now=now, pace=lab.runtime.pace
        ),
        actor="worker",
    )


def resolve(lab: Laboratory, task_id: str) -> None:
    apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.resolve(
            task, verdicts={"w": Verdict.DONE}, now=now, pace=lab.runtime.pace
        ),
        actor="host",
    )


@pytest.mark.parametrize("where", ["idle", "running", "ended"])
def test_where_nothing_is_to_start_nothing_starts(host: Host, live_lab: Laboratory, where: str) -> None:
    task_id, fence = host.running()
    if where != "running":
        host.finish(task_id, fence)
    if where == "ended":
        host.ask(task_id, "complete")
    before = live_lab.everything()

    reply = host.ask(task_id, "turns")

    assert reply.status == 409
    assert reply.json["agent_status"]["code"] == 4001
    assert live_lab.everything() == before


def test_a_failed_attempt_is_tried_again_after_its_back_off_and_no_sooner(hosts: Hosts) -> None:
    host = hosts.acme
    host.register(repeatable=True, attempts=2, backoff=["30m"])
    task_id, fence = host.running()
    host.wake_ups()

    failed = host.ask(task_id, "fail", {"fence": fence})
    early = host.ask(task_id, "turns")
    host.sweep_after(minutes=32)

    assert failed.status == 200
    assert failed.json["turn"]["state"] == "between_attempts"
    assert failed.json["agent_status"]["name"] == "RETRY_SCHEDULED"
    assert early.status == 409
    assert [wake["task"] for wake in host.wake_ups()] == [task_id]


def test_the_last_attempt_that_fails_ends_the_task(hosts: Hosts) -> None:
    hosts.acme.register(repeatable=True, attempts=2, backoff=["0s"])
    task_id, fence = hosts.acme.running()
    hosts.acme.ask(task_id, "fail", {"fence": fence})

    turn = hosts.acme.start(task_id)
    failed = hosts.acme.ask(task_id, "fail", {"fence": turn["fence"]})

    assert turn["attempt"] == 2
    assert failed.status == 200
    assert failed.json["task"]["status"]["terminal_reason"] == "errored"
    assert failed.json["agent_status"]["code"] == 6000


def test_a_manifest_changes_nothing_about_a_turn_that_runs(host: Host) -> None:
    task_id, fence = host.running()

    host.send("PUT", f"agents/{AGENT}", manifest(limits={"max_tool_calls": 0}, turn_limit="1ms"))

    reply = host.ask(task_id, "finish", {"fence": fence, "usage": {"tool_calls": 9}, **text("done")})
    assert reply.json["task"]["status"]["phase"] == "idle"
