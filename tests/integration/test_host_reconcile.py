"""A turn that was lost after it may have acted: its host says what became of it, once and in time."""

import pytest

from tests.support.hosting import AGENT, Host, Hosts, begun_before, text
from tests.support.laboratory import Laboratory, texts
from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Phase
from turnkeeper.domain.transitions import Answer
from turnkeeper.service import host_turns
from turnkeeper.service.host_turns import Asked


@pytest.fixture
def careful(hosts: Hosts) -> Host:
    """The host `acme`, with an agent whose turns must not be repeated."""
    assert hosts.acme.register().status == 200
    return hosts.acme


@pytest.fixture
def lost(careful: Host) -> str:
    """A task of its whose turn said one thing and was lost."""
    task_id, fence = careful.running("hi")
    careful.say(task_id, fence, 1, "one")
    careful.wake_ups()
    careful.sweep_after(seconds=61)
    return task_id


def said(host: Host, task_id: str) -> list[str]:
    return [words for kind, words in texts(host.messages(task_id)["messages"]) if kind == "output"]


def answer(host: Host, task_id: str, what: str, **more: object) -> object:
    reply = host.ask(task_id, "reconcile", {"answer": what, **more})
    assert reply.status == 200, reply.body
    return reply.json


def test_its_host_is_woken_and_finds_what_it_must_say(careful: Host, lost: str) -> None:
    shown = careful.read(lost)

    assert careful.wake_ups() == [{"task": lost, "agent": AGENT}]
    assert [wait["kind"] for wait in shown["waits"]] == ["reconcile"]
    assert shown["turn"]["state"] == "suspended"
    assert shown["agent_status"]["name"] == "WAITING_DEPENDENCY"
    assert shown["task"]["status"]["phase"] == "processing"
    assert careful.ask(lost, "turns").status == 409


def test_people_see_nothing_of_it_but_a_task_that_is_busy(careful: Host, lost: str) -> None:
    shown = careful.api.get(f"/v1/tasks/{lost}")

    assert shown.json["status"]["notifications"] == []
    assert "reconcile" not in shown.body


def test_a_turn_that_may_be_repeated_gets_another_attempt(careful: Host, lost: str) -> None:
    careful.wake_ups()

    shown = careful.ask(lost, "reconcile", {"answer": "repeat"}).json
    woken = careful.wake_ups()
    turn = careful.start(lost)
    careful.say(lost, turn["fence"], 1, "one")
    careful.finish(lost, turn["fence"], "two")

    assert shown["turn"]["state"] == "between_attempts"
    assert [wake["task"] for wake in woken] == [lost]
    assert (turn["fence"], turn["attempt"], turn["first_output"]) == (2, 2, 1)
    assert said(careful, lost) == ["one", "two"]


@pytest.mark.parametrize("message", [{}, text("two")])
def test_a_turn_that_is_done_ends_with_what_there_is_to_tell(
    careful: Host, lost: str, message: dict[str, object]
) -> None:
    shown = careful.ask(lost, "reconcile", {"answer": "done", **message}).json

    assert (shown["turn"], shown["task"]["status"]["phase"]) == (None, "idle")
    assert said(careful, lost) == ["one", *(["two"] if message else [])]


def test_input_that_waited_meanwhile_gets_its_turn(careful: Host, lost: str) -> None:
    careful.tell(lost, "more")
    careful.wake_ups()

    answer(careful, lost, "done")

    assert [wake["task"] for wake in careful.wake_ups()] == [lost]
    assert careful.start(lost)["number"] == 2


@pytest.mark.parametrize(("more", "code"), [({}, 6000), ({"outcome": 5005}, 5005)])
def test_a_turn_that_failed_ends_the_task(
    careful: Host, lost: str, more: dict[str, object], code: int
) -> None:
    shown = careful.ask(lost, "reconcile", {"answer": "failed", **more}).json

    assert shown["task"]["status"]["terminal_reason"] == "errored"
    assert shown["agent_status"]["code"] == code


@pytest.mark.parametrize("what", ["repeat", "done", "failed"])
@pytest.mark.parametrize("again", ["repeat", "done", "failed"])
def test_it_is_said_once(careful: Host, lost: str, live_lab: Laboratory, what: str, again: str) -> None:
    answer(careful, lost, what)
    before = live_lab.everything()

    reply = careful.ask(lost, "reconcile", {"answer": again})

    assert reply.status == (409 if what == "failed" else 404)
    assert live_lab.everything() == before


