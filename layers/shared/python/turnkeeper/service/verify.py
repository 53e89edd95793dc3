"""Replaying a task's journal: whether everything that lies there is still what its transitions wrote.

It holds against anyone who cannot write the table. Who can may write a whole journal anew, and nothing here would tell.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.task import Task
from turnkeeper.service.owned import check_id
from turnkeeper.store import journal
from turnkeeper.store.items import task_from_item
from turnkeeper.store.parts import Attributes
from turnkeeper.store.standing import TASK, task_key
from turnkeeper.store.table import Table

FIRST, LAST = "!", "~"
LOG, CHILD, REVIEW, MADE = "LOG#", "CHILD#", "REVIEW#", "TX#"

type Items = Mapping[str, Attributes]
"""All that lies in a task's partition, by sort key."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that no transition of ours wrote so: *at* is the sort key of the item."""

    at: str
    problem: str


NOT_AS_WRITTEN = Finding(TASK, "is not what its last transition wrote")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What the replay came to; without findings, the task is what its journal says it is."""

    entries: int
    head: str
    is_terminal: bool
    findings: tuple[Finding, ...]


def verify(table: Table, task_id: str, *, now: datetime) -> Verified:
    """What a replay of the task's journal finds, over everything that lies beside it.

    `TaskNotFound` for a task that never was, and for one whose retention is over: it is deleted, or about to be.
    """
    check_id(task_id)
    items = {item["sk"]: item for item in table.range(task_key(task_id)["pk"], FIRST, LAST)}
    if TASK not in items:
        raise TaskNotFound
    task = task_from_item(items[TASK])
    findings = tuple(replay(task, items))
    # Who moved its end by hand does not hide it by that.
    if task.is_gone(now) and NOT_AS_WRITTEN not in findings:
        raise TaskNotFound
    return Verified(
        entries=task.log_number,
        head=task.log_head,
        is_terminal=task.is_terminal,
        findings=findings,
    )


def replay(task: Task, items: Items) -> Iterator[Finding]:
    """Everything among *items*, *task* among them, that is not as the journal has it."""
    entries = [item for sk, item in sorted(items.items()) if sk.startswith(LOG)]
    yield from _chain(task, entries)
    if entries and entries[-1].get("state") != journal.state(task):
        yield NOT_AS_WRITTEN
    yield from _contents(items, entries)
    yield from _children(items, entries)


def _chain(task: Task, entries: list[Attributes]) -> Iterator[Finding]:
    head = ""
    for number, entry in enumerate(entries, 1):
        if entry.get("n") != number or entry["sk"] != f"{LOG}{number:010d}":
            yield Finding(entry["sk"], f"is not entry {number}, which should stand here")
        if entry.get("previous", "") != head:
            yield Finding(entry["sk"], "does not follow the entry before it")
        head = journal.head(entry)
    if (len(entries), head) != (task.log_number, task.log_head):
        yield Finding(TASK, "names another last entry than there is")


def _contents(items: Items, entries: list[Attributes]) -> Iterator[Finding]:
    """Each item that an entry names is there and unchanged, and no other is there."""
    left = dict(_seals(items))
    for entry in entries:
        for key, seal in entry.get("contents", {}).items():
            found = left.pop(key, None)
            if found is None:
                yield Finding(key, f"is missing; {entry['sk']} wrote it")
            elif found != seal:
                yield Finding(key, f"is not what {entry['sk']} wrote")
    named = {f"{MADE}{item['token']}" for item in items.values() if "token" in item}
    for key in left:
        # What a guardrail made counts only where a commit names it; what a lost race left there counts for nothing.
        if not key.startswith(MADE) or key.rpartition("#")[0] in named:
            yield Finding(key, "was written by no transition")


def _seals(items: Items) -> Iterator[tuple[str, str]]:
    for sk, item in items.items():
        if sk == TASK or sk.startswith((LOG, CHILD)):
            continue
        yield sk, journal.seal(item) if "nonce" in item else ""
        if sk.startswith(REVIEW):
            if decided := journal.seal_of_decision(item):
                yield decided
            elif item.keys() & set(journal.DECIDED):
                yield f"{sk}{journal.DECISION}", ""


def _children(items: Items, entries: list[Attributes]) -> Iterator[Finding]:
    written = {entry["child"] for entry in entries if entry.get("child")}
    there = {item.get("child"): sk for sk, item in items.items() if sk.startswith(CHILD)}
    for child in there.keys() - written:
        yield Finding(there[child], "was written by no transition")
    for child in written - there.keys():
        yield Finding(f"{CHILD}{child}", "is missing")
