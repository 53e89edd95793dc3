"""A host suspends a turn through its API, says what became of what only it knows, and takes the turn up again once."""

from typing import Any

import pytest

from tests.support.hosting import Host, Hosts
from tests.support.laboratory import Laboratory, texts

HOST_WAIT = {"id": "payment", "kind": "host"}
SIGN_IN = {"id": "sign-in", "kind": "auth", "provider": "calendar"}
REVIEW = {"id": "approval", "kind": "review", "reviewer": "bob", "subject": "Buy it?"}
MEMO = {"leg": 2, "é": [1.5, None, True]}
LARGEST_MEMO = "m" * 32_766


def suspended(host: Host, *waits: dict[str, Any], memo: object = MEMO) -> tuple[str, int]:
    task_id, fence = host.running()
    host.wake_ups()
    reply = host.ask(task_id, "wait", {"fence": fence, "waits": list(waits or (HOST_WAIT,)), "memo": memo})
    assert (reply.status, reply.json["turn"]["state"]) == (200, "suspended"), reply.body
    return task_id, fence


def say(
    host: Host, task_id: str, fence: int, verdict: str = "done", wait: str = "payment", **more: Any
) -> Any:
    return host.ask(task_id, "resolve", {"fence": fence, "wait": wait, "verdict": verdict}, **more)


def test_a_suspended_turn_comes_back_with_its_memo_and_what_it_waited_for(host: Host) -> None:
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "One moment.")
    host.wake_ups()

    parked = host.ask(task_id, "wait", {"fence": fence, "waits": [HOST_WAIT], "memo": MEMO}).json
    before = host.wake_ups()
    free = say(host, task_id, fence).json
    woken = host.wake_ups()
    turn = host.start(task_id)

    assert [(wait["id"], wait["kind"]) for wait in parked["waits"]] == [("payment", "host")]
    assert (parked["agent_status"]["code"], parked["turn"]["fence"]) == (1020, fence)
    assert (before, [wake["task"] for wake in woken]) == ([], [task_id])
    assert (free["turn"]["state"], free["waits"]) == ("runnable", [])
    assert (turn["number"], turn["fence"], turn["attempt"], turn["first_output"]) == (1, fence + 1, 1, 2)
    assert turn["memo"] == MEMO
    assert [(one["id"], one["kind"], one["verdict"]) for one in turn["resolutions"]] == [
        ("payment", "host", "done")
    ]
    assert host.finish(task_id, turn["fence"], "Done.").status == 200
    assert [said for kind, said in texts(host.messages(task_id)["messages"]) if kind == "output"] == [
        "One moment.",
        "Done.",
    ]


def test_the_hosts_word_may_come_before_the_wait_is_recorded(host: Host) -> None:
    task_id, fence = host.running()
    host.wake_ups()

    early = say(host, task_id, fence, "denied")
    parked = host.ask(task_id, "wait", {"fence": fence, "waits": [HOST_WAIT]})

    assert (early.status, early.json["turn"]["state"]) == (200, "running")
    assert (parked.json["turn"]["state"], parked.json["waits"]) == ("runnable", [])
    assert [wake["task"] for wake in host.wake_ups()] == [task_id]
    assert [one["verdict"] for one in host.start(task_id)["resolutions"]] == ["denied"]


def test_a_word_that_comes_early_for_one_wait_leaves_the_others(host: Host) -> None:
    task_id, fence = host.running()
    say(host, task_id, fence)

    parked = host.ask(
        task_id, "wait", {"fence": fence, "waits": [HOST_WAIT, {**HOST_WAIT, "id": "parcel"}]}
    ).json

    assert [wait["id"] for wait in parked["waits"]] == ["parcel"]
    assert say(host, task_id, fence, wait="parcel").json["turn"]["state"] == "runnable"


def test_an_early_word_ends_with_the_attempt_it_was_said_in(host: Host) -> None:
    """The next attempt asks the outside world anew, and waits for that."""
    task_id, fence = host.running()
    say(host, task_id, fence)
    host.sweep_after(seconds=61)
    again = host.start(task_id)["fence"]

    parked = host.ask(task_id, "wait", {"fence": again, "waits": [HOST_WAIT]}).json

    assert parked["turn"]["state"] == "suspended"
    assert say(host, task_id, fence).status == 409
    assert say(host, task_id, again).status == 200


