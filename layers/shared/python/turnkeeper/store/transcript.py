"""Reading the conversation: the transcript's entries and the inputs, each an ordered Query."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from turnkeeper.domain.instants import from_text
from turnkeeper.domain.judging import HeldOutput
from turnkeeper.domain.messages import Commit, Entry, Input, Output, Pin
from turnkeeper.store import journal
from turnkeeper.store.items import entry_key, held_output_key, input_key, made_key, memo_key
from turnkeeper.store.parts import Attributes
from turnkeeper.store.pins import pin_from_map
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_to_wire

EARLIEST = "MSG#"


def entries(
    table: Table, task_id: str, *, since: datetime | None, until: datetime, limit: int | None = None
) -> Iterator[Entry]:
    """Commits and outputs from *since* to *until*, both included, in order; *limit* is a page's size, no end."""
    pk = entry_key(task_id, until)["pk"]
    first = entry_key(task_id, since)["sk"] if since else EARLIEST
    for item in table.range(pk, first, entry_key(task_id, until)["sk"], limit=limit):
        yield _entry(item)


def inputs(table: Table, task_id: str, *, first: int, last: int, limit: int | None = None) -> Iterator[Input]:
    """The inputs numbered *first* to *last*, both included, in order; *limit* is a page's size, no end."""
    if first > last:
        return
    start, end = input_key(task_id, first), input_key(task_id, last)
    for item in table.range(start["pk"], start["sk"], end["sk"], limit=limit):
        yield Input(
            number=int(item["sk"].removeprefix("IN#")),
            received_at=from_text(item["received_at"]),
            content=item["content"],
        )


def commit(table: Table, task_id: str, at: datetime) -> Commit | None:
    """The commit at *at*, if that is one."""
    item = table.get(entry_key(task_id, at))
    entry = _entry(item) if item else None
    return entry if isinstance(entry, Commit) else None


def keep_made(table: Table, task_id: str, token: str, made: Mapping[int, str]) -> dict[str, str]:
    """Have what a guardrail *made* of inputs, by their numbers, lie there before a commit names *token*.

    Returns their seals, for that commit's journal entry.
    """
    items = [
        journal.sealed({**made_key(task_id, token, number), "content": content})
        for number, content in made.items()
    ]
    for item in items:
        table.write(table.client.put_item, TableName=table.name, Item=item_to_wire(item))
    return journal.seals(items)


def made(
    table: Table, task_id: str, commit: Commit, *, first: int = 0, limit: int | None = None
) -> Iterator[tuple[int, str]]:
    """What a guardrail made of inputs of *commit* from number *first* on; *limit* is a page's size, no end."""
    if commit.token is None:
        return
    start, end = (
        made_key(task_id, commit.token, number)
        for number in (max(first, commit.ranges[0][0]), commit.ranges[-1][1])
    )
    for item in table.range(start["pk"], start["sk"], end["sk"], limit=limit):
        yield int(item["sk"].rpartition("#")[2]), item["content"]


def held_output(table: Table, task_id: str, held: HeldOutput) -> tuple[str, tuple[Pin, ...]] | None:
    """What is *held*, as JSON text, and what that names."""
    item = table.get(held_output_key(task_id, held.fence, held.ordinal))
    return (item["content"], tuple(map(pin_from_map, item.get("files", ())))) if item else None


def memo(table: Table, task_id: str, fence: int) -> str | None:
    """What the agent noted when it suspended its turn under *fence*, as JSON text."""
    item = table.get(memo_key(task_id, fence))
    return item["content"] if item else None


def _entry(item: Attributes) -> Entry:
    at = from_text(item["sk"].removeprefix("MSG#"))
    if item["kind"] == "commit":
        return Commit(
            at=at,
            ranges=tuple((first, last) for first, last in item["ranges"]),
            refused=frozenset(item.get("refused", ())),
            token=item.get("token"),
        )
    return Output(at=at, turn=item["turn"], ordinal=item["ordinal"], content=item["content"])
