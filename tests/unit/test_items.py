"""The task's item: a task comes back as it was, and what a newer version wrote into it stays."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.specimens import SIGN_IN, runnable, suspended
from tests.support.strategies import instants, names, tasks, unknown
from turnkeeper.domain.task import Task
from turnkeeper.store.items import (
    SHARDS,
    created_key,
    due_shard,
    entry_key,
    input_key,
    log_key,
    memo_key,
    task_from_item,
    task_to_item,
)
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_from_wire, item_to_wire

ids = st.text("0123456789abcdef", min_size=32, max_size=32)


def through_the_table(task: Task) -> Task:
    return task_from_item(item_from_wire(item_to_wire(task_to_item(task))))


@given(tasks)
def test_a_task_comes_back_as_it_was(task: Task) -> None:
    assert through_the_table(task) == task


@given(unknown, unknown, unknown, unknown)
def test_what_a_newer_version_put_into_nested_maps_survives_a_rewrite(
    of_terms: dict[str, Any],
    of_turn: dict[str, Any],
    of_wait: dict[str, Any],
    of_resolution: dict[str, Any],
) -> None:
    item = item_to_wire(task_to_item(runnable()))
    item["waits"] = item_to_wire(task_to_item(suspended(SIGN_IN)))["waits"]
    nested = {
        "terms": (item["terms"]["M"], of_terms),
        "turn": (item["turn"]["M"], of_turn),
        "wait": (item["waits"]["L"][0]["M"], of_wait),
        "resolution": (item["turn"]["M"]["resolutions"]["L"][0]["M"], of_resolution),
    }
    for stored, more in nested.values():
        stored.update(
            {name: item_to_wire({"": {name: value}})[""]["M"][name] for name, value in more.items()}
        )

    rewritten = item_to_wire(task_to_item(task_from_item(item_from_wire(item))))

    assert rewritten == item


@given(names, st.integers())
def test_what_a_newer_version_put_beside_our_attributes_disturbs_no_reader(name: str, value: int) -> None:
    task = suspended()

    assert task_from_item({**task_to_item(task), name: value}) == task


@given(ids, st.integers(0, 10**9), st.integers(0, 10**9))
def test_keys_are_in_the_order_of_their_numbers(task_id: str, one: int, other: int) -> None:
    for key in (input_key, log_key, memo_key):
        assert (key(task_id, one)["sk"] < key(task_id, other)["sk"]) is (one < other)
        assert key(task_id, one)["pk"] == task_key(task_id)["pk"]


@given(ids, instants, instants)
def test_the_transcript_and_the_list_are_in_the_order_of_time(task_id: str, one: Any, other: Any) -> None:
    assert (entry_key(task_id, one)["sk"] < entry_key(task_id, other)["sk"]) is (one < other)
    assert one == other or (created_key(one, task_id) < created_key(other, task_id)) is (one < other)


@given(ids)
def test_every_task_is_due_in_one_of_the_shards_and_an_ended_one_in_another(task_id: str) -> None:
    kind, _, shard = due_shard(task_id, ended=False).partition("#")

    assert (kind, shard in SHARDS, len(shard)) == ("due", True, 1)
    assert due_shard(task_id, ended=True) == f"ended#{shard}"
