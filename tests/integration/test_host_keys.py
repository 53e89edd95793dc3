"""Every write of a host may carry a key: said again, it answers as before and does nothing more."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from tests.support.faults import LOST, WRITE, Faults, Killed, faults_of
from tests.support.hosting import Host, Hosts, text
from tests.support.laboratory import Laboratory
from turnkeeper import settings


@dataclass(frozen=True)
class Write:
    """A write of the hosts' API, what it says, and another body that it could say, if there is one."""

    what: str
    body: dict[str, object]
    other: dict[str, object]
    status: int = 200


FENCE: dict[str, object] = {"fence": 1}
WRITES = [
    Write("heartbeat", {**FENCE, "usage": {"tool_calls": 1}}, {**FENCE, "usage": {"tool_calls": 2}}),
    Write("outputs", {**FENCE, "number": 1, **text("one")}, {**FENCE, "number": 1, **text("two")}),
    Write("finish", {**FENCE, **text("done"), "usage": {"tool_calls": 1}}, FENCE),
    Write("fail", FENCE, {"fence": 2}),
    Write("interrupt", {}, {}),
    Write("complete", {"outcome": 2000}, {"outcome": 2001}),
    Write("error", {"outcome": 6000}, {"outcome": 6003}),
    Write("restrict", {}, {}),
    Write("reconcile", {"answer": "done", **text("it was")}, {"answer": "failed"}),
]
every = pytest.mark.parametrize("write", WRITES, ids=lambda write: write.what)


def ready(host: Host, write: Write) -> str:
    """A task for which *write* is due: its turn runs, or was lost where that is what it is about."""
    if write.what != "reconcile":
        return host.running()[0]
    host.register()
    task_id = host.running()[0]
    host.sweep_after(seconds=61)
    return task_id


@pytest.fixture
def faults(hosts: Hosts) -> Iterator[Faults]:
    """What goes wrong below the functions."""
    assert hosts.everybody
    with faults_of(settings.runtime().table.client) as injected:
        yield injected


@every
def test_a_write_said_again_with_its_key_answers_as_before_and_does_nothing_more(
    host: Host, live_lab: Laboratory, write: Write
) -> None:
    task_id = ready(host, write)
    first = host.ask(task_id, write.what, write.body, key="k")
    before = live_lab.everything()
    host.wake_ups()

    again = host.ask(task_id, write.what, write.body, key="k")

    assert (first.status, again.status) == (200, 200)
    assert again.json == first.json
    assert live_lab.everything() == before
    assert host.wake_ups() == []


@every
def test_what_is_said_again_answers_with_the_task_as_it_is_by_now(host: Host, write: Write) -> None:
    task_id = ready(host, write)
    host.ask(task_id, write.what, write.body, key="k")
    if host.read(task_id)["task"]["status"]["phase"] != "terminal":
        host.tell(task_id, "more")

    again = host.ask(task_id, write.what, write.body, key="k")

    assert again.status == 200
    assert {**again.json, "turn": None} == {**host.read(task_id), "turn": None}


@pytest.mark.parametrize(
    "write", [write for write in WRITES if write.other != write.body], ids=lambda write: write.what
)
def test_a_key_that_came_with_another_body_is_a_conflict_and_stores_nothing(
    host: Host, live_lab: Laboratory, write: Write
) -> None:
    task_id = ready(host, write)
    host.ask(task_id, write.what, write.body, key="k")
    before = live_lab.everything()

    reply = host.ask(task_id, write.what, write.other, key="k")

    assert (reply.status, reply.json["agent_status"]["code"]) == (409, 4005)
    assert "Idempotency-Key" in reply.json["detail"]
    assert live_lab.everything() == before


@every
@pytest.mark.parametrize("key", ["", " ", "two words", "é", "k" * 256])
def test_a_key_that_is_none_is_refused_by_the_headers_name(
    host: Host, live_lab: Laboratory, write: Write, key: str
) -> None:
    task_id = ready(host, write)
    before = live_lab.everything()

    reply = host.ask(task_id, write.what, write.body, key=key)

    assert reply.status == 400
    assert [place["at"] for place in reply.json["errors"]] == ["Idempotency-Key"]
    assert live_lab.everything() == before


