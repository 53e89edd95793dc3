"""The conversation: one list, in the order in which the agent read it (IO-1 to IO-6)."""

from itertools import pairwise

import pytest

from tests.conformance.client import Json, answered, said, text_part
from tests.conformance.host import Host, manifest, new_name
from tests.conformance.instants import instant
from tests.conformance.person import Person, texts_of

RESERVED = ("received_at", "committed_at", "error", "type")


def committed(entries: list[Json]) -> list[Json]:
    """Those of *entries* that the agent has seen or said."""
    return [entry for entry in entries if "committed_at" in entry]


@pytest.mark.clause("IO-1")
def test_the_conversation_is_one_list_of_inputs_and_outputs(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    host.say(queued, fence, 1, "working")
    owner.tell(queued, "second")

    entries = owner.messages(queued)

    assert [(entry["type"], texts_of(entry)) for entry in entries] == [
        ("input", "first"),
        ("output", "working"),
        ("input", "second"),
    ]
    assert [set(entry) for entry in entries] == [
        {"type", "message", "received_at", "committed_at"},
        {"type", "message", "committed_at"},
        {"type", "message", "received_at"},
    ]
    assert all(isinstance(entry["message"], list) for entry in entries)


@pytest.mark.clause("IO-1")
def test_an_agent_that_was_told_nothing_has_an_empty_one(owner: Person, idle: str) -> None:
    assert owner.messages(idle) == []


@pytest.mark.clause("IO-2")
def test_an_input_is_received_when_it_is_taken_and_committed_when_a_turn_takes_it(
    owner: Person, host: Host, idle: str
) -> None:
    received = owner.send(idle, "first").headers["received-at"]
    (before,) = owner.messages(idle)
    host.start(idle)
    (after,) = owner.messages(idle)

    assert before["received_at"] == after["received_at"] == received
    assert "committed_at" not in before
    assert instant(after["committed_at"]) > instant(received)


@pytest.mark.clause("IO-3")
def test_what_is_committed_stands_in_strict_order_and_what_waits_behind_it(
    owner: Person, host: Host, queued: str
) -> None:
    owner.tell(queued, "second")
    fence = host.start(queued)
    owner.tell(queued, "third, sent before the first answer")
    host.say(queued, fence, 1, "answer 1")
    owner.tell(queued, "fourth")
    host.finish(queued, fence, "answer 2")
    fence = host.start(queued)
    host.say(queued, fence, 1, "answer 3")
    for number in range(5, 9):
        owner.tell(queued, f"waits {number}")

    entries = owner.messages(queued)

    assert [texts_of(entry) for entry in entries] == [
        "first",
        "second",
        "answer 1",
        "answer 2",
        "third, sent before the first answer",
        "fourth",
        "answer 3",
        *(f"waits {number}" for number in range(5, 9)),
    ]
    assert entries[: len(committed(entries))] == committed(entries)
    commits = [instant(entry["committed_at"]) for entry in committed(entries)]
    arrivals = [instant(entry["received_at"]) for entry in entries if entry["type"] == "input"]
    assert all(earlier < later for earlier, later in pairwise(commits))
    assert all(earlier < later for earlier, later in pairwise(arrivals))


@pytest.mark.clause("IO-3")
def test_it_reads_the_same_page_by_page(owner: Person, host: Host, queued: str) -> None:
    for number in range(6):
        owner.tell(queued, f"input {number}")
    host.take_turn(queued, "answer")
    owner.tell(queued, "waits")
    whole = owner.messages(queued)

    paged: list[Json] = []
    cursor: Json = {}
    while True:
        page = answered(owner.page(queued, **{"limit": 3, **cursor}), 200)
        paged += page["messages"]
        cursor = {"after": page["next"]}
        if not page["more"]:
            break

    assert paged == whole


@pytest.mark.clause("IO-4")
def test_what_the_agent_has_not_seen_has_no_committed_at(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    owner.tell(queued, "second")
    shown_to_the_agent = [
        texts_of(entry)
        for entry in answered(host.ask("GET", f"host/tasks/{queued}/messages"), 200)["messages"]
        if "committed_at" in entry
    ]

    assert shown_to_the_agent == ["first"]
    assert owner.waiting(queued) == ["second"]
    host.finish(queued, fence)
    assert owner.waiting(queued) == ["second"]
    host.start(queued)
    assert owner.waiting(queued) == []


@pytest.mark.clause("IO-4")
def test_an_input_that_was_shown_waiting_comes_again_when_it_is_committed(
    owner: Person, host: Host, queued: str
) -> None:
    first = answered(owner.page(queued), 200)
    host.start(queued)

    then = answered(owner.page(queued, after=first["next"]), 200)["messages"]

    assert [entry["received_at"] for entry in then] == [first["messages"][0]["received_at"]]
    assert "committed_at" in then[0]


@pytest.mark.clause("IO-5")
def test_one_turn_takes_all_that_waits_and_may_answer_it_at_once(
    owner: Person, host: Host, queued: str
) -> None:
    owner.tell(queued, "second")
    owner.tell(queued, "third")

    host.take_turn(queued, "to all of you")

    assert [(entry["type"], texts_of(entry)) for entry in owner.messages(queued)] == [
        ("input", "first"),
        ("input", "second"),
        ("input", "third"),
        ("output", "to all of you"),
    ]
    assert owner.waiting(queued) == []


@pytest.mark.clause("IO-5")
def test_a_cancelled_turn_has_read_its_inputs_and_says_nothing(
    owner: Person, host: Host, queued: str
) -> None:
    owner.tell(queued, "second")
    fence = host.start(queued)

    host.do(queued, "interrupt")
    late = host.post(queued, "finish", fence=fence, **said("too late"))

    assert late.status_code == 409
    assert [entry["type"] for entry in owner.messages(queued)] == ["input", "input"]
    assert owner.waiting(queued) == []
    assert owner.phase(queued) == ("idle", None)


@pytest.mark.clause("IO-6")
@pytest.mark.parametrize("name", RESERVED)
def test_no_agent_declares_a_reserved_name(host: Host, name: str) -> None:
    agent = new_name()
    properties = {name: {"type": "string"}}

    refused = host.register(
        agent, {**manifest(agent), "parameters": {"type": "object", "properties": properties}}
    )

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [f"parameters.properties.{name}"]
    assert host.register(agent, {**manifest(agent), "exposes": {name: "1"}}).status_code == 422


@pytest.mark.clause("IO-6")
@pytest.mark.parametrize("name", RESERVED)
def test_an_input_says_nothing_under_a_reserved_name(owner: Person, idle: str, name: str) -> None:
    before = owner.sees(idle)

    refused = owner.ask("POST", f"tasks/{idle}/inputs", {"message": [text_part("a")], name: "x"})

    assert refused.status_code == 422, refused.text
    (error,) = refused.json()["errors"]
    assert error["at"] == name
    assert "reserved" in error["problem"]
    assert owner.sees(idle) == before
