"""Defences behind the first: each is tried alone, as if the one before it had been forgotten."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.faults.agents import Talker, enlist
from tests.faults.scenes import running
from tests.faults.victims import PATIENCE_S, Victim
from tests.support.laboratory import PACE, Laboratory, said
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StoreIsBusy
from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.transitions import Change
from turnkeeper.store.commit import Moved, commit
from turnkeeper.store.items import input_key, log_key
from turnkeeper.store.wire import item_to_wire


def write(lab: Laboratory, change: Change) -> Task:
    return commit(
        lab.runtime.table, change, actor="test", at=lab.clock.now, patience=lab.runtime.table.patience()
    )


def ended(lab: Laboratory) -> Task:
    task_id = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=5)
    lab.poll(task_id)
    return lab.stored(task_id)


@pytest.mark.parametrize("transition", [Transition.ACCEPT, Transition.HEARTBEAT])
def test_an_ended_task_cannot_be_written_by_code_that_forgot_to_ask(
    moto_lab: Laboratory, transition: Transition
) -> None:
    task = ended(moto_lab)
    before = moto_lab.everything()
    revived = replace(task, phase=Phase.PROCESSING, terminal_reason=None, received=1)

    with pytest.raises(Moved):
        write(moto_lab, Change(transition=transition, before=task, after=revived))

    assert moto_lab.everything() == before


def test_a_lease_is_not_renewed_on_a_task_that_moved_on(moto_lab: Laboratory) -> None:
    task_id = running(moto_lab)
    stale = moto_lab.stored(task_id)
    beat = transitions.heartbeat(stale, fence=1, now=moto_lab.clock.now + timedelta(seconds=20), pace=PACE)
    write(moto_lab, transitions.finish(stale, fence=1, output=None, now=moto_lab.clock.now, pace=PACE))
    before = moto_lab.everything()

    with pytest.raises(Moved):
        write(moto_lab, beat)

    assert moto_lab.everything() == before


def test_a_task_that_was_deleted_is_not_made_again_by_a_late_writer(moto_lab: Laboratory) -> None:
    task_id = running(moto_lab)
    stale = moto_lab.stored(task_id)
    for pk, sk in moto_lab.everything():
        moto_lab.dynamodb.delete_item(TableName=moto_lab.table, Key=item_to_wire({"pk": pk, "sk": sk}))
    beat = transitions.heartbeat(stale, fence=1, now=moto_lab.clock.now + timedelta(seconds=20), pace=PACE)

    for change in (beat, transitions.accept(stale, content=said("x"), now=moto_lab.clock.now, pace=PACE)):
        with pytest.raises(Moved):
            write(moto_lab, change)

    assert moto_lab.everything() == {}


@pytest.mark.parametrize("kind", ["input", "journal"])
def test_what_lies_there_already_is_never_overwritten(
    moto_lab: Laboratory, victim: Victim, kind: str
) -> None:
    task_id = moto_lab.create().task.id
    key = input_key(task_id, 1) if kind == "input" else log_key(task_id, 2)
    moto_lab.dynamodb.put_item(
        TableName=moto_lab.table, Item=item_to_wire({**key, "content": "mine", "write_revision": "another's"})
    )
    before = moto_lab.everything()

    with pytest.raises(StoreIsBusy):
        victim.lab.send(task_id, "overwrites")

    assert moto_lab.everything() == before
    assert victim.stopwatch.now > PATIENCE_S / 2


def test_outputs_of_an_attempt_that_was_cut_are_not_said_again(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id
    moto_lab.clock.forward(seconds=1)
    start = transitions.start_turn(moto_lab.stored(task_id), now=moto_lab.clock.now, pace=PACE)
    task = write(moto_lab, start)
    emitted = transitions.emit(
        task, fence=1, ordinal=1, content=said("one"), now=moto_lab.clock.now, pace=PACE
    )
    task = write(moto_lab, emitted)

    again = transitions.emit(task, fence=1, ordinal=1, content=said("one"), now=moto_lab.clock.now, pace=PACE)

    assert not again.is_change
