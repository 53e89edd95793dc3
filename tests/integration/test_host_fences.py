"""Whoever was overtaken writes nothing more: every late step is refused, and the task's bytes are as they were."""

from collections.abc import Callable

import pytest

from tests.support.hosting import Host, begun_before, text
from tests.support.laboratory import Laboratory

type Overtake = Callable[[Host, str, int], object]


def taken_over(host: Host, task_id: str, _: int) -> None:
    host.sweep_after(seconds=61)
    assert host.start(task_id)["fence"] == 2


def next_turn(host: Host, task_id: str, fence: int) -> None:
    host.finish(task_id, fence, "done")
    host.tell(task_id, "more")
    assert host.start(task_id)["number"] == 2


def expired(host: Host, task_id: str, fence: int) -> None:
    host.finish(task_id, fence)
    host.sweep_after(days=8)


OVERTAKEN: dict[str, Overtake] = {
    "interrupted": lambda host, task_id, _: host.ask(task_id, "interrupt"),
    "taken over": taken_over,
    "finished": lambda host, task_id, fence: host.finish(task_id, fence, "done"),
    "in the next turn": next_turn,
    "completed": lambda host, task_id, _: host.ask(task_id, "complete", {"discard_pending": True}),
    "errored": lambda host, task_id, _: host.ask(task_id, "error"),
    "restricted": lambda host, task_id, _: host.ask(task_id, "restrict"),
    "expired": expired,
}
TERMINAL = {"completed", "errored", "restricted", "expired"}
LATE: dict[str, tuple[str, dict[str, object]]] = {
    "output": ("outputs", {"number": 1, **text("too late")}),
    "the next output": ("outputs", {"number": 2, **text("too late")}),
    "heartbeat": ("heartbeat", {}),
    "report": ("heartbeat", {"usage": {"tool_calls": 1}}),
    "finish": ("finish", {}),
    "finish with a word": ("finish", text("too late")),
    "fail": ("fail", {}),
}


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("overtaken", OVERTAKEN)
def test_a_late_step_is_refused_and_the_tasks_bytes_are_as_they_were(
    host: Host, live_lab: Laboratory, overtaken: str
) -> None:
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "in time")
    OVERTAKEN[overtaken](host, task_id, fence)
    raw, everything = live_lab.raw(task_id), live_lab.everything()

    replies = [
        host.ask(task_id, what, {"fence": fence, **body}, key=key)
        for what, body in LATE.values()
        for key in (None, what)
    ]

    code = 4001 if overtaken in TERMINAL else 4005
    assert {(reply.status, reply.json["agent_status"]["code"]) for reply in replies} == {(409, code)}
    assert live_lab.raw(task_id) == raw
    assert live_lab.everything() == everything


@pytest.mark.parametrize("off_by", [-1, 1, 10**6])
def test_a_fence_that_nobody_holds_opens_nothing(host: Host, live_lab: Laboratory, off_by: int) -> None:
    task_id, _ = host.running()
    OVERTAKEN["in the next turn"](host, task_id, 1)
    before = live_lab.everything()

    replies = [host.ask(task_id, what, {"fence": 2 + off_by, **body}) for what, body in LATE.values()]

    assert {(reply.status, reply.json["agent_status"]["code"]) for reply in replies} == {(409, 4005)}
    assert live_lab.everything() == before


def test_a_lost_worker_may_still_finish_until_somebody_takes_over(host: Host) -> None:
    task_id, fence = host.running()
    host.sweep_after(seconds=61)
    assert host.read(task_id)["turn"]["state"] == "between_attempts"

    assert host.say(task_id, fence, 1, "slow").status == 200
    assert host.finish(task_id, fence, "but here").status == 200


def test_a_turn_is_not_started_twice_while_its_lease_lasts(host: Host, live_lab: Laboratory) -> None:
    task_id, _ = host.running()
    before = live_lab.everything()

    assert host.ask(task_id, "turns").status == 409
    assert live_lab.everything() == before


def test_a_turn_whose_lease_ran_out_is_taken_over_by_a_start_before_any_sweep(
    host: Host, live_lab: Laboratory
) -> None:
    task_id = host.task("hi")
    begun_before(live_lab, task_id, minutes=2)

    turn = host.start(task_id)

    assert (turn["fence"], turn["attempt"]) == (2, 2)
    assert [entry["transition"] for entry in live_lab.journal(task_id)][-2:] == [
        "start_turn",
        "start_attempt",
    ]
