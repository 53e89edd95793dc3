"""Much of everything: ten thousand messages in one task, and two thousand tasks that are due in one minute."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest

from tests.faults.crowd import at_once, process
from tests.faults.extent import count
from tests.faults.indexes import in_pages
from tests.support import specimens
from tests.support.counting import Counting
from tests.support.laboratory import ALICE, START, Laboratory, said
from turnkeeper.domain.instants import MICROSECOND, to_text
from turnkeeper.domain.task import Phase, Task
from turnkeeper.service.poll import poll
from turnkeeper.service.sweep import sweep
from turnkeeper.store.items import SHARDS, entry_key, input_key, task_to_item
from turnkeeper.store.wire import item_to_wire

MESSAGES = 10_000
PAGE = 1_000
DUE = count(2_000, 250)
BATCH = 25


def put(lab: Laboratory, items: list[dict[str, Any]]) -> None:
    """Lay *items* down as they are."""
    puts = [{"PutRequest": {"Item": item_to_wire(item)}} for item in items]
    for start in range(0, len(puts), BATCH):
        asked = {lab.table: puts[start : start + BATCH]}
        while asked:
            asked = lab.dynamodb.batch_write_item(RequestItems=asked).get("UnprocessedItems") or {}


def conversed(task_id: str, turns: int, began: datetime) -> Iterator[dict[str, Any]]:
    """The items of so many turns, each of one input and one output."""
    for number in range(1, turns + 1):
        received = began + number * timedelta(seconds=1)
        yield {
            **input_key(task_id, number),
            "received_at": to_text(received),
            "content": said(f"input {number}"),
        }
        yield {**entry_key(task_id, received + MICROSECOND), "kind": "commit", "ranges": [[number, number]]}
        yield {
            **entry_key(task_id, received + 2 * MICROSECOND),
            "kind": "output",
            "turn": number,
            "ordinal": 1,
            "content": said(f"output {number}"),
        }


@pytest.mark.timeout(600)
def test_a_poll_of_ten_thousand_messages_is_one_small_read_and_their_pages_follow(
    emulated_lab: Laboratory,
) -> None:
    turns = MESSAGES // 2
    last = START + turns * timedelta(seconds=1)
    task = replace(
        specimens.idle(),
        responsible_user=ALICE,
        received=turns,
        committed=turns,
        turns=turns,
        outputs=turns,
        last_received_at=last,
        last_committed_at=last + 2 * MICROSECOND,
    )
    put(emulated_lab, [task_to_item(task), *conversed(task.id, turns, START)])
    counting = Counting(emulated_lab.dynamodb)
    other = Laboratory(
        emulated_lab.engine,
        clock=emulated_lab.clock,
        dynamodb=counting,
        sqs=emulated_lab.sqs,
        table=emulated_lab.table,
        queue_url=emulated_lab.queue_url,
    )

    assert poll(other.runtime, caller=ALICE, task_id=task.id).revision == task.revision
    assert [(call.operation, call.read_units) for call in counting.calls] == [("get_item", 1.0)]

    found, after = list[str](), None
    for _ in range(MESSAGES // PAGE + 1):
        counting.calls.clear()
        page = other.page(task.id, after=after, limit=PAGE)
        assert len(page.entries) <= PAGE
        assert len(counting.calls) <= 1 + 4  # the task; two ranges, each once more where AWS cuts a page
        found, after = [*found, *page.entries], page.next
        if not page.more:
            break
    assert len(found) == MESSAGES
    assert [
        f'"text":"{kind} {n}"' in entry for entry, (kind, n) in zip(found, expected(turns), strict=True)
    ].count(False) == 0
    assert other.page(task.id, after=after, limit=PAGE).entries == ()


def expected(turns: int) -> Iterator[tuple[str, int]]:
    for number in range(1, turns + 1):
        yield from (("input", number), ("output", number))


def due_at_once(number: int, now: datetime) -> Task:
    """An idle task whose announced end has just come."""
    made = replace(specimens.idle(), id=f"{number:032x}", responsible_user="many")
    return replace(made, idle_expires_at=now, due_at=now, since=made.since)


@pytest.mark.timeout(600)
def test_two_thousand_that_are_due_at_once_cost_a_query_per_page_and_a_transaction_each_while_others_are_served(
    emulated_lab: Laboratory,
) -> None:
    lab = emulated_lab
    put(lab, [task_to_item(due_at_once(number, lab.clock.now)) for number in range(DUE)])
    counting, is_over = Counting(in_pages(lab.dynamodb, 50)), threading.Event()
    sweeper = replace(lab.runtime, table=replace(lab.runtime.table, client=counting))
    served: list[float] = []

    def drain() -> object:
        try:
            return sweep(sweeper)
        finally:
            is_over.set()

    def be_served(other: Laboratory) -> None:
        while not is_over.is_set():
            began = time.monotonic()
            task_id = other.create("first").task.id
            other.send(task_id, "second")
            assert other.poll(task_id).phase is Phase.PROCESSING
            served.append(time.monotonic() - began)

    swept, *_ = at_once([drain, *(partial(be_served, process(lab)) for _ in range(2))])

    assert (swept.looked, swept.changed, swept.failed) == (DUE, DUE, 0)
    made = [call.operation for call in counting.calls]
    pages = made.count("query")
    # Each shard of what is due and each of what has ended, and a page more for each 50 rows or where one ends there.
    assert 2 * len(SHARDS) <= pages <= DUE // 50 + 3 * len(SHARDS)
    assert made.count("transact_write_items") == DUE
    assert made.count("get_item") == DUE
    assert len(made) == pages + 2 * DUE
    assert len(served) >= 2
    ended = [
        item
        for key, item in lab.everything().items()
        if key[1] == "TASK" and item["responsible_user"] == "many"
    ]
    assert {item["phase"] for item in ended} == {"terminal"}
    assert len(ended) == DUE
    assert sweep(sweeper).looked == 0
