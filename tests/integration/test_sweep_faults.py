"""A sweep among broken things: what cannot be read is put off, and blocks nobody."""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.counting import Counting
from tests.support.laboratory import Laboratory
from turnkeeper.domain.instants import to_text
from turnkeeper.domain.task import Phase
from turnkeeper.service.sweep import sweep
from turnkeeper.store.items import SHARDS
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire, to_wire

MINUTE = timedelta(minutes=1)

UNREADABLE: dict[str, dict[str, Any]] = {
    "a phase of a newer version": {"phase": {"S": "dreaming"}},
    "a time that is none": {"created_key": {"S": "yesterday"}},
    "terms that are none": {"terms": {"S": "lost"}},
    "an attribute of a kind that is never written": {"turn": {"B": b"bytes"}},
    "looks that are no number besides": {"looks": {"S": "many"}, "terms": {"S": "lost"}},
    "a write revision that is none besides": {"write_revision": {"N": "7"}, "terms": {"S": "lost"}},
}


def break_item(lab: Laboratory, task_id: str, broken: dict[str, Any]) -> None:
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in broken),
        ExpressionAttributeNames={f"#{name}": name for name in broken},
        ExpressionAttributeValues={f":{name}": value for name, value in broken.items()},
    )


def without(lab: Laboratory, task_id: str, name: str) -> None:
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression="REMOVE #name",
        ExpressionAttributeNames={"#name": name},
    )


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_task_that_cannot_be_read_is_put_off_ever_longer_and_the_others_are_looked_at(
    lab: Laboratory, name: str
) -> None:
    broken = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=1)
    sound = lab.create(agent="mayfly").task.id
    break_item(lab, broken, UNREADABLE[name])
    lab.clock.forward(seconds=10)

    swept = lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (2, 1, 1)
    assert lab.stored(sound).phase is Phase.TERMINAL
    due = lab.raw(broken)["due_at"]["S"]
    assert due > to_text(lab.clock.now)
    assert lab.sweep().looked == 0
    lab.clock.forward(minutes=5)
    assert lab.sweep().failed == 1
    assert lab.raw(broken)["due_at"]["S"] > to_text(lab.clock.now + MINUTE)
    for attribute, value in UNREADABLE[name].items():
        assert attribute in {"looks", "write_revision"} or lab.raw(broken)[attribute] == value


@pytest.mark.parametrize("name", ["write_revision", "phase", "looks", "terms"])
def test_a_task_that_lacks_something_is_put_off_too(lab: Laboratory, name: str) -> None:
    broken = lab.create(agent="mayfly").task.id
    without(lab, broken, name)
    lab.clock.forward(seconds=10)

    assert lab.sweep().failed == 1
    assert lab.sweep().looked == 0
    assert lab.raw(broken)["due_at"]["S"] > to_text(lab.clock.now)


def test_a_due_time_that_is_no_time_is_put_right(lab: Laboratory) -> None:
    broken = lab.create(agent="mayfly").task.id
    break_item(lab, broken, {"due_at": {"S": "0"}})

    assert lab.sweep().failed == 1
    assert lab.sweep().looked == 0


def test_an_index_entry_of_a_task_that_is_gone_is_passed_over(lab: Laboratory) -> None:
    kept = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=10)
    row = {"due_shard": f"due#{kept[0]}", "due_at": to_text(lab.clock.now), **task_key("0" * 32)}
    ghost = Ghost(lab.dynamodb, item_to_wire(row))

    swept = replace(lab, dynamodb=ghost).sweep()

    assert (swept.looked, swept.changed, swept.failed) == (2, 1, 0)


@dataclass
class Ghost:
    """An index with an entry that leads nowhere, before all the others of its shard."""

    client: Any
    row: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def query(self, **request: Any) -> dict[str, Any]:
        answer: dict[str, Any] = self.client.query(**request)
        if request["ExpressionAttributeValues"][":shard"] == self.row["due_shard"]:
            answer["Items"].insert(0, self.row)
        return answer


@pytest.mark.clause("TS-5c")
def test_ended_tasks_are_never_moved_and_never_looked_at_while_they_are_kept(lab: Laboratory) -> None:
    for _ in range(3):
        lab.create(agent="mayfly")
    lab.clock.forward(seconds=5)
    lab.sweep()
    before = lab.everything()

    for days in (1, 60, 28):
        lab.clock.forward(days=days)
        assert lab.sweep().looked == 0

    assert lab.everything() == before


@pytest.mark.clause("TS-5c")
def test_an_ended_task_is_not_even_put_off(lab: Laboratory) -> None:
    task_id = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=5)
    lab.sweep()
    break_item(lab, task_id, {"due_shard": to_wire(f"due#{task_id[0]}"), "terms": {"S": "lost"}})
    before = lab.everything()
    lab.clock.forward(days=100)

    assert lab.sweep().failed == 1
    assert lab.everything() == before


def test_a_sweep_whose_time_runs_short_says_so_and_the_next_goes_on(lab: Laboratory) -> None:
    for _ in range(5):
        lab.create(agent="mayfly")
    lab.clock.forward(seconds=5)
    left = [True, True, False]

    first = sweep(lab.runtime, may_go_on=lambda: left.pop(0))
    second = lab.sweep()

    assert (first.looked, first.changed, first.cut_short) == (2, 2, True)
    assert (second.looked, second.changed, second.cut_short) == (3, 3, False)


def test_each_minute_a_sweep_begins_at_another_shard(lab: Laboratory) -> None:
    counting = Counting(lab.dynamodb)
    counted = replace(lab, dynamodb=counting)
    first = []
    for _ in range(16):
        counting.calls.clear()
        counted.sweep()
        shards = [call.request["ExpressionAttributeValues"][":shard"]["S"] for call in counting.calls]
        due, ended = shards[:16], shards[16:]
        assert sorted(due) == [f"due#{shard}" for shard in SHARDS]
        assert ended == [shard.replace("due", "ended") for shard in due]
        first.append(shards[0])
        lab.clock.forward(minutes=1)

    assert sorted(first) == [f"due#{shard}" for shard in SHARDS]


def test_a_sweep_that_a_worker_overtakes_leaves_the_task_as_the_worker_left_it(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    lab.clock.forward(seconds=60)

    swept = replace(lab, dynamodb=Race(lab)).sweep()

    assert (swept.looked, swept.changed, swept.failed) == (1, 0, 0)
    assert (lab.stored(task_id).phase, lab.stored(task_id).turns) == (Phase.IDLE, 1)
    assert lab.work() == 0


@dataclass
class Race:
    """A client that lets a worker in just before the first write."""

    lab: Laboratory
    calls: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name in {"update_item", "transact_write_items"} and not self.calls:
            self.calls.append(name)
            self.lab.work()
        return getattr(self.lab.dynamodb, name)
