"""Idempotency keys on create and on inputs: one request however often it is sent, for a day."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from tests.support.laboratory import ALICE, BOB, PACE, Laboratory, said, texts
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import KeyReused, TaskIsTerminal, TaskNotFound
from turnkeeper.domain.task import Phase
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.create import create
from turnkeeper.service.inputs import accept
from turnkeeper.store.commit import commit

DAY = timedelta(days=1)


def end(lab: Laboratory, task_id: str) -> None:
    table = lab.runtime.table
    change = transitions.error(lab.stored(task_id), outcome=Code.DATA_LOSS, now=lab.clock.now, pace=PACE)
    commit(table, change, actor="test", at=lab.clock.now, patience=table.patience())


def items(lab: Laboratory, sort_key: str) -> int:
    return sum(key[1].startswith(sort_key) for key in lab.everything())


@pytest.mark.parametrize("text", ["hi", None])
def test_a_create_sent_again_answers_the_first_ones_task_as_it_is_now(
    lab: Laboratory, text: str | None
) -> None:
    first = lab.create(text, key="k")
    lab.work()
    lab.clock.forward(seconds=1)
    lab.send(first.task.id, "more")
    before = lab.everything()

    again = lab.create(text, key="k")

    assert again.task == lab.stored(first.task.id) != first.task
    assert again.received_at == first.received_at
    assert lab.everything() == before


def test_an_input_sent_again_answers_the_first_ones_receipt_and_the_task_as_it_is_now(
    lab: Laboratory,
) -> None:
    task_id = lab.create().task.id
    first = lab.send(task_id, "hi", key="k")
    lab.work()
    lab.clock.forward(seconds=1)
    before = lab.everything()

    again = lab.send(task_id, "hi", key="k")

    assert again.task == lab.stored(task_id)
    assert (again.task.phase, again.received_at) == (Phase.IDLE, first.received_at)
    assert lab.everything() == before


def test_a_key_with_another_body_is_refused_and_nothing_is_stored(lab: Laboratory) -> None:
    task_id = lab.create("hi", key="k").task.id
    lab.send(task_id, "hi", key="k")
    before = lab.everything()

    with pytest.raises(KeyReused):
        lab.create("ho", key="k")
    with pytest.raises(KeyReused):
        lab.create("hi", key="k", agent="mayfly")
    with pytest.raises(KeyReused):
        lab.create(None, key="k")
    with pytest.raises(KeyReused):
        lab.send(task_id, "ho", key="k")
    assert lab.everything() == before


def test_a_key_is_looked_at_before_the_end_of_its_task(lab: Laboratory) -> None:
    made = lab.create("hi", key="create")
    sent = lab.send(made.task.id, "more", key="input")
    end(lab, made.task.id)
    before = lab.everything()

    assert lab.send(made.task.id, "more", key="input").received_at == sent.received_at
    assert lab.create("hi", key="create").task.phase is Phase.TERMINAL
    with pytest.raises(KeyReused):
        lab.send(made.task.id, "other", key="input")
    with pytest.raises(TaskIsTerminal):
        lab.send(made.task.id, "more", key="new")
    assert lab.everything() == before


def test_a_key_is_looked_at_before_the_expiry_of_its_task_which_then_ends(lab: Laboratory) -> None:
    task_id = lab.create(agent="mayfly").task.id
    sent = lab.send(task_id, "hi", key="k")
    lab.work()
    lab.clock.forward(seconds=60)

    again = lab.send(task_id, "hi", key="k")

    assert again.received_at == sent.received_at
    assert again.task.phase is Phase.TERMINAL
    assert again.task == lab.stored(task_id)
    assert items(lab, "IN#") == 1


def test_a_key_is_free_again_after_its_time(lab: Laboratory) -> None:
    first = lab.create("hi", key="k")
    lab.work()
    lab.clock.now += DAY - timedelta(seconds=1)
    assert lab.create("hi", key="k").task.id == first.task.id

    lab.clock.forward(seconds=1)
    second = lab.create("ho", key="k")

    assert second.task.id != first.task.id
    assert lab.create("ho", key="k").task.id == second.task.id


def test_an_inputs_key_is_free_again_after_its_time(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    lab.send(task_id, "hi", key="k")
    lab.clock.now += DAY
    lab.send(task_id, "ho", key="k")
    lab.send(task_id, "ho", key="k")

    lab.work()

    assert [text for kind, text in texts(lab.conversation(task_id)) if kind == "input"] == ["hi", "ho"]


def test_a_key_is_its_callers_own(lab: Laboratory) -> None:
    alices = lab.create("hi", key="k", caller=ALICE)
    bobs = lab.create("hi", key="k", caller=BOB)

    assert alices.task.id != bobs.task.id
    assert lab.create("hi", key="k", caller=BOB).task.id == bobs.task.id
    with pytest.raises(TaskNotFound):
        lab.send(alices.task.id, "hi", key="k", caller=BOB)


def test_a_key_is_for_one_route_and_one_task(lab: Laboratory) -> None:
    one = lab.create("hi", key="k").task.id
    other = lab.create("hi", key="another").task.id

    lab.send(one, "hi", key="k")
    lab.send(other, "hi", key="k")

    assert lab.stored(one).received == lab.stored(other).received == 2


def test_without_a_key_each_request_is_its_own(lab: Laboratory) -> None:
    one, other = lab.create("hi").task.id, lab.create("hi").task.id
    lab.send(one, "hi")
    lab.send(one, "hi")

    assert one != other
    assert lab.stored(one).received == 3
    assert items(lab, "KEY") == 0


def at_once(count: int, request: Callable[[int], Accepted]) -> list[Accepted]:
    with ThreadPoolExecutor(count) as threads:
        return list(threads.map(request, range(count)))


def test_eight_creates_at_once_with_one_key_make_one_task(lab: Laboratory) -> None:
    runtimes = [lab.another_process() for _ in range(8)]
    lab.create("the agent is there")
    tasks, inputs = items(lab, "TASK"), items(lab, "IN#")

    made = at_once(8, lambda n: create(runtimes[n], caller=ALICE, agent="echo", content=said("hi"), key="k"))

    assert len({answer.task.id for answer in made}) == 1
    assert len({answer.received_at for answer in made}) == 1
    assert (items(lab, "TASK"), items(lab, "IN#")) == (tasks + 1, inputs + 1)


def test_eight_inputs_at_once_with_one_key_are_one_input(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    runtimes = [lab.another_process() for _ in range(8)]

    sent = at_once(
        8, lambda n: accept(runtimes[n], caller=ALICE, task_id=task_id, content=said("hi"), key="k")
    )

    assert len({answer.received_at for answer in sent}) == 1
    assert lab.stored(task_id).received == 1
    assert items(lab, "IN#") == 1


def test_eight_inputs_at_once_with_keys_of_their_own_are_eight(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    runtimes = [lab.another_process() for _ in range(8)]

    at_once(8, lambda n: accept(runtimes[n], caller=ALICE, task_id=task_id, content=said(str(n)), key=str(n)))
    lab.work()

    entries = [entry for entry in lab.conversation(task_id) if entry["type"] == "input"]
    assert sorted(text for _, text in texts(entries)) == [str(n) for n in range(8)]
    assert len({json.dumps(entry["received_at"]) for entry in entries}) == 8


def test_the_order_of_names_makes_no_other_request_of_it(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    one = '{"message":[{"mimeType":"text/plain","text":"hi"}]}'
    other = '{"message":[{"text":"hi","mimeType":"text/plain"}]}'
    first = accept(lab.runtime, caller=ALICE, task_id=task_id, content=one, key="k")

    again = accept(lab.runtime, caller=ALICE, task_id=task_id, content=other, key="k")

    assert again.received_at == first.received_at
    assert lab.stored(task_id).received == 1
