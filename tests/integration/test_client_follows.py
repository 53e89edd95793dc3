"""Whoever follows a task sees each change once, and no message is missed while a turn writes."""

from typing import Any

import httpx

from tests.support.clients import Wire
from tests.support.laboratory import Laboratory
from turnkeeper_client import Update

OUTPUTS = 12


def committed(updates: list[Update]) -> list[str]:
    return [entry.text for update in updates for entry in update.entries if entry.committed_at]


def test_nothing_is_missed_and_nothing_comes_twice_while_a_turn_writes(
    connect: Any, hosts: Any, wire: Wire
) -> None:
    assert hosts.acme.register(repeatable=True).status == 200
    task_id, fence = hosts.acme.running("go")
    number = 0

    def write(request: httpx.Request) -> None:
        """One more output before each request of the follower's arrives, so also between a poll and its messages."""
        nonlocal number
        if request.url.path.startswith("/v1/tasks/") and number <= OUTPUTS:
            number += 1
            if number <= OUTPUTS:
                assert hosts.acme.say(task_id, fence, number, f"said {number}").status == 200
            else:
                assert hosts.acme.finish(task_id, fence, "at last").status == 200

    alice = connect(wire)
    wire.meanwhile = write
    seen: list[Update] = []
    for update in alice.follow(task_id):
        seen.append(update)
        if update.task.status.phase == "idle":
            assert hosts.acme.ask(task_id, "complete", {}).status == 200

    assert seen[-1].task.status.phase == "terminal"
    assert committed(seen) == ["go", *(f"said {n}" for n in range(1, OUTPUTS + 1)), "at last"]
    assert committed(seen) == [entry.text for entry in alice.messages(task_id).messages]


def test_it_pauses_as_the_server_says_and_shows_only_what_changed(
    connect: Any, wire: Wire, live_lab: Laboratory
) -> None:
    pauses: list[float] = []
    alice = connect(wire, pauses=pauses)
    task_id = alice.create("echo").task.id
    following = iter(alice.follow(task_id))
    first = next(following)
    looks = 0

    def later(request: httpx.Request) -> None:
        nonlocal looks
        looks += request.url.path == f"/v1/tasks/{task_id}"
        if looks == 4:
            live_lab.send(task_id, "at last")
            looks += 1

    wire.meanwhile = later
    second = next(following)

    assert (first.task.status.phase, first.entries) == ("idle", ())
    assert [entry.text for entry in second.entries] == ["at last"]
    assert second.entries[0].committed_at is None
    assert pauses == [5.0] * 4
    assert wire.answered.count(304) == 3


def test_a_revision_whose_messages_were_shown_before_is_no_change(
    connect: Any, wire: Wire, live_lab: Laboratory
) -> None:
    alice = connect(wire)
    task_id = alice.create("echo", "one").task.id
    sent: list[str] = []

    def between(request: httpx.Request) -> None:
        """One more input after the first look and before its messages."""
        if request.url.path.endswith("/messages") and not sent:
            sent.append(live_lab.send(task_id, "two").task.id)
        if sent and len(wire.answered) > 6:
            live_lab.work()

    wire.meanwhile = between
    first, second = (update for _, update in zip(range(2), alice.follow(task_id), strict=False))

    assert [entry.text for entry in first.entries] == ["one", "two"]
    assert wire.answered[2:5] == [200, 200, 200]
    assert committed([second])[:2] == ["one", "two"]


def test_it_goes_on_where_an_earlier_one_stopped(alice: Any, live_lab: Laboratory) -> None:
    task_id = alice.create("echo", "one").task.id
    live_lab.work()
    seen = next(iter(alice.follow(task_id)))
    alice.say(task_id, "two")
    live_lab.work()

    later = next(iter(alice.follow(task_id, after=seen.cursor)))

    assert [entry.text for entry in seen.entries] == ["one", "one"]
    assert [entry.text for entry in later.entries] == ["two", "two"]


def test_it_survives_throttles_and_lost_answers(alice: Any, wire: Wire, live_lab: Laboratory) -> None:
    task_id = alice.create("echo", "one").task.id
    live_lab.work()
    wire.faults = ["429", "lost", "refused", "passes", "lost", "503"]

    seen = next(iter(alice.follow(task_id)))

    assert [entry.text for entry in seen.entries] == ["one", "one"]
