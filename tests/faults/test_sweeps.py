"""The sweep meets what is broken, busy or not due any more, and still looks at everything else."""

from collections.abc import Callable

import pytest

from tests.faults.agents import Talker, enlist
from tests.faults.healing import sweep_until_quiet
from tests.faults.scene import wake_ups
from tests.faults.scenes import forgotten, running
from tests.faults.soundness import assert_sound
from tests.faults.victims import Victim
from tests.support.faults import CONFLICT, HEALTHY, READ, THROTTLED, TIMED_OUT_BEFORE, WRITE, Fault
from tests.support.laboratory import Laboratory
from turnkeeper.domain.task import Phase
from turnkeeper.service.sweep import sweep
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire


def expiring(lab: Laboratory, count: int) -> list[str]:
    """So many idle tasks past their end."""
    ids = [lab.create(agent="mayfly").task.id for _ in range(count)]
    lab.clock.forward(seconds=5)
    return ids


def ended(lab: Laboratory, ids: list[str]) -> list[bool]:
    return [lab.stored(task_id).is_terminal for task_id in ids]


@pytest.mark.parametrize("fault", [THROTTLED, TIMED_OUT_BEFORE], ids=str)
@pytest.mark.parametrize("operation", [READ, WRITE])
def test_a_task_whose_partition_does_not_answer_holds_up_no_other(
    moto_lab: Laboratory, victim: Victim, operation: str, fault: Fault
) -> None:
    ids = expiring(moto_lab, 5)
    victim.faults.inject(fault, operation, times=None, about=ids[0])

    swept = victim.lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (5, 4, 1)
    assert ended(moto_lab, ids) == [False, True, True, True, True]
    victim.faults.clear()
    victim.lab.sweep()
    assert all(ended(moto_lab, ids))


def test_a_task_that_is_always_busy_holds_up_no_other(moto_lab: Laboratory, victim: Victim) -> None:
    ids = expiring(moto_lab, 3)
    victim.faults.inject(CONFLICT, WRITE, times=None, about=ids[1])

    swept = victim.lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (3, 2, 1)


def test_a_task_that_cannot_be_read_is_put_off_and_holds_up_no_other(moto_lab: Laboratory) -> None:
    ids = expiring(moto_lab, 3)
    broken = item_to_wire(task_key(ids[0]))
    moto_lab.dynamodb.update_item(TableName=moto_lab.table, Key=broken, UpdateExpression="REMOVE terms")

    swept = moto_lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (3, 2, 1)
    assert ended(moto_lab, ids[1:]) == [True, True]
    assert moto_lab.sweep().looked == 0
    moto_lab.clock.forward(minutes=2)
    assert moto_lab.sweep().failed == 1


def test_a_broken_task_that_cannot_even_be_put_off_holds_up_no_other(
    moto_lab: Laboratory, victim: Victim
) -> None:
    ids = expiring(moto_lab, 3)
    broken = item_to_wire(task_key(ids[0]))
    moto_lab.dynamodb.update_item(TableName=moto_lab.table, Key=broken, UpdateExpression="REMOVE terms")
    # Read once, to fail at it; when it is to be put off, it does not answer any more.
    victim.faults.inject(THROTTLED, READ, nth=2, times=None, about=ids[0])

    swept = victim.lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (3, 2, 1)


@pytest.mark.parametrize("arrange", [forgotten, running], ids=["lost wake-up", "lost turn"])
def test_what_is_due_in_a_stale_index_and_not_in_the_table_is_left_alone(
    moto_lab: Laboratory, victim: Victim, arrange: Callable[[Laboratory], str]
) -> None:
    task_id = arrange(moto_lab)
    moto_lab.clock.now = moto_lab.stored(task_id).due_at
    seen: list[object] = []

    def meanwhile() -> None:
        if not seen:
            moto_lab.sweep()
            seen.append((moto_lab.everything(), wake_ups(moto_lab)))

    victim.faults.inject(HEALTHY, READ, before=meanwhile)

    swept = victim.lab.sweep()

    assert (swept.looked, swept.changed, swept.failed) == (1, 0, 0)
    assert (moto_lab.everything(), wake_ups(moto_lab)) == seen[0]


def test_a_sweep_whose_time_is_up_leaves_the_rest_to_the_next(moto_lab: Laboratory) -> None:
    ids = expiring(moto_lab, 4)
    left = iter([True, True, False])

    swept = sweep(moto_lab.runtime, may_go_on=lambda: next(left))

    assert (swept.looked, swept.cut_short) == (2, True)
    moto_lab.sweep()
    assert all(ended(moto_lab, ids))


def test_looks_that_wake_nobody_space_out_and_never_stop(moto_lab: Laboratory) -> None:
    task_id = forgotten(moto_lab)
    pauses = []
    for _ in range(7):
        moto_lab.clock.now = moto_lab.stored(task_id).due_at
        moto_lab.sweep()
        pauses.append((moto_lab.stored(task_id).due_at - moto_lab.clock.now).total_seconds() / 60)

    assert pauses == [2, 4, 8, 15, 15, 15, 15]
    assert sweep_until_quiet(moto_lab, task_id, most=1).phase is Phase.IDLE
    assert_sound(moto_lab, task_id, accepted=["first"])


def test_a_task_that_never_gets_anywhere_ends_with_its_max_age(moto_lab: Laboratory) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker, max_age="1h")).task.id
    for _ in range(20):
        if moto_lab.stored(task_id).is_terminal:
            break
        moto_lab.clock.now = moto_lab.stored(task_id).due_at
        moto_lab.sweep()

    task = moto_lab.stored(task_id)
    assert task.is_terminal
    assert moto_lab.clock.now == task.oldest_end
    assert_sound(moto_lab, task_id, accepted=["first"])
