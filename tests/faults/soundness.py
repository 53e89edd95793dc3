"""What must be true of a task whatever happened to it: nothing lost, nothing twice, and the journal's chain intact."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from tests.support.laboratory import Laboratory
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.waits import WaitKind, notifications
from turnkeeper.service.verify import replay
from turnkeeper.store.items import task_from_item

type Item = dict[str, Any]
type Items = dict[str, Item]


def assert_sound(lab: Laboratory, task_id: str, *, accepted: Sequence[str] | None = None) -> Items:
    """*task_id* is whole: journal, inputs, transcript and state agree, and *accepted* are its inputs, each once.

    Returns its items by sort key, for whoever wants to look closer.
    """
    items = items_of(lab, task_id)
    task = task_from_item(items["TASK"])
    _assert_journal(task, items)
    _assert_conversation(task, items)
    _assert_state(task)
    _assert_pointers(lab, task)
    if accepted is not None:
        assert said(items, "IN#") == Counter(accepted)
    return items


def assert_told(lab: Laboratory, task_id: str, inputs: Counter[str]) -> None:
    """What people see of *task_id*, at rest: each of its *inputs* once, and no call for anybody."""
    entries = lab.conversation(task_id)
    received = [entry["received_at"] for entry in entries if entry["type"] == "input"]
    assert len({*received}) == len(received) == inputs.total()
    instants = [entry["committed_at"] for entry in entries if "committed_at" in entry]
    assert instants == sorted({*instants})
    assert status_object(lab.poll(task_id))["status"]["notifications"] == []


def items_of(lab: Laboratory, task_id: str) -> Items:
    """Everything that lies in the task's partition, by sort key."""
    return {key[1]: item for key, item in lab.everything().items() if key[0] == f"TASK#{task_id}"}


def said(items: Items, kind: str) -> Counter[str]:
    """How often each text, or file, lies in the task's inputs (IN#) or outputs (MSG#)."""
    contents = [item["content"] for item in _kind(items, kind) if "content" in item]
    parts = [json.loads(content)["message"][0] for content in contents]
    return Counter(part.get("text") or part["file"] for part in parts)


def _kind(items: Items, kind: str) -> list[Item]:
    return [item for key, item in sorted(items.items()) if key.startswith(kind)]


def _assert_journal(task: Task, items: Items) -> None:
    """One entry per transition, each with the hash of the one before; their content is what lies there."""
    entries = _kind(items, "LOG#")
    assert [entry["n"] for entry in entries] == list(range(1, task.log_number + 1))
    head = ""
    for entry in entries:
        assert entry.get("previous", "") == head
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        head = hashlib.sha256(text.encode()).hexdigest()
    assert head == task.log_head
    assert len({entry["write_revision"] for entry in entries}) == len(entries)
    received = [entry.get("ranges") for entry in entries if entry["transition"] in {"accept", "create"}]
    assert [ranges for ranges in received if ranges] == [[[n, n]] for n in range(1, task.received + 1)]
    assert [*replay(task, items)] == []


def _assert_conversation(task: Task, items: Items) -> None:
    """Every input is there once and committed at most once, in order; no output of a turn twice; time goes on."""
    inputs, transcript = _kind(items, "IN#"), _kind(items, "MSG#")
    assert len(inputs) == task.received
    _assert_rising([datetime.fromisoformat(item["received_at"]) for item in inputs])
    committed = [
        number
        for entry in transcript
        if entry["kind"] == "commit"
        for first, last in entry["ranges"]
        for number in range(first, last + 1)
    ]
    held = [one.number for one in task.held]
    assert sorted([*committed, *held]) == list(range(1, task.committed + 1))
    assert len(committed) == len({*committed})
    outputs = [(entry["turn"], entry["ordinal"]) for entry in transcript if entry["kind"] == "output"]
    assert len(outputs) == task.outputs
    for turn, count in Counter(turn for turn, _ in outputs).items():
        assert [(turn, n) for n in range(1, count + 1)] == [output for output in outputs if output[0] == turn]
    instants: list[datetime] = []
    for entry in transcript:
        at = datetime.fromisoformat(entry["sk"].removeprefix("MSG#"))
        size = sum(last - first + 1 for first, last in entry["ranges"]) if entry["kind"] == "commit" else 1
        instants += [at + n * timedelta(microseconds=1) for n in range(size)]
    _assert_rising(instants)
    assert task.last_committed_at == (instants[-1] if instants else None)


def _assert_state(task: Task) -> None:
    """The invariants of the phases."""
    if task.phase is Phase.IDLE:
        assert task.turn is None
        assert task.pending == 0
        assert task.idle_expires_at is not None
        assert task.expiry_revision
    elif task.phase is Phase.PROCESSING:
        assert task.turn is not None or task.pending > 0
        assert task.idle_expires_at is None
    else:
        assert (task.turn, task.waits, task.idle_expires_at) == (None, (), None)
    if task.phase is not Phase.TERMINAL:
        assert task.due_at <= task.oldest_end


def _assert_pointers(lab: Laboratory, task: Task) -> None:
    """What points from people to the task is what it waits for people for, and nothing else."""
    there = [
        key
        for key, item in lab.everything().items()
        if key[0].startswith("PERSON#") and item.get("task_id") == task.id
    ]
    waits = [wait for wait in task.asks if wait.kind is WaitKind.REVIEW]
    owed = [f"PERSON#{wait.reviewer}" for wait in waits]
    owed += [f"PERSON#{task.responsible_user}"] * bool(notifications(task.asks, task.responsible_user))
    assert sorted(person for person, _ in there) == sorted(owed)


def _assert_rising(instants: Sequence[datetime]) -> None:
    assert all(one < other for one, other in pairwise(instants))
