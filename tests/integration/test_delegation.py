"""Delegation: a turn gives another agent a task, once per call; its end goes up to the wait, and never further."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.hosting import ACME, AGENT, Host, Hosts, text
from tests.support.laboratory import ALICE, BOB, Laboratory, said, texts
from turnkeeper.service import host_turns
from turnkeeper.service.delegation import Call


@pytest.fixture
def parents(host: Host) -> Host:
    """A host with `helper`, and `other` that takes tasks from `helper` and from itself."""
    assert host.register("other", repeatable=True, delegates_from=[AGENT, "other"]).status == 200
    return host


def delegate(
    host: Host, task_id: str, fence: int, call: str = "c", words: str | None = "go", **more: Any
) -> Any:
    sent = {"input": text(words)} if words else {}
    body = {"fence": fence, "call": call, "agent": "other", **sent, **more}
    return host.ask(task_id, "children", body)


def made(host: Host, task_id: str, fence: int, call: str = "c", words: str | None = "go") -> str:
    reply = delegate(host, task_id, fence, call, words)
    assert reply.status == (202 if words else 201), reply.body
    child: str = reply.json["id"]
    return child


def wait_for(host: Host, task_id: str, fence: int, *children: str) -> Any:
    waits = [{"id": f"w{place}", "kind": "child", "child": child} for place, child in enumerate(children)]
    reply = host.ask(task_id, "wait", {"fence": fence, "waits": waits})
    assert reply.status == 200, reply.body
    return reply.json


@pytest.mark.clause("TS-3")
def test_a_child_is_a_task_of_the_same_human_however_deep(parents: Host) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    turn = parents.start(child)
    grandchild = made(parents, child, turn["fence"])

    for each in (child, grandchild):
        shown = parents.api.get(f"/v1/tasks/{each}")
        assert (shown.json["responsible_user"], shown.json["agent"]) == (ALICE, "other")
        assert parents.api.get(f"/v1/tasks/{each}", person=BOB).status == 404
    listed = parents.api.get("/v1/tasks").json["tasks"]
    assert [task["id"] for task in listed] == [grandchild, child, task_id]
    assert {child} <= {wake["task"] for wake in parents.wake_ups()}


def test_a_retry_of_a_call_makes_one_child(parents: Host, live_lab: Laboratory) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    before = live_lab.everything()

    again = delegate(parents, task_id, fence)
    other = delegate(parents, task_id, fence, words="something else")

    assert (again.status, again.json["id"]) == (202, child)
    assert (other.status, other.json["agent_status"]["code"]) == (409, 4005)
    assert live_lab.everything() == before


def test_another_attempt_makes_the_same_child_and_another_turn_another(parents: Host) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    parents.sweep_after(seconds=61)
    second = parents.start(task_id)

    assert (second["attempt"], made(parents, task_id, second["fence"])) == (2, child)
    assert delegate(parents, task_id, fence).status == 409
    parents.finish(task_id, second["fence"])
    parents.tell(task_id, "again")
    third = parents.start(task_id)
    assert made(parents, task_id, third["fence"]) != child


def test_calls_of_one_name_at_the_same_moment_make_one_child(parents: Host, live_lab: Laboratory) -> None:
    task_id, fence = parents.running()

    def made_by(name: str) -> str:
        # Not through the functions: their clients are not kept from calling moto at the same moment.
        call = Call(name=name, fence=fence, agent="other", content=said("go"))
        return host_turns.delegate(live_lab.runtime, principal=ACME.principal, task_id=task_id, call=call).id

    with ThreadPoolExecutor(8) as pool:
        ids = [*pool.map(made_by, ["a", "b"] * 6)]

    assert (len({*ids[::2]}), len({*ids[1::2]}), len({*ids})) == (1, 1, 2)
    tasks = [key for key in live_lab.everything() if key[1] == "TASK"]
    assert len(tasks) == 3


@pytest.mark.parametrize("agent", ["nobody", "helper", "echo", "unlisted"])
def test_an_agent_that_does_not_list_the_parents_takes_no_task(
    parents: Host, live_lab: Laboratory, agent: str
) -> None:
    parents.register("unlisted", delegates_from=["somebody-else"])
    task_id, fence = parents.running()
    before = live_lab.everything()

    reply = delegate(parents, task_id, fence, agent=agent)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, ["agent"])
    assert live_lab.everything() == before


def test_another_hosts_agent_works_for_whom_it_lists_and_its_task_is_read_through_the_parent(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    hosts.acme.register()
    hosts.rival.register("expert", delegates_from=[AGENT])
    task_id, fence = hosts.acme.running()
    child = delegate(hosts.acme, task_id, fence, agent="expert").json["id"]
    turn = hosts.rival.start(child)
    hosts.rival.finish(child, turn["fence"], "42")

    seen = hosts.acme.send("GET", f"tasks/{task_id}/children/{child}")
    heard = hosts.acme.send("GET", f"tasks/{task_id}/children/{child}/messages")
    others = [
        hosts.acme.send("GET", f"tasks/{child}"),
        hosts.rival.send("GET", f"tasks/{task_id}/children/{child}"),
        hosts.acme.send("GET", f"tasks/{task_id}/children/{live_lab.create('hi').task.id}"),
        hosts.acme.send("GET", f"tasks/{task_id}/children/nonsense"),
    ]

    assert seen.json == hosts.acme.api.get(f"/v1/tasks/{child}").json
    assert list(texts(heard.json["messages"])) == [("input", "go"), ("output", "42")]
    assert {(reply.status, reply.body) for reply in others} == {(404, others[0].body)}
    assert [wake["task"] for wake in hosts.rival.wake_ups()] == [child]


def test_delegation_is_eight_deep_at_most(parents: Host) -> None:
    task_id, fence = parents.running()
    for _ in range(8):
        task_id = made(parents, task_id, fence)
        fence = parents.start(task_id)["fence"]

    reply = delegate(parents, task_id, fence)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, ["agent"])


def test_a_turn_has_32_children_at_most(parents: Host, live_lab: Laboratory) -> None:
    task_id, fence = parents.running()
    children = [made(parents, task_id, fence, str(number), None) for number in range(32)]
    before = live_lab.everything()

    reply = delegate(parents, task_id, fence, "one more")

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, ["call"])
    assert live_lab.everything() == before
    assert delegate(parents, task_id, fence, "0", None).json["id"] == children[0]


@pytest.mark.parametrize(
    ("how", "verdict"),
    [
        ("finish", "done"),
        ("complete", "done"),
        ("error", "failed"),
        ("restrict", "failed"),
        ("interrupt", "done"),
    ],
)
def test_a_child_that_comes_to_rest_resolves_its_parents_wait(
    parents: Host, live_lab: Laboratory, how: str, verdict: str
) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    parked = wait_for(parents, task_id, fence, child)
    parents.wake_ups()
    turn = parents.start(child)

    bodies: dict[str, Any] = {"finish": {"fence": turn["fence"], **text("42")}}
    assert parents.ask(child, how, bodies.get(how)).status == 200
    live_lab.work()

    assert parked["turn"]["state"] == "suspended"
    assert [wake["task"] for wake in parents.wake_ups()] == [task_id]
    (resolution,) = parents.start(task_id)["resolutions"]
    assert (resolution["verdict"], resolution["child"]) == (verdict, child)
    assert parents.api.get(f"/v1/tasks/{task_id}").json["status"]["phase"] == "processing"


def test_a_child_that_rests_already_resolves_its_wait_at_once(parents: Host) -> None:
    task_id, fence = parents.running()
    idle = made(parents, task_id, fence, "idle", None)
    done = made(parents, task_id, fence, "done")
    parents.ask(done, "complete", {"discard_pending": True})

    assert wait_for(parents, task_id, fence, idle, done)["turn"]["state"] == "runnable"


def test_a_parent_waits_for_all_that_it_named(parents: Host, live_lab: Laboratory) -> None:
    task_id, fence = parents.running()
    one, two = (made(parents, task_id, fence, call) for call in ("one", "two"))
    wait_for(parents, task_id, fence, one, two)
    for child in (one, two):
        turn = parents.start(child)
        states = parents.read(task_id)["turn"]["state"]
        parents.finish(child, turn["fence"], "done")
        live_lab.work()

    assert states == "suspended"
    assert len(parents.start(task_id)["resolutions"]) == 2


def test_a_lost_word_of_a_child_is_made_good_by_the_sweep(parents: Host) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    wait_for(parents, task_id, fence, child)
    turn = parents.start(child)
    parents.finish(child, turn["fence"], "done")  # nobody attends to what it sent

    parents.sweep_after(seconds=61)

    assert parents.read(task_id)["turn"]["state"] == "runnable"


def test_a_child_is_busy_with_a_later_input_before_its_parent_looks_and_the_wait_goes_on(
    parents: Host, live_lab: Laboratory
) -> None:
    """It is what the child does when somebody looks that counts."""
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    wait_for(parents, task_id, fence, child)
    turn = parents.start(child)
    parents.finish(child, turn["fence"], "done")
    parents.tell(child, "and more")
    live_lab.work()

    assert parents.read(task_id)["turn"]["state"] == "suspended"
    parents.finish(child, parents.start(child)["fence"], "more")
    live_lab.work()
    assert parents.read(task_id)["turn"]["state"] == "runnable"


def test_a_childs_wait_is_its_users_call_and_not_its_parents(parents: Host) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    wait_for(parents, task_id, fence, child)
    turn = parents.start(child)
    parents.ask(
        child, "wait", {"fence": turn["fence"], "waits": [{"id": "a", "kind": "auth", "provider": "p"}]}
    )

    (call,) = parents.api.get("/v1/notifications").json["notifications"]

    assert call["task"] == child
    assert parents.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"] == []


def test_a_parents_end_leaves_its_children_alone(parents: Host, live_lab: Laboratory) -> None:
    task_id, fence = parents.running()
    child = made(parents, task_id, fence)
    wait_for(parents, task_id, fence, child)
    before = live_lab.raw(child)

    parents.ask(task_id, "complete", {"discard_pending": True})
    turn = parents.start(child)
    ended = live_lab.raw(task_id)
    parents.finish(child, turn["fence"], "done")
    live_lab.work()
    parents.sweep_after(hours=1)

    assert before["parent"] == {"S": task_id}
    assert live_lab.raw(task_id) == ended


@pytest.mark.parametrize(
    ("more", "places"),
    [
        ({"call": ""}, ["call"]),
        ({"call": "é" * 128}, ["call"]),
        ({"agent": "No Body"}, ["agent"]),
        ({"input": {"message": []}}, ["input.message"]),
        ({"input": {**text("hi"), "type": "input"}}, ["input.type"]),
        ({"responsible_user": BOB}, ["responsible_user"]),
        ({"fence": 0}, ["fence"]),
    ],
)
def test_a_delegation_that_is_wrong_is_refused_by_its_places_and_nothing_is_stored(
    parents: Host, live_lab: Laboratory, more: dict[str, Any], places: list[str]
) -> None:
    task_id, fence = parents.running()
    before = live_lab.everything()

    body = {"fence": fence, "call": "c", "agent": "other", **more}
    reply = parents.ask(task_id, "children", body)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, places)
    assert live_lab.everything() == before
