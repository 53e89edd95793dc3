"""What a host's steps cost in calls and items: one read and one write each, and with a key no more calls."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.capacity import WRITE_UNIT, item_size
from tests.support.counting import Count
from tests.support.engines import make_queue
from tests.support.functions import Function
from tests.support.hosting import ACME, AGENT, FUNCTION, RIVAL, manifest
from tests.support.laboratory import Laboratory, said
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.task import Task, Usage
from turnkeeper.invocation import Invoked
from turnkeeper.service import host_agents, host_turns
from turnkeeper.service.host_turns import Asked

type Do = Callable[[Laboratory, Asked], Task]

STEPS: dict[str, Do] = {
    "start": lambda lab, asked: host_turns.start(lab.runtime, asked),
    "report": lambda lab, asked: host_turns.heartbeat(lab.runtime, asked, fence=1, usage=Usage(tool_calls=1)),
    "output": lambda lab, asked: host_turns.output(
        lab.runtime, asked, fence=1, ordinal=1, content=said("one")
    ),
    "finish": lambda lab, asked: host_turns.finish(lab.runtime, asked, fence=1, content=None),
    "finish with a word": lambda lab, asked: host_turns.finish(
        lab.runtime, asked, fence=1, content=said("done")
    ),
    "fail": lambda lab, asked: host_turns.fail(lab.runtime, asked, fence=1),
    "restrict": lambda lab, asked: host_turns.restrict(lab.runtime, asked),
}
"""Each step; what it costs without a key is in `tests/support/use_cases`."""


@pytest.fixture
def lab(counting: Laboratory) -> Laboratory:
    """A laboratory that counts, with an agent of the host `acme`."""
    queue = counting.runtime.queue
    assert queue
    counting.runtime = replace(
        counting.runtime,
        queue=replace(queue, host_urls={ACME.principal: make_queue(counting.sqs)}),
        host_functions=frozenset({FUNCTION}),
    )
    register(counting, repeatable=True)
    return counting


def register(lab: Laboratory, **ours: Any) -> None:
    document = json.dumps(manifest(**ours))
    host_agents.register(lab.runtime, principal=ACME.principal, name=AGENT, document=document)


def asked_of(task_id: str, *, key: str | None = None, principal: str = ACME.principal) -> Asked:
    return Asked(principal=principal, task_id=task_id, body="{}", key=key)


@pytest.mark.parametrize("step", STEPS)
def test_a_key_adds_one_item_to_a_steps_one_transaction_and_one_to_its_one_read(
    lab: Laboratory, count: Count, step: str
) -> None:
    tallies = []
    for key in (None, "k"):
        task_id = lab.create("hi", agent=AGENT).task.id
        if step != "start":
            host_turns.start(lab.runtime, asked_of(task_id))
        with count() as tally:
            STEPS[step](lab, asked_of(task_id, key=key))
        tallies.append(tally)

    bare, keyed = tallies
    assert bare.operations == ["get_item", "transact_write_items"]
    assert keyed.operations == ["batch_get_item", "transact_write_items"]
    assert keyed.transactions == [items + 1 for items in bare.transactions]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_said_again_with_its_key_is_one_read(lab: Laboratory, count: Count, step: str) -> None:
    do = STEPS[step]
    task_id = lab.create("hi", agent=AGENT).task.id
    if step != "start":
        host_turns.start(lab.runtime, asked_of(task_id))
    do(lab, asked_of(task_id, key="k"))

    with count() as tally:
        do(lab, asked_of(task_id, key="k"))

    assert tally.operations == ["batch_get_item"]


def test_what_is_not_the_hosts_is_one_read_and_what_is_no_id_none(lab: Laboratory, count: Count) -> None:
    task_id = lab.create("hi", agent=AGENT).task.id

    for given, reads in ((task_id, ["get_item"]), ("0" * 32, ["get_item"]), ("no-id", [])):
        for do in STEPS.values():
            with count() as tally, pytest.raises(TaskNotFound):
                do(lab, asked_of(given, principal=RIVAL.principal))
            assert tally.operations == reads


def test_a_name_that_can_be_none_costs_no_read(lab: Laboratory, count: Count) -> None:
    with count() as tally, pytest.raises(TaskNotFound):
        host_agents.read(lab.runtime, principal=ACME.principal, name="x" * 65)

    assert tally.operations == []


def test_a_start_writes_no_more_than_three_units_at_a_host(lab: Laboratory, count: Count) -> None:
    """The task's item, the journal's entry and the commit are each within one unit."""
    task_id = lab.create("hi", agent=AGENT).task.id

    with count() as tally:
        host_turns.start(lab.runtime, asked_of(task_id))

    (start,) = tally.of("transact_write_items")
    puts = [item["Put"]["Item"] for item in start.request["TransactItems"] if "Put" in item]
    assert [item_size(item) <= WRITE_UNIT for item in (*puts, lab.raw(task_id))] == [True] * 3


def test_a_turn_in_a_lambda_function_is_two_transactions(lab: Laboratory, count: Count) -> None:
    register(lab, runs="lambda", function=FUNCTION)
    lab.agents[AGENT] = lambda: Invoked(Function(lambda _: {"text": "done"}), FUNCTION)
    lab.create("hi", agent=AGENT)

    with count() as tally:
        lab.work()

    assert tally.transactions == [3, 3]
    assert sorted({call.operation for call in tally.dynamodb}) == [
        "get_item",
        "query",
        "transact_write_items",
    ]
    assert (len(tally.of("get_item")), len(tally.of("query"))) == (1, 1)
