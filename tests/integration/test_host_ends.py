"""How a host ends a turn or a task: interrupted, completed, errored, restricted, and what becomes of what waits."""

import pytest

from tests.support.hosting import Host, Hosts, text
from tests.support.laboratory import Laboratory
from turnkeeper.asc.registry import Code
from turnkeeper.domain.task import Reason
from turnkeeper.edge.host_requests import COMPLETIONS, FAILURES


def test_an_interrupted_turn_ends_without_output_and_the_next_begins_with_what_waits(host: Host) -> None:
    task_id, _ = host.running("one")
    host.tell(task_id, "two")
    host.wake_ups()

    reply = host.ask(task_id, "interrupt")

    assert reply.status == 200
    assert (reply.json["turn"], reply.json["pending"]) == (None, 1)
    assert reply.json["task"]["status"]["phase"] == "processing"
    assert [wake["task"] for wake in host.wake_ups()] == [task_id]
    turn = host.start(task_id)
    assert (turn["number"], turn["fence"]) == (2, 2)


def test_a_turn_that_is_interrupted_with_nothing_waiting_leaves_the_task_idle(host: Host) -> None:
    task_id, _ = host.running()

    reply = host.ask(task_id, "interrupt")

    assert reply.json["task"]["status"]["phase"] == "idle"
    assert [entry["type"] for entry in host.messages(task_id)["messages"]] == ["input"]


def test_there_is_nothing_to_interrupt_without_a_turn(host: Host, live_lab: Laboratory) -> None:
    idle, queued = host.task(), host.task("hi")
    before = live_lab.everything()

    assert [host.ask(task_id, "interrupt").status for task_id in (idle, queued)] == [409, 409]
    assert live_lab.everything() == before


@pytest.mark.clause("LC-3")
@pytest.mark.parametrize("body", [None, {}, {"discard_pending": False}])
def test_completing_is_refused_while_inputs_wait(host: Host, live_lab: Laboratory, body: object) -> None:
    task_id, _ = host.running()
    host.tell(task_id, "one more")
    host.tell(task_id, "and another")
    before = live_lab.everything()

    reply = host.ask(task_id, "complete", body)

    assert (reply.status, reply.json["agent_status"]["code"]) == (409, 4001)
    assert reply.json["detail"].startswith("2 accepted inputs still wait")
    assert reply.json["retry"]["strategy"] == "after_a_turn_committed_the_inputs"
    assert live_lab.everything() == before


@pytest.mark.clause("LC-3")
def test_inputs_that_are_discarded_stay_listed_uncommitted(host: Host) -> None:
    task_id, _ = host.running("committed")
    host.tell(task_id, "waits")

    reply = host.ask(task_id, "complete", {"discard_pending": True})

    assert reply.status == 200
    assert reply.json["task"]["status"]["terminal_reason"] == "completed"
    assert reply.json["pending"] == 1
    seen = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    assert [("committed_at" in entry, entry["message"][0]["text"]) for entry in seen] == [
        (True, "committed"),
        (False, "waits"),
    ]


@pytest.mark.parametrize("how", ["error", "restrict"])
def test_what_waits_when_a_task_is_errored_or_restricted_stays_listed_uncommitted(
    host: Host, how: str
) -> None:
    task_id = host.task("waits")

    reply = host.ask(task_id, how)

    assert (reply.status, reply.json["pending"]) == (200, 1)
    (entry,) = host.messages(task_id)["messages"]
    assert "committed_at" not in entry


@pytest.mark.parametrize(
    ("how", "body", "reason", "code"),
    [
        ("complete", None, "completed", 2000),
        *(("complete", {"outcome": code}, "completed", code) for code in sorted(COMPLETIONS)),
        ("error", {}, "errored", 6000),
        *(("error", {"outcome": code}, "errored", code) for code in (4000, 4007, 5004, 6005, 7005)),
        ("restrict", None, "restricted", 4003),
    ],
)
def test_a_task_ends_as_it_was_told_to(host: Host, how: str, body: object, reason: str, code: int) -> None:
    task_id = host.task()

    reply = host.ask(task_id, how, body)

    assert reply.status == 200
    assert reply.json["task"]["status"]["phase"] == "terminal"
    assert reply.json["task"]["status"]["terminal_reason"] == reason
    assert reply.json["agent_status"] == {"code": code, "name": Code(code).name}
    assert host.api.get(f"/v1/tasks/{task_id}").json == reply.json["task"]


def test_a_task_is_errored_with_no_code_but_one_that_says_what_went_wrong() -> None:
    assert {code for code in map(int, Code) if 4000 <= code < 8000} == FAILURES
    assert {2000, 2001, 2002, 2003, 3004} == COMPLETIONS


NO_COMPLETIONS: list[object] = [0, 1010, 3001, 6000, 2004, -2000, "2000", 2000.0, True, None]
NO_FAILURES: list[object] = [0, 1010, 2000, 3004, 8000, 6999, 10**18, "6000", False, [], {}]


@pytest.mark.parametrize(
    ("how", "wrong"), [("complete", NO_COMPLETIONS), ("error", NO_FAILURES), ("reconcile", [2000, "6000"])]
)
def test_an_outcome_that_is_none_is_refused_by_its_place(
    host: Host, live_lab: Laboratory, how: str, wrong: list[object]
) -> None:
    task_id, _ = host.running()
    before = live_lab.everything()
    more = {"answer": "failed"} if how == "reconcile" else {}

    replies = [host.ask(task_id, how, {"outcome": outcome, **more}) for outcome in wrong]

    assert {reply.status for reply in replies} == {422}
    assert {place["at"] for reply in replies for place in reply.json["errors"]} == {"outcome"}
    assert live_lab.everything() == before


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("ended", ["complete", "error", "restrict"])
def test_nothing_changes_a_task_that_has_ended(host: Host, live_lab: Laboratory, ended: str) -> None:
    task_id, fence = host.running()
    host.ask(task_id, ended)
    before = live_lab.everything()
    steps: dict[str, object] = {
        "turns": {},
        "interrupt": {},
        "complete": {"discard_pending": True},
        "error": {},
        "restrict": {},
        "reconcile": {"answer": "done"},
        "heartbeat": {"fence": fence},
        "outputs": {"fence": fence, "number": 1, **text("late")},
    }

    replies = [host.ask(task_id, what, body) for what, body in steps.items()]

    assert {(reply.status, reply.json["agent_status"]["code"]) for reply in replies} == {(409, 4001)}
    assert live_lab.everything() == before
    assert host.read(task_id)["turn"] is None


@pytest.mark.clause("TS-8c")
def test_a_task_whose_end_has_come_has_ended_for_its_host_too(hosts: Hosts, live_lab: Laboratory) -> None:
    hosts.acme.register(lifespan="0s")
    read, told = hosts.acme.task(), hosts.acme.task()

    assert hosts.acme.read(read)["task"]["status"]["phase"] == "terminal"
    assert hosts.acme.ask(told, "restrict").status == 409
    assert live_lab.stored(told).terminal_reason is Reason.COMPLETED