@pytest.mark.clause("RET-4")
def test_after_a_day_without_an_answer_the_result_is_unknown_and_an_answer_too_late(
    careful: Host, lost: str, live_lab: Laboratory
) -> None:
    careful.sweep_after(hours=23)
    assert live_lab.stored(lost).phase is Phase.PROCESSING
    careful.sweep_after(hours=1, seconds=1)
    before = live_lab.everything()

    late = careful.ask(lost, "reconcile", {"answer": "done", **text("it was fine")})

    shown = careful.read(lost)
    assert shown["task"]["status"]["terminal_reason"] == "errored"
    assert shown["agent_status"]["code"] == 6005
    assert (late.status, late.json["agent_status"]["code"]) == (409, 4001)
    assert live_lab.everything() == before


def test_a_turn_that_is_repeated_after_hours_has_its_whole_time_again(
    careful: Host, live_lab: Laboratory
) -> None:
    careful.register(turn_limit="1h")
    task_id, _ = careful.running()
    careful.sweep_after(seconds=61)
    careful.sweep_after(hours=20)
    begin = Asked(principal=careful.signer.principal, task_id=task_id, body="", key=None)
    host_turns.reconcile(
        live_lab.runtime, begin, answer=Answer.REPEAT, content=None, outcome=Code.FATAL_ERROR
    )
    host_turns.start(live_lab.runtime, begin)

    live_lab.clock.forward(seconds=59)
    live_lab.sweep()

    assert careful.read(task_id)["turn"]["state"] == "running"


@pytest.mark.parametrize("where", ["idle", "queued", "running"])
def test_nothing_else_is_to_be_reconciled(careful: Host, live_lab: Laboratory, where: str) -> None:
    task_id = careful.task(*([] if where == "idle" else ["hi"]))
    if where == "running":
        careful.start(task_id)
    before = live_lab.everything()

    replies = [careful.ask(task_id, "reconcile", {"answer": what}) for what in ("repeat", "done", "failed")]

    assert {reply.status for reply in replies} == {404}
    assert {reply.json["detail"] for reply in replies} == {"There is no such wait on this task."}
    assert live_lab.everything() == before


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["answer"]),
        ({"answer": "maybe"}, ["answer"]),
        ({"answer": None}, ["answer"]),
        ({"answer": ["done"]}, ["answer"]),
        ({"answer": "done", "outcome": 6000}, ["body"]),
        ({"answer": "repeat", "outcome": 6000}, ["body"]),
        ({"answer": "repeat", **text("two")}, ["body"]),
        ({"answer": "failed", **text("two")}, ["body"]),
        ({"answer": "done", "fence": 1}, ["fence"]),
        ({"answer": "done", "message": []}, ["message"]),
    ],
)
def test_an_answer_that_says_something_else_is_refused_by_its_place(
    careful: Host, lost: str, live_lab: Laboratory, body: dict[str, object], places: list[str]
) -> None:
    before = live_lab.everything()

    reply = careful.ask(lost, "reconcile", body)

    assert reply.status == 422
    assert [place["at"] for place in reply.json["errors"]] == places
    assert live_lab.everything() == before


@pytest.mark.parametrize("what", ["interrupt", "complete", "error", "restrict"])
def test_a_turn_that_was_lost_may_be_ended_in_every_other_way(careful: Host, lost: str, what: str) -> None:
    reply = careful.ask(lost, what)

    assert reply.status == 200
    assert (reply.json["turn"], reply.json["waits"]) == (None, [])


def test_a_start_that_finds_the_turn_lost_says_so_and_loses_it(careful: Host, live_lab: Laboratory) -> None:
    task_id = careful.task("hi")
    begun_before(live_lab, task_id, minutes=2)

    first = careful.ask(task_id, "turns", key="k")
    again = careful.ask(task_id, "turns", key="k")

    assert (first.status, again.status) == (409, 409)
    assert [wait["kind"] for wait in careful.read(task_id)["waits"]] == ["reconcile"]
    assert live_lab.stored(task_id).fence == 1
