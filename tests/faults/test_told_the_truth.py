"""What a caller is told when a write does not get through: that nothing was stored only where that is certain."""

from collections.abc import Callable, Iterable

import pytest

from tests.faults.scene import Scene, new_task
from tests.faults.scenes import SCENES
from tests.faults.soundness import assert_sound
from tests.faults.victims import PATIENCE_S, Victim
from tests.support.faults import (
    CONFLICT,
    ERROR_BEFORE,
    HEALTHY,
    LOST,
    NOT_SENT,
    READ,
    READ_TIMEOUT_S,
    READS,
    SEND,
    THROTTLED,
    THROTTLED_INSIDE,
    TIMED_OUT_BEFORE,
    WRITE,
    Fault,
    cancelled,
)
from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable
from turnkeeper.store.commit import LAST_LOOK_S
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

ANSWERED = tuple(scene for scene in SCENES if scene.is_answered)
GATEWAY_S = 29.0
"""Longer than this nobody waits for an answer: the gateway gives its own."""


def refuse_reads(victim: Victim) -> None:
    """Nothing can be read from now on."""
    for read in READS:
        victim.faults.inject(THROTTLED, read, times=None)


@pytest.mark.parametrize("scene", ANSWERED, ids=str)
def test_a_commit_that_nobody_can_know_of_is_unknown_and_stored_once(
    scene: Scene, moto_lab: Laboratory, victim: Victim
) -> None:
    known = scene.arrange(moto_lab)
    victim.faults.clear()
    victim.faults.inject(LOST, scene.operation, nth=scene.nth, times=None, then=lambda: refuse_reads(victim))

    with pytest.raises(CommitUnknown):
        scene.run(victim.lab, moto_lab, known)

    task_id = new_task(moto_lab, known) if scene.makes_a_task else known
    assert_sound(moto_lab, task_id)
    assert victim.stopwatch.now < GATEWAY_S


@pytest.mark.parametrize("scene", [scene for scene in SCENES if not scene.is_answered], ids=str)
def test_who_tells_nobody_goes_on_when_a_commit_is_unknown(
    scene: Scene, moto_lab: Laboratory, victim: Victim
) -> None:
    def then() -> None:
        victim.faults.inject(THROTTLED, READ, times=None)

    task_id = scene.arrange(moto_lab)
    victim.faults.inject(LOST, scene.operation, nth=scene.nth, times=None, then=then)

    scene.run(victim.lab, moto_lab, task_id)

    assert_sound(moto_lab, task_id)


def faults_of_each(scenes: Iterable[Scene], faults: Iterable[Fault]) -> list[tuple[Scene, Fault]]:
    """Every scene with the first fault, and an input, which all writes are like, with every fault."""
    first, *others = faults
    scenes = tuple(scenes)
    return [(scene, first) for scene in scenes] + [
        (scene, fault) for scene in scenes if scene.name == "input" for fault in others
    ]


@pytest.mark.parametrize(
    ("scene", "fault"),
    faults_of_each(ANSWERED, (NOT_SENT, CONFLICT, ERROR_BEFORE, THROTTLED, THROTTLED_INSIDE)),
    ids=str,
)
def test_what_is_refused_for_good_is_said_to_be_not_stored_and_is_not(
    scene: Scene, fault: Fault, moto_lab: Laboratory, victim: Victim
) -> None:
    known = scene.arrange(moto_lab)
    victim.faults.clear()
    before: list[object] = []
    victim.faults.inject(
        fault,
        scene.operation,
        nth=scene.nth,
        times=None,
        before=lambda: before.append(moto_lab.everything()) if not before else None,
    )

    with pytest.raises(StoreIsBusy if fault is CONFLICT else StoreIsUnavailable):
        scene.run(victim.lab, moto_lab, known)

    assert moto_lab.everything() == before[0]
    assert PATIENCE_S / 2 < victim.stopwatch.now < GATEWAY_S