@pytest.mark.parametrize("when", ["early", "while it waits"])
def test_the_same_word_twice_is_one_and_another_is_refused(
    host: Host, live_lab: Laboratory, when: str
) -> None:
    task_id, fence = host.running() if when == "early" else suspended(host)
    assert say(host, task_id, fence).status == 200
    before = live_lab.everything()

    again, other = say(host, task_id, fence), say(host, task_id, fence, "denied")

    assert (again.status, other.status) == (200, 409)
    assert other.json["agent_status"]["code"] == 4005
    assert live_lab.everything() == before


def test_a_word_that_comes_after_its_turn_went_on_resumes_nothing_again(
    host: Host, live_lab: Laboratory
) -> None:
    task_id, fence = suspended(host)
    say(host, task_id, fence)
    turn = host.start(task_id)
    second = host.ask(task_id, "wait", {"fence": turn["fence"], "waits": [HOST_WAIT]})
    assert second.json["turn"]["state"] == "suspended"
    before = live_lab.everything()

    late = say(host, task_id, fence)

    assert late.status == 409
    assert live_lab.everything() == before


@pytest.mark.parametrize("wait", [SIGN_IN, REVIEW], ids=lambda wait: wait["kind"])
def test_what_people_decide_is_not_the_hosts_to_say(
    host: Host, live_lab: Laboratory, wait: dict[str, Any]
) -> None:
    task_id, fence = suspended(host, wait)
    before = live_lab.everything()

    reply = say(host, task_id, fence, wait=wait["id"])

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, ["wait"])
    assert live_lab.everything() == before


