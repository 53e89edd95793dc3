"""A deletion is cut at each call it makes, or a call fails: nobody sees half a task; the next sweep goes on."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from tests.support.faults import (
    ERROR_AFTER,
    LOST,
    THROTTLED,
    TIMED_OUT_BEFORE,
    Fault,
    Faults,
    Killed,
    Stopwatch,
    faults_of,
)
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.service.retention import MARGIN
from turnkeeper.service.sweep import Swept
from turnkeeper.service.tasks import list_tasks
from turnkeeper.store.patience import Patience

DELETES = "DeleteObjects", "BatchWriteItem", "DeleteItem"


@contextmanager
def spoiled(lab: Laboratory, stopwatch: Stopwatch) -> Iterator[tuple[Laboratory, Faults]]:
    """Another process on the same table and bucket, whose calls the test may spoil; each is tried once."""
    process = Laboratory(
        lab.engine,
        clock=lab.clock,
        dynamodb=lab.engine.client("dynamodb", attempts=1),
        sqs=lab.sqs,
        table=lab.table,
        queue_url=lab.queue_url,
        bucket=lab.bucket,
    )
    s3 = process._s3 = lab.engine.client("s3", attempts=1)  # noqa: SLF001 - its first use would make another bucket

    def patience() -> Patience:
        return Patience(clock=stopwatch, sleep=stopwatch.sleep)

    process.runtime = replace(process.runtime, table=replace(process.runtime.table, patience=patience))
    with faults_of(process.dynamodb, s3, passes=stopwatch.sleep) as faults:
        yield process, faults


def ended(lab: Laboratory) -> str:
    """A task of two batches and two files, one of them twice, whose retention is over."""
    task_id = lab.create(agent="mayfly").task.id
    for path in ("x/a.csv", "x/a.csv", "y/b.csv"):
        lab.send_file(task_id, path)
    for number in range(8):
        lab.send(task_id, f"input {number}")
    lab.work()
    lab.clock.forward(seconds=6)
    lab.clock.now = lab.poll(task_id).due_at + MARGIN
    return task_id


def left(lab: Laboratory, task_id: str) -> int:
    """How many items and versions of files there are of the task."""
    items = [key for key in lab.everything() if key[0] == f"TASK#{task_id}"]
    page = lab.s3.list_object_versions(Bucket=lab.bucket, Prefix=f"task/{task_id}/")
    return len(items) + len([*page.get("Versions", ()), *page.get("DeleteMarkers", ())])


def assert_nobody_sees(lab: Laboratory, task_id: str) -> None:
    for look in (lambda: lab.poll(task_id), lambda: lab.page(task_id), lambda: lab.send(task_id, "late")):
        with pytest.raises(TaskNotFound):
            look()
    page = list_tasks(lab.runtime, caller=ALICE, phase=None, agent=None, limit=100, cursor=None)
    assert task_id not in {task.id for task in page.tasks}


def assert_deleted_by_the_next_sweep(lab: Laboratory, task_id: str) -> None:
    assert_nobody_sees(lab, task_id)
    swept = lab.sweep()
    assert (swept.failed, left(lab, task_id)) == (0, 0)
    assert_nobody_sees(lab, task_id)


def test_whatever_call_a_deletion_dies_at_the_next_sweep_deletes_the_rest(
    emulated_lab: Laboratory, stopwatch: Stopwatch, subtests: pytest.Subtests
) -> None:
    lab = emulated_lab
    with spoiled(lab, stopwatch) as (process, faults):
        task_id = ended(lab)
        faults.clear()
        assert process.sweep().deleted == 1
        made = Counter(faults.attempts)
    assert left(lab, task_id) == 0
    assert {name: made[name] for name in DELETES} == {
        "DeleteObjects": 1,
        "BatchWriteItem": 2,
        "DeleteItem": 1,
    }

    cuts = [
        (name, nth, sent) for name in DELETES for nth in range(1, made[name] + 1) for sent in (False, True)
    ]
    for at in cuts:
        with subtests.test(at=at), spoiled(lab, stopwatch) as (process, faults):
            task_id = ended(lab)
            faults.clear()
            faults.die_at(at[0], at[1], sent=at[2])
            with pytest.raises(Killed):
                process.sweep()

            assert (left(lab, task_id) == 0) is (at == ("DeleteItem", 1, True))
            assert_deleted_by_the_next_sweep(lab, task_id)


@pytest.mark.parametrize("fault", [THROTTLED, LOST, ERROR_AFTER, TIMED_OUT_BEFORE], ids=str)
@pytest.mark.parametrize("name", [*DELETES, "ListObjectVersions"])
def test_a_deletion_whose_call_fails_is_made_good(
    moto_lab: Laboratory, stopwatch: Stopwatch, name: str, fault: Fault
) -> None:
    lab = moto_lab
    task_id = ended(lab)
    kept = lab.create("hi").task.id

    with spoiled(lab, stopwatch) as (process, faults):
        faults.inject(fault, name)
        once = process.sweep()
    assert_nobody_sees(lab, task_id)
    assert once.failed == (left(lab, task_id) > 0)
    assert_deleted_by_the_next_sweep(lab, task_id)
    assert lab.stored(kept).received == 1


@pytest.mark.parametrize("name", DELETES)
def test_a_deletion_whose_call_fails_for_good_is_tried_by_each_sweep_and_holds_up_no_other(
    moto_lab: Laboratory, stopwatch: Stopwatch, name: str
) -> None:
    lab = moto_lab
    other, stuck = ended(lab), ended(lab)

    with spoiled(lab, stopwatch) as (process, faults):
        faults.inject(THROTTLED, name, times=None, about=stuck)
        swept: list[Swept] = [process.sweep(), process.sweep()]

    assert [(each.deleted, each.failed) for each in swept] == [(1, 1), (0, 1)]
    assert left(lab, other) == 0
    assert_deleted_by_the_next_sweep(lab, stuck)