@pytest.mark.parametrize("fault", [NOT_SENT, THROTTLED, CONFLICT], ids=str)
def test_a_write_that_never_got_in_needs_no_journal_to_say_so(
    fault: Fault, moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    before = moto_lab.everything()
    victim.faults.inject(fault, WRITE, times=None, then=lambda: refuse_reads(victim))

    with pytest.raises((StoreIsUnavailable, StoreIsBusy)):
        victim.lab.send(task_id, "never arrives")

    assert moto_lab.everything() == before


@pytest.mark.parametrize(
    ("scene", "fault"),
    faults_of_each(SCENES, (THROTTLED, CONFLICT, THROTTLED_INSIDE, ERROR_BEFORE, NOT_SENT)),
    ids=str,
)
def test_what_is_refused_for_a_while_is_tried_again(
    scene: Scene, fault: Fault, moto_lab: Laboratory, victim: Victim
) -> None:
    known = scene.arrange(moto_lab)
    victim.faults.clear()
    victim.faults.inject(fault, scene.operation, nth=scene.nth, times=5)

    answer = scene.run(victim.lab, moto_lab, known)

    assert "failed=1" not in answer
    assert_sound(moto_lab, new_task(moto_lab, known) if scene.makes_a_task else known)
    assert victim.faults.attempts.count(scene.operation) >= 6


def test_a_commit_that_only_the_last_look_shows_is_a_success(moto_lab: Laboratory, victim: Victim) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(LOST, WRITE, then=lambda: victim.faults.inject(THROTTLED, READ))
    victim.faults.inject(THROTTLED, WRITE, nth=2, times=None)

    assert victim.lab.send(task_id, "mine").received_at == moto_lab.clock.now

    assert victim.stopwatch.now > PATIENCE_S / 2
    assert_sound(moto_lab, task_id, accepted=["mine"])


def test_who_talks_to_a_wall_hears_of_it_soon_after_the_deadline(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(TIMED_OUT_BEFORE, WRITE, times=None)
    victim.faults.inject(TIMED_OUT_BEFORE, READ, nth=2, times=None)

    with pytest.raises(CommitUnknown):
        victim.lab.send(task_id, "into the void")

    assert victim.stopwatch.now <= PATIENCE_S + 2 * READ_TIMEOUT_S + LAST_LOOK_S < GATEWAY_S


def held(lab: Laboratory, task_id: str) -> dict[str, object]:
    """A refusal that hands back the task, as a failed condition does."""
    key = item_to_wire(task_key(task_id))
    item = lab.dynamodb.get_item(TableName=lab.table, Key=key)["Item"]
    return {"Code": "ConditionalCheckFailed", "Item": item}


@pytest.mark.parametrize("is_readable", [True, False])
def test_a_refusal_that_hides_the_journal_is_looked_into(
    moto_lab: Laboratory, victim: Victim, *, is_readable: bool
) -> None:
    task_id = moto_lab.create().task.id

    def then() -> None:
        half_told = cancelled("half told", held(moto_lab, task_id), "TransactionConflict", None)
        victim.faults.inject(half_told, WRITE)
        victim.faults.inject(THROTTLED, READ, times=1 if is_readable else None)

    victim.faults.inject(LOST, WRITE, then=then)

    if is_readable:
        assert victim.lab.send(task_id, "mine").received_at == moto_lab.clock.now
    else:
        with pytest.raises(CommitUnknown):
            victim.lab.send(task_id, "mine")

    assert_sound(moto_lab, task_id, accepted=["mine"])


def test_who_is_always_slower_than_others_is_told_that_the_task_is_busy(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(HEALTHY, WRITE, times=None, before=lambda: moto_lab.send(task_id, "third"))

    with pytest.raises(StoreIsBusy):
        victim.lab.send(task_id, "mine")

    thirds = victim.faults.attempts.count(WRITE)
    assert_sound(moto_lab, task_id, accepted=["third"] * thirds)


@pytest.mark.parametrize(
    "act",
    [
        lambda lab, _: lab.create("mine"),
        lambda lab, task_id: lab.send(task_id, "mine"),
        lambda lab, task_id: lab.send(task_id, "mine", key="key"),
        lambda lab, task_id: lab.poll(task_id),
        lambda lab, task_id: lab.page(task_id),
        lambda lab, _: lab.sweep(),
    ],
    ids=["create", "input", "input with key", "poll", "messages", "sweep"],
)
def test_without_reads_nothing_is_stored_and_everybody_is_told(
    act: Callable[[Laboratory, str], object], moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    before = moto_lab.everything()
    refuse_reads(victim)

    with pytest.raises(StoreIsUnavailable):
        act(victim.lab, task_id)

    assert moto_lab.everything() == before
    assert victim.stopwatch.now < GATEWAY_S


def test_a_wake_up_that_is_not_sent_fails_no_request(moto_lab: Laboratory, victim: Victim) -> None:
    victim.faults.inject(TIMED_OUT_BEFORE, SEND, times=None)

    task_id = victim.lab.create("first").task.id
    victim.lab.send(task_id, "second")

    assert moto_lab.work() == 0
    moto_lab.clock.forward(seconds=61)
    moto_lab.sweep()
    moto_lab.work()
    assert_sound(moto_lab, task_id, accepted=["first", "second"])
    assert moto_lab.stored(task_id).pending == 0


def test_an_unknown_input_is_answered_when_it_is_sent_again_with_its_key(
    moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = moto_lab.create().task.id
    victim.faults.inject(LOST, WRITE, times=None, then=lambda: refuse_reads(victim))

    with pytest.raises(CommitUnknown):
        victim.lab.send(task_id, "mine", key="key")
    stored = moto_lab.everything()
    moto_lab.clock.forward(seconds=30)
    again = moto_lab.send(task_id, "mine", key="key")

    assert again.received_at != moto_lab.clock.now
    assert moto_lab.everything() == stored
