"""One conditional transaction per transition: what it keeps, what it refuses, what a refusal tells."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.laboratory import ALICE, PACE, Laboratory, said
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StoreIsUnavailable, TaskIsTerminal
from turnkeeper.domain.messages import Output
from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.transitions import Change
from turnkeeper.store.commit import Moved, commit
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

FROM_A_NEWER_VERSION: dict[str, Any] = {
    "future": {"M": {"a": {"NULL": True}, "b": {"L": [{"N": "1"}, {"BOOL": False}]}}},
    "future_text": {"S": "kept"},
}


def written(lab: Laboratory, change: Change) -> Task:
    table = lab.runtime.table
    return commit(table, change, actor="test", at=lab.clock.now, patience=table.patience())


def ended(lab: Laboratory) -> Task:
    task = lab.create("hi").task
    return written(lab, transitions.error(task, outcome=Code.DATA_LOSS, now=lab.clock.now, pace=PACE))


def put_in(lab: Laboratory, task_id: str, path: str, value: dict[str, Any]) -> None:
    *parents, name = path.split(".")
    place = ".".join([*parents, "#name"])
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression=f"SET {place} = :value",
        ExpressionAttributeNames={"#name": name},
        ExpressionAttributeValues={":value": value},
    )


def test_what_a_newer_version_keeps_in_a_task_stays_through_all_that_we_write(lab: Laboratory) -> None:
    task = lab.create("one").task
    for name, value in FROM_A_NEWER_VERSION.items():
        put_in(lab, task.id, name, value)
        put_in(lab, task.id, f"terms.{name}", value)

    lab.work()
    lab.send(task.id, "two")
    lab.work()
    lab.clock.forward(days=8)
    lab.poll(task.id)

    item = lab.raw(task.id)
    assert item["phase"] == {"S": "terminal"}
    for name, value in FROM_A_NEWER_VERSION.items():
        assert item[name] == value
        assert item["terms"]["M"][name] == value


def test_a_task_of_a_newer_schema_is_not_taken_up_and_its_wake_up_comes_again(lab: Laboratory) -> None:
    task = lab.create("one").task
    put_in(lab, task.id, "schema", {"N": "2"})
    before = lab.everything()

    with pytest.raises(StoreIsUnavailable):
        lab.work()

    assert lab.everything() == before


def forgetful(task: Task, lab: Laboratory) -> list[Change]:
    """Changes of a task that has ended, as code would make them that never asked."""
    output = Output(at=lab.clock.now, turn=1, ordinal=1, content=said("too late"))
    reopened = replace(task, phase=Phase.PROCESSING, terminal_reason=None, outcome=None)
    return [
        Change(transition=Transition.EMIT, before=task, after=replace(task, outputs=1), entry=output),
        Change(transition=Transition.INTERRUPT, before=task, after=reopened),
        Change(transition=Transition.HEARTBEAT, before=task, after=replace(task, looks=7)),
        Change(transition=Transition.LOOK, before=task, after=replace(task, due_at=lab.clock.now)),
    ]


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("which", range(4))
def test_the_store_refuses_to_change_an_ended_task_even_for_code_that_forgot_to_ask(
    lab: Laboratory, which: int
) -> None:
    task = ended(lab)
    before = lab.everything()

    with pytest.raises(Moved) as refused:
        written(lab, forgetful(task, lab)[which])

    assert refused.value.current == task
    assert lab.everything() == before


@pytest.mark.parametrize("transition", [Transition.INTERRUPT, Transition.LOOK])
def test_a_writer_that_read_before_another_wrote_learns_what_is_there_now(
    lab: Laboratory, transition: Transition
) -> None:
    stale = lab.create("one").task
    current = lab.send(stale.id, "two").task
    before = lab.everything()

    with pytest.raises(Moved) as refused:
        written(lab, Change(transition=transition, before=stale, after=replace(stale, looks=1)))

    assert refused.value.current == current
    assert lab.everything() == before


def test_a_task_is_written_as_it_is_returned(lab: Laboratory) -> None:
    made = lab.create("one").task
    sent = lab.send(made.id, "two").task

    assert sent == lab.stored(made.id)
    assert sent.write_revision != made.write_revision
    assert (sent.revision, sent.log_number) != (made.revision, made.log_number)


def test_an_id_that_exists_is_not_created_again(lab: Laboratory) -> None:
    task = lab.create("one").task
    before = lab.everything()
    birth = transitions.Birth(
        id=task.id, agent="echo", agent_version="v", terms=task.terms, responsible_user=ALICE
    )

    with pytest.raises(Moved):
        written(lab, transitions.create(birth, content=None, now=lab.clock.now, pace=PACE))

    assert lab.everything() == before


@pytest.mark.clause("TS-5c")
def test_an_ended_task_takes_no_input_and_no_wake_up(lab: Laboratory) -> None:
    task = ended(lab)
    before = lab.everything()

    with pytest.raises(TaskIsTerminal):
        lab.send(task.id, "too late")
    lab.work()
    lab.sweep()

    assert lab.everything() == before


def test_content_is_stored_exactly_as_it_was_sent(lab: Laboratory) -> None:
    content = '{"message":[{"mimeType":"text/plain","text":"\\u00e9 \U0001f40c"}],"n":1e400,"m":0.10}'
    task = lab.create().task
    lab.clock.forward(seconds=1)
    sent = accept_raw(lab, task.id, content)

    stored = lab.everything()[f"TASK#{task.id}", "IN#0000000001"]

    assert stored["content"] == content
    assert sent == lab.stored(task.id)


def accept_raw(lab: Laboratory, task_id: str, content: str) -> Task:
    change = transitions.accept(lab.stored(task_id), content=content, now=lab.clock.now, pace=PACE)
    return written(lab, change)
