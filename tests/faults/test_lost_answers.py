"""A write commits and its answer is lost: nothing is doubled, and whoever wrote is told the truth."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.faults.extent import pairs
from tests.faults.scene import Scene, new_task, seen, wake_ups
from tests.faults.scenes import SCENES, forgotten
from tests.faults.soundness import assert_sound
from tests.faults.victims import THE_SDKS, Victim, victim_of
from tests.support.faults import (
    ERROR_AFTER,
    HEALTHY,
    LOST,
    READ,
    THROTTLED,
    TIMED_OUT_AFTER,
    Fault,
    Faults,
    Stopwatch,
)
from tests.support.laboratory import Laboratory
from turnkeeper.domain.task import Phase, Task
from turnkeeper.service.accepted import Accepted

type Seen = dict[str, Any]
type Found = dict[tuple[str, bool], Seen]
type Then = Callable[[], object] | None
type Spoil = Callable[[Faults, Scene, Then], object]


@pytest.fixture(scope="module")
def undisturbed() -> Found:
    """What was seen of each scene when nothing went wrong, by its name and whether a third writer came."""
    return {}


def happen(scene: Scene, victim: Victim, lab: Laboratory, *, spoil: Spoil, third: bool) -> Seen:
    """What is seen after *scene*, where *spoil* was told what a third writer does right after its write."""
    known = scene.arrange(lab)
    victim.faults.clear()
    writes = scene.third
    spoil(victim.faults, scene, (lambda: writes(lab, known)) if third else None)
    answer = scene.run(victim.lab, lab, known)
    victim.faults.clear()
    if scene.has_key:
        _assert_made_before(scene, lab, known)
    task_id = new_task(lab, known) if scene.makes_a_task else known
    return {"told": answer, "wake-ups": wake_ups(lab), **seen(assert_sound(lab, task_id))}


def _assert_made_before(scene: Scene, lab: Laboratory, known: str) -> None:
    """The key is taken: the same request again is answered with what it made, and makes nothing."""
    made_at, before = lab.clock.now, lab.everything()
    lab.clock.forward(seconds=1)
    again = scene.act(lab, lab, known)

    assert lab.everything() == before
    assert isinstance(again, Accepted | Task)
    assert not isinstance(again, Accepted) or again.received_at == made_at


def expected(scene: Scene, lab: Laboratory, stopwatch: Stopwatch, found: Found, *, third: bool) -> Seen:
    """What is seen of *scene* when nothing goes wrong, on a table of its own."""
    if (scene.name, third) not in found:
        apart = Laboratory(lab.engine, dynamodb=lab.dynamodb, sqs=lab.sqs)
        with victim_of(apart, stopwatch) as healthy:
            found[scene.name, third] = happen(scene, healthy, apart, spoil=once(HEALTHY), third=third)
    return found[scene.name, third]


def once(fault: Fault) -> Spoil:
    """One attempt of the write meets *fault*."""
    return lambda faults, scene, then: faults.inject(fault, scene.operation, nth=scene.nth, then=then)


def then_throttled(faults: Faults, scene: Scene, then: Then) -> None:
    """The answer is lost, and then the table throttles for longer than the SDK tries."""
    faults.inject(LOST, scene.operation, nth=scene.nth, then=then)
    faults.inject(THROTTLED, scene.operation, nth=scene.nth + 1, times=THE_SDKS + 1)


def then_unreadable(faults: Faults, scene: Scene, then: Then) -> None:
    """The answer is lost, and the journal cannot be read for a moment: sending again must tell."""

    def unreadable() -> None:
        faults.inject(THROTTLED, READ, times=THE_SDKS)
        if then:
            then()

    faults.inject(LOST, scene.operation, nth=scene.nth, then=unreadable)


def never_answered(faults: Faults, scene: Scene, then: Then) -> None:
    """From this write on no write is ever answered."""
    faults.inject(LOST, scene.operation, nth=scene.nth, times=None, then=then)


SPOILS: dict[str, Spoil] = {
    "lost": once(TIMED_OUT_AFTER),
    "500": once(ERROR_AFTER),
    "then throttled": then_throttled,
    "then unreadable": then_unreadable,
    "never answered": never_answered,
}


LOOK = next(scene for scene in SCENES if scene.name == "look")
# A look is no transition, so nothing tells it from another's when a third writer came: it is decided again.
JOURNALLED = tuple(scene for scene in SCENES if scene.name != "look")


@pytest.mark.parametrize(
    ("scene", "how"),
    [*pairs(JOURNALLED, ("lost", "never answered")), *((LOOK, how) for how in SPOILS)],
    ids=str,
)
def test_a_lost_answer_changes_nothing(
    scene: Scene, how: str, moto_lab: Laboratory, victim: Victim, undisturbed: Found
) -> None:
    healthy = expected(scene, moto_lab, victim.stopwatch, undisturbed, third=False)

    assert happen(scene, victim, moto_lab, spoil=SPOILS[how], third=False) == healthy


@pytest.mark.parametrize(("scene", "how"), pairs(JOURNALLED, SPOILS), ids=str)
def test_a_lost_answer_and_a_third_writer_change_nothing(
    scene: Scene, how: str, moto_lab: Laboratory, victim: Victim, undisturbed: Found
) -> None:
    healthy = expected(scene, moto_lab, victim.stopwatch, undisturbed, third=True)

    assert happen(scene, victim, moto_lab, spoil=SPOILS[how], third=True) == healthy


@pytest.mark.parametrize(
    ("scene", "engine"), pairs(JOURNALLED, ("moto", "ministack")), ids=str, indirect=["engine"]
)
def test_a_lost_answer_that_the_sdk_tries_to_mend_changes_nothing(
    scene: Scene, lab: Laboratory, trusting: Victim, undisturbed: Found
) -> None:
    healthy = expected(scene, lab, trusting.stopwatch, undisturbed, third=True)

    assert happen(scene, trusting, lab, spoil=then_throttled, third=True) == healthy


@pytest.mark.parametrize("how", SPOILS)
def test_a_look_that_meets_an_input_leaves_the_task_awake(
    how: str, moto_lab: Laboratory, victim: Victim
) -> None:
    task_id = forgotten(moto_lab)
    SPOILS[how](victim.faults, LOOK, lambda: moto_lab.send(task_id, "third"))

    victim.lab.sweep()

    assert wake_ups(moto_lab) > 0
    moto_lab.work()
    assert_sound(moto_lab, task_id, accepted=["first", "third"])
    assert moto_lab.poll(task_id).phase is Phase.IDLE