def test_a_wait_that_is_not_there_is_not_found(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = suspended(host)
    before = live_lab.everything()

    reply = say(host, task_id, fence, wait="another")

    assert (reply.status, reply.json["agent_status"]["code"]) == (404, 4006)
    assert live_lab.everything() == before


def test_early_words_are_bounded(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    for number in range(16):
        assert say(host, task_id, fence, wait=f"{number:02}".ljust(32, "w")).status == 200
    before = live_lab.everything()

    one_more, other = say(host, task_id, fence, wait="x"), host.running()
    too_long = say(host, *other, wait="w" * 513)

    assert (one_more.status, too_long.status) == (422, 422)
    assert before.items() <= live_lab.everything().items()


def wait_of(**fields: object) -> dict[str, object]:
    return {**HOST_WAIT, **fields}


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no waits": ({"waits": []}, ["waits"]),
    "17 waits": ({"waits": [wait_of(id=str(n)) for n in range(17)]}, ["waits"]),
    "one id twice": ({"waits": [HOST_WAIT, SIGN_IN, HOST_WAIT]}, ["waits[2].id"]),
    "no id": ({"waits": [{"kind": "host"}]}, ["waits[0].id"]),
    "an empty id": ({"waits": [wait_of(id="")]}, ["waits[0].id"]),
    "an unknown kind": ({"waits": [wait_of(kind="coffee")]}, ["waits[0].kind"]),
    "a reconcile": ({"waits": [wait_of(kind="reconcile")]}, ["waits[0].kind"]),
    "no provider": ({"waits": [wait_of(kind="auth")]}, ["waits[0].provider"]),
    "no reviewer": ({"waits": [wait_of(kind="review", subject="s")]}, ["waits[0].reviewer"]),
    "no subject": ({"waits": [wait_of(kind="review", reviewer="bob")]}, ["waits[0].subject"]),
    "a long subject": ({"waits": [{**REVIEW, "subject": "é" * 1025}]}, ["waits[0].subject"]),
    "no child": ({"waits": [wait_of(kind="child")]}, ["waits[0].child"]),
    "a child that is none": ({"waits": [wait_of(kind="child", child="0" * 32)]}, ["waits[0].child"]),
    "a child that is no id": ({"waits": [wait_of(kind="child", child="nonsense")]}, ["waits[0].child"]),
    "a name of another kind": (
        {"waits": [wait_of(provider="p", reviewer="bob")]},
        ["waits[0].provider", "waits[0].reviewer"],
    ),
    "a need of another kind": (
        {"waits": [wait_of(needed_at="2026-11-30T12:00:00Z")]},
        ["waits[0].needed_at"],
    ),
    "a time without an offset": (
        {"waits": [{**SIGN_IN, "needed_at": "2026-11-30T12:00:00"}]},
        ["waits[0].needed_at"],
    ),
    "a time that is none": (
        {"waits": [{**SIGN_IN, "needed_at": "2026-13-30T12:00:00Z"}]},
        ["waits[0].needed_at"],
    ),
    "within nothing": ({"waits": [wait_of(within="0s")]}, ["waits[0].within"]),
    "within no time": ({"waits": [wait_of(within="soon")]}, ["waits[0].within"]),
    "within for ever": ({"waits": [wait_of(within="9999d")]}, ["waits[0].within"]),
    "long names": ({"waits": [wait_of(id="i" * 769)]}, ["waits"]),
    "a field of nobody's": ({"waits": [wait_of(until="noon")]}, ["waits[0].until"]),
    "a large memo": ({"waits": [HOST_WAIT], "memo": LARGEST_MEMO + "m"}, ["memo"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_waited_for_is_refused_by_its_places_and_nothing_is_stored(
    host: Host, live_lab: Laboratory, name: str
) -> None:
    body, places = REFUSED[name]
    task_id, fence = host.running()
    before = live_lab.everything()

    reply = host.ask(task_id, "wait", {"fence": fence, **body})

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, places)
    assert live_lab.everything() == before


@pytest.mark.parametrize(
    "body",
    [
        {"waits": [wait_of(id=str(n)) for n in range(16)]},
        {"waits": [HOST_WAIT], "memo": LARGEST_MEMO},
        {"waits": [HOST_WAIT], "memo": 0},
        {"waits": [wait_of(id="i" * 768)]},
        {"waits": [{**REVIEW, "subject": "é" * 1024, "within": "3650d"}]},
        {"waits": [{**SIGN_IN, "needed_at": "2026-11-30t12:00:00.5+01:00"}]},
    ],
    ids=[
        "16 waits",
        "the largest memo",
        "a memo of nothing",
        "the longest names",
        "the longest subject",
        "a need",
    ],
)
def test_what_is_just_within_the_bounds_is_taken(host: Host, body: dict[str, Any]) -> None:
    task_id, fence = host.running()

    reply = host.ask(task_id, "wait", {"fence": fence, **body})

    assert (reply.status, reply.json["turn"]["state"]) == (200, "suspended")
    assert reply.json["turn"]["memo"] is None
    assert host.read(task_id)["turn"]["memo"] == body.get("memo")


def test_a_wait_with_a_key_is_recorded_once(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    body = {"fence": fence, "waits": [HOST_WAIT], "memo": MEMO}
    first = host.ask(task_id, "wait", body, key="k")
    before = live_lab.everything()

    again, other = (
        host.ask(task_id, "wait", body, key="k"),
        host.ask(task_id, "wait", {**body, "memo": 1}, key="k"),
    )

    assert (first.status, again.status, other.status) == (200, 200, 409)
    assert again.json["turn"]["state"] == "suspended"
    assert live_lab.everything() == before
    assert host.ask(task_id, "wait", body).status == 409


def test_what_a_leg_used_counts_and_past_a_limit_the_task_does_not_wait(hosts: Hosts) -> None:
    hosts.acme.register(repeatable=True, limits={"max_tool_calls": 2})
    task_id, fence = hosts.acme.running()
    body = {"fence": fence, "waits": [SIGN_IN]}

    within = hosts.acme.ask(task_id, "wait", {**body, "usage": {"tool_calls": 2}})
    other, other_fence = hosts.acme.running()
    beyond = hosts.acme.ask(other, "wait", {**body, "fence": other_fence, "usage": {"tool_calls": 3}})

    assert within.json["usage"]["tool_calls"] == 2
    assert (beyond.status, beyond.json["task"]["status"]["terminal_reason"]) == (200, "errored")
    assert beyond.json["task"]["status"]["notifications"] == []
    notified = hosts.acme.api.get("/v1/notifications").json["notifications"]
    assert [call["task"] for call in notified] == [task_id]


def test_a_wait_that_nobody_answered_times_out_and_the_agent_decides(host: Host) -> None:
    task_id, _ = suspended(host, {**HOST_WAIT, "within": "1h"}, {**SIGN_IN, "within": "2h"})

    host.sweep_after(hours=1, seconds=1)
    one = host.read(task_id)
    host.sweep_after(hours=1)
    turn = host.start(task_id)

    assert [wait["id"] for wait in one["waits"]] == ["sign-in"]
    assert [(each["id"], each["verdict"]) for each in turn["resolutions"]] == [
        ("payment", "timed_out"),
        ("sign-in", "timed_out"),
    ]
    assert turn["memo"] == MEMO


def test_pending_inputs_stay_pending_while_a_turn_waits(host: Host) -> None:
    task_id, fence = suspended(host)
    host.tell(task_id, "more")
    host.wake_ups()
    shown = host.read(task_id)

    assert (shown["pending"], shown["turn"]["state"]) == (1, "suspended")
    assert host.ask(task_id, "turns").status == 409
    say(host, task_id, fence)
    turn = host.start(task_id)
    host.finish(task_id, turn["fence"])
    assert host.start(task_id)["number"] == 2
