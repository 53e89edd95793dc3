"""Reading the conversation: its order, one snapshot per page, limits, and cursors that lose nothing."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.agents import Talkative
from tests.support.counting import Counting
from tests.support.laboratory import START, Laboratory, texts
from turnkeeper.domain.errors import MalformedRequest, TaskNotFound
from turnkeeper.service.cursors import Place, write_place
from turnkeeper.service.inputs import accept
from turnkeeper.service.messages import PAGE_BYTES, Page


def said_on(page: Page) -> list[str]:
    return [text for _, text in texts([json.loads(entry) for entry in page.entries])]


def committed_on(page: Page) -> list[str]:
    return [
        text
        for entry in page.entries
        if "committed_at" in (one := json.loads(entry))
        for _, text in texts([one])
    ]


def walk(lab: Laboratory, task_id: str, limit: int) -> list[list[str]]:
    """What is said on each page of *limit*, until there is no more."""
    found: list[list[str]] = []
    after = None
    while True:
        page = lab.page(task_id, after=after, limit=limit)
        found.append(said_on(page))
        after = page.next
        if not page.more:
            return found


@pytest.mark.clause("IO-1", "IO-3")
def test_the_conversation_is_in_commit_order_and_then_what_waits_in_order_of_arrival(lab: Laboratory) -> None:
    lab.agents["echo"] = Talkative
    task_id = lab.create("one").task.id
    lab.send(task_id, "two")
    lab.work()
    lab.send(task_id, "three")
    lab.send(task_id, "four")

    entries = lab.conversation(task_id)

    assert list(texts(entries)) == [
        ("input", "one"),
        ("input", "two"),
        ("output", "1a"),
        ("output", "1b"),
        ("output", "1c"),
        ("input", "three"),
        ("input", "four"),
    ]
    assert [set(entry) - {"type", "message"} for entry in entries] == [
        *[{"received_at", "committed_at"}] * 2,
        *[{"committed_at"}] * 3,
        *[{"received_at"}] * 2,
    ]


@pytest.mark.clause("IO-3")
def test_times_in_the_conversation_only_grow_although_the_clock_goes_back(lab: Laboratory) -> None:
    lab.agents["echo"] = Talkative
    task_id = lab.create("one").task.id
    for text in ("two", "three", "four"):
        lab.clock.forward(seconds=-1)
        lab.send(task_id, text)
        lab.clock.forward(seconds=-1)
        lab.work()

    entries = lab.conversation(task_id)

    for name in ("received_at", "committed_at"):
        instants = [entry[name] for entry in entries if name in entry]
        assert instants == sorted(set(instants))
    assert all(entry["received_at"] < entry["committed_at"] for entry in entries if entry["type"] == "input")


def test_what_an_input_said_is_read_exactly_as_it_was_sent(lab: Laboratory) -> None:
    metadata = '{"ratio":1e400,"n":0.10}'
    content = f'{{"message":[{{"mimeType":"text/plain","text":"\U0001f40c \\u0000","metadata":{metadata}}}]}}'
    task_id = lab.create().task.id
    accept(lab.runtime, caller="alice-sub", task_id=task_id, content=content, key=None)

    (entry,) = lab.page(task_id).entries

    assert content[1:-1] in entry


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_pages_of_any_size_say_all_of_it_once_in_order(lab: Laboratory, limit: int) -> None:
    lab.agents["echo"] = Talkative
    task_id = lab.create("one").task.id
    lab.send(task_id, "two")
    lab.send(task_id, "three")
    lab.work()
    lab.send(task_id, "four")
    lab.work()
    lab.send(task_id, "five")
    whole = ["one", "two", "three", "1a", "1b", "1c", "four", "2a", "2b", "2c", "five"]

    found = walk(lab, task_id, limit)

    assert [text for page in found for text in page] == whole
    assert all(len(page) == limit for page in found[:-1])


def test_a_page_says_whether_there_is_more_and_the_last_leads_on_too(lab: Laboratory) -> None:
    task_id = lab.create("one").task.id
    lab.send(task_id, "two")

    first = lab.page(task_id, limit=1)
    last = lab.page(task_id, limit=1, after=first.next)
    nothing = lab.page(task_id, after=last.next)

    assert (first.more, last.more, nothing.more) == (True, False, False)
    assert nothing.entries == ()
    assert lab.page(task_id, after=nothing.next).entries == ()


def test_a_task_nobody_spoke_in_has_an_empty_page_that_leads_on(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    empty = lab.page(task_id)

    lab.send(task_id, "one")

    assert (empty.entries, empty.more) == ((), False)
    assert said_on(lab.page(task_id, after=empty.next)) == ["one"]


@pytest.mark.clause("IO-4")
def test_an_input_shown_waiting_is_shown_again_once_it_is_committed(lab: Laboratory) -> None:
    task_id = lab.create("one").task.id
    waiting = lab.page(task_id)
    lab.work()

    again = lab.page(task_id, after=waiting.next)

    assert (said_on(waiting), committed_on(waiting)) == (["one"], [])
    assert committed_on(again) == ["one", "one"]
    assert lab.page(task_id, after=again.next).entries == ()


def test_an_input_shown_waiting_is_not_shown_again_while_it_waits(lab: Laboratory) -> None:
    task_id = lab.create("one").task.id
    waiting = lab.page(task_id)
    lab.send(task_id, "two")

    assert said_on(lab.page(task_id, after=waiting.next)) == ["two"]


def test_a_commit_that_a_page_cut_goes_on_where_it_was_cut(lab: Laboratory) -> None:
    task_id = lab.create("1").task.id
    for number in range(2, 6):
        lab.send(task_id, str(number))
    lab.work()
    cut = lab.page(task_id, limit=2)

    lab.send(task_id, "6")
    rest = lab.page(task_id, after=cut.next)

    assert said_on(cut) == ["1", "2"]
    assert said_on(rest) == ["3", "4", "5", "1\n2\n3\n4\n5", "6"]


@pytest.mark.clause("PO-1")
def test_a_page_is_one_snapshot_at_its_tasks_revision(lab: Laboratory) -> None:
    task_id = lab.create("zero").task.id
    lab.work()
    lab.send(task_id, "one")
    reader = Counting(lab.dynamodb)

    def meanwhile(operation: str, _: dict[str, Any]) -> None:
        if operation == "query":
            reader.before = None
            lab.work()
            lab.send(task_id, "too late for this page")

    reader.before = meanwhile
    before = lab.stored(task_id)
    seen = replace(lab, dynamodb=reader).page(task_id)

    assert lab.stored(task_id).received == 3
    assert seen.task == before
    assert said_on(seen) == ["zero", "zero", "one"]
    assert said_on(lab.page(task_id, after=seen.next)) == ["one", "one", "too late for this page"]


def test_a_page_is_at_most_4_mb_and_a_turn_reads_all_the_same(lab: Laboratory) -> None:
    text = "x" * 90_000
    task_id = lab.create().task.id
    for number in range(50):
        lab.send(task_id, f"{number:02}{text}")

    first = lab.page(task_id, limit=1000)
    second = lab.page(task_id, limit=1000, after=first.next)

    sizes = [sum(len(entry.encode()) + 1 for entry in page.entries) for page in (first, second)]
    assert sizes[0] <= PAGE_BYTES < sizes[0] + len(second.entries[0]) + 1
    assert (first.more, second.more) == (True, False)
    assert [one[:2] for one in said_on(first) + said_on(second)] == [f"{n:02}" for n in range(50)]


@pytest.mark.parametrize(
    ("turns", "place"),
    [
        (1, Place(at=START + timedelta(days=1))),
        (1, Place(at=START + timedelta(days=1), taken=1, pending=1)),
        (1, Place(pending=2)),
        (0, Place(at=START)),
        (0, Place(pending=2)),
    ],
)
def test_a_cursor_of_another_conversation_is_malformed(lab: Laboratory, turns: int, place: Place) -> None:
    task_id = lab.create("one").task.id
    for _ in range(turns):
        lab.work()
    before = lab.everything()

    with pytest.raises(MalformedRequest) as refused:
        lab.page(task_id, after=write_place(place))

    assert [wrong.at for wrong in refused.value.places] == ["after"]
    assert lab.everything() == before


def test_a_cursor_does_not_open_anothers_conversation(lab: Laboratory) -> None:
    task_id = lab.create("one").task.id
    cursor = lab.page(task_id).next

    with pytest.raises(TaskNotFound):
        lab.page(task_id, after=cursor, caller="bob-sub")
