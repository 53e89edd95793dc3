"""A request whose caller gave up waiting may still arrive: nobody is told otherwise, and then it does no harm."""

import pytest

from tests.faults.scenes import SCENES
from tests.faults.soundness import assert_sound
from tests.faults.victims import Victim
from tests.support.faults import (
    CONFLICT,
    IN_PROGRESS,
    LATE,
    NOT_SENT,
    THROTTLED,
    TIMED_OUT_BEFORE,
    UPDATE,
    WRITE,
    Fault,
)
from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable


@pytest.mark.parametrize("then", [TIMED_OUT_BEFORE, THROTTLED, CONFLICT, NOT_SENT, IN_PROGRESS], ids=str)
def test_a_request_that_may_still_arrive_is_unknown_and_may_arrive(
    then: Fault, moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(LATE, WRITE)
    victim.faults.inject(then, WRITE, nth=2, times=None)

    with pytest.raises(CommitUnknown):
        victim.lab.send(task_id, "late", key="key")
    before = len(moto_lab.conversation(task_id))
    victim.faults.clear()
    victim.faults.arrive()

    assert (before, len(moto_lab.conversation(task_id))) == (0, 1)
    assert victim.lab.send(task_id, "late", key="key").received_at == moto_lab.clock.now
    assert_sound(moto_lab, task_id, accepted=["late"])


def test_a_transaction_still_in_progress_is_not_said_to_be_not_stored(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(IN_PROGRESS, WRITE, times=None)

    with pytest.raises(CommitUnknown):
        victim.lab.send(task_id, "somewhere")


def test_a_late_request_that_another_has_overtaken_changes_nothing(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(LATE, WRITE, then=lambda: moto_lab.send(task_id, "third"))

    victim.lab.send(task_id, "mine")
    stored = moto_lab.everything()
    victim.faults.arrive()

    assert moto_lab.everything() == stored
    assert_sound(moto_lab, task_id, accepted=["third", "mine"])


def test_a_late_request_that_nobody_hears_of_again_and_another_has_overtaken_is_known_to_be_lost(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(LATE, WRITE, times=None, before=lambda: moto_lab.send(task_id, "third"))

    with pytest.raises((StoreIsBusy, StoreIsUnavailable)):
        victim.lab.send(task_id, "mine")
    stored = moto_lab.everything()
    victim.faults.arrive()

    assert moto_lab.everything() == stored


def test_a_stale_heartbeat_writes_nothing(moto_lab: Laboratory, victim: Victim) -> None:
    scene = next(scene for scene in SCENES if scene.name == "heartbeat")
    task_id = scene.arrange(moto_lab)
    victim.faults.inject(LATE, UPDATE, then=lambda: moto_lab.send(task_id, "third"))

    scene.run(victim.lab, moto_lab, task_id)
    stored = moto_lab.raw(task_id)
    victim.faults.arrive()

    assert moto_lab.raw(task_id) == stored