def test_what_changes_nothing_leaves_no_key_behind(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    host.say(task_id, fence, 1, "one")

    beat = host.ask(task_id, "heartbeat", {"fence": fence}, key="k")
    repeated = host.ask(task_id, "outputs", {"fence": fence, "number": 1, **text("one")}, key="k")

    assert (beat.status, repeated.status) == (200, 200)
    assert not [pk for pk, _ in live_lab.everything() if pk.startswith("KEY#")]


def test_a_key_is_of_one_route_and_one_task(host: Host) -> None:
    one, fence = host.running()
    other, _ = host.running()

    assert host.ask(one, "complete", key="k").status == 200
    assert host.ask(other, "complete", key="k").status == 200
    assert host.ask(other, "restrict", key="k").status == 409
    assert host.ask(one, "finish", {"fence": fence}, key="k").status == 409


def test_a_start_said_again_gives_the_fence_that_it_gave(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task("hi")
    first = host.ask(task_id, "turns", key="k")
    host.say(task_id, 1, 1, "one")
    before = live_lab.everything()

    again = host.ask(task_id, "turns", key="k")

    assert (first.status, again.status) == (201, 201)
    assert again.json["turn"] == {**first.json["turn"], "outputs": 1}
    assert live_lab.everything() == before
    assert host.ask(task_id, "turns", {}, key="k").status == 201


@pytest.mark.parametrize("since", ["taken over", "failed", "finished", "ended"])
def test_a_start_said_again_gives_no_fence_that_is_not_held_any_more(
    host: Host, live_lab: Laboratory, since: str
) -> None:
    task_id = host.task("hi")
    fence = host.start(task_id, key="k")["fence"]
    match since:
        case "taken over":
            host.sweep_after(seconds=61)
            host.start(task_id, key="another")
        case "failed":
            host.ask(task_id, "fail", {"fence": fence})
        case "finished":
            host.finish(task_id, fence)
        case _:
            host.ask(task_id, "error")
    before = live_lab.everything()

    again = host.ask(task_id, "turns", key="k")

    assert again.status == 409
    assert live_lab.everything() == before


@pytest.mark.clause("RET-4")
def test_a_start_whose_host_died_before_it_heard_is_said_again_and_gives_its_fence(
    host: Host, faults: Faults
) -> None:
    task_id = host.task("hi")
    faults.die_at(WRITE, 1, sent=True)
    with pytest.raises(Killed):
        host.ask(task_id, "turns", key="k")
    faults.clear()

    assert host.ask(task_id, "turns").status == 409
    turn = host.start(task_id, key="k")

    assert (turn["fence"], turn["attempt"]) == (1, 1)
    assert host.finish(task_id, turn["fence"], "done").status == 200


@pytest.mark.clause("RET-4")
def test_a_finish_whose_host_died_before_it_heard_is_said_again_and_says_its_output_once(
    host: Host, live_lab: Laboratory, faults: Faults
) -> None:
    task_id, fence = host.running()
    body = {"fence": fence, **text("done")}
    faults.die_at(WRITE, 1, sent=True)
    with pytest.raises(Killed):
        host.ask(task_id, "finish", body, key="k")
    faults.clear()

    assert host.ask(task_id, "finish", body).status == 409
    assert host.ask(task_id, "finish", body, key="k").status == 200

    said = [entry for entry in live_lab.conversation(task_id) if entry["type"] == "output"]
    assert len(said) == 1


@pytest.mark.parametrize("what", ["turns", "finish"])
@pytest.mark.parametrize("key", [None, "k"])
def test_an_answer_that_the_store_lost_costs_the_host_nothing(
    host: Host, live_lab: Laboratory, faults: Faults, what: str, key: str | None
) -> None:
    task_id = host.task("hi")
    fence = host.start(task_id)["fence"] if what == "finish" else None
    faults.inject(LOST, WRITE)

    reply = host.ask(task_id, what, {"fence": fence, **text("done")} if fence else {}, key=key)

    assert reply.status == (200 if fence else 201)
    assert [entry["transition"] for entry in live_lab.journal(task_id)].count("start_turn") == 1
    assert reply.json == host.read(task_id)


def test_a_key_is_kept_without_what_came_with_it(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()

    host.ask(task_id, "finish", {"fence": fence, **text("a secret")}, key="k-secret")

    (kept,) = [item for (pk, _), item in live_lab.everything().items() if pk.startswith("KEY#")]
    assert "secret" not in json.dumps(kept)
    assert host.signer.principal not in json.dumps(kept)
