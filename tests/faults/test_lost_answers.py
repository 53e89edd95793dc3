"""A write commits and its answer is lost: nothing is doubled, and whoever wrote is told the truth."""

from typing import Any

import pytest

from tests.faults.scenes import SCENES, Scene, new_task, seen, wake_ups
from tests.faults.soundness import assert_sound
from tests.faults.victims import Victim, victim_of
from tests.support.faults import (
    ERROR_AFTER,
    HEALTHY,
    LOST,
    THROTTLED,
    TIMED_OUT_AFTER,
    Fault,
    Faults,
    Stopwatch,
)
from tests.support.laboratory import Laboratory

SDK_ATTEMPTS = 3

type Seen = dict[str, Any]


@pytest.fixture(scope="module")
def undisturbed() -> dict[tuple[str, bool], Seen]:
    """What was seen of each scene when nothing went wrong, by its name and whether a third writer came."""
    return {}


def happen(scene: Scene, victim: Victim, lab: Laboratory, *, spoil: Any, third: bool) -> Seen:
    """What is seen after *scene*, where *spoil* was told what a third writer does right after its write."""
    known = scene.arrange(lab)
    victim.faults.clear()
    then = (lambda: scene.third(lab, known)) if third else None
    spoil(victim.faults, then)
    answer = scene.run(victim.lab, lab, known)
    victim.faults.clear()
    task_id = new_task(lab, known) if scene.name.startswith("create") else known
    assert_sound(lab, task_id)
    return {"told": answer, "wake-ups": wake_ups(lab), **seen(lab, task_id)}


def expected(
    scene: Scene, lab: Laboratory, stopwatch: Stopwatch, found: dict[tuple[str, bool], Seen], *, third: bool
) -> Seen:
    """What is seen of *scene* when nothing goes wrong, on a table of its own."""
    if (scene.name, third) not in found:
        apart = Laboratory(lab.engine, dynamodb=lab.dynamodb, sqs=lab.sqs)
        with victim_of(apart, stopwatch) as undisturbed:
            found[scene.name, third] = happen(
                scene,
                undisturbed,
                apart,
                third=third,
                spoil=lambda faults, then: faults.inject(HEALTHY, scene.operation, nth=scene.nth, then=then),
            )
    return found[scene.name, third]


def once(fault: Fault, scene: Scene) -> Any:
    return lambda faults, then: faults.inject(fault, scene.operation, nth=scene.nth, then=then)


def then_throttled(scene: Scene) -> Any:
    """The answer is lost, and then the table throttles for longer than the SDK tries."""

    def spoil(faults: Faults, then: Any) -> None:
        faults.inject(LOST, scene.operation, nth=scene.nth, then=then)
        faults.inject(THROTTLED, scene.operation, nth=scene.nth + 1, times=SDK_ATTEMPTS + 1)

    return spoil


def for_good(scene: Scene) -> Any:
    """From this write on no write is ever answered."""
    return lambda faults, then: faults.inject(LOST, scene.operation, nth=scene.nth, times=None, then=then)


@pytest.mark.parametrize("third", [False, True], ids=["alone", "third writer"])
@pytest.mark.parametrize(
    "how", ["lost", "time-out", "500", "throttled after", "never answered"], ids=lambda how: how
)
@pytest.mark.parametrize("scene", SCENES, ids=str)
def test_a_lost_answer_changes_nothing(
    scene: Scene,
    how: str,
    lab: Laboratory,
    victim: Victim,
    undisturbed: dict[tuple[str, bool], Seen],
    *,
    third: bool,
) -> None:
    spoil = {
        "lost": once(LOST, scene),
        "time-out": once(TIMED_OUT_AFTER, scene),
        "500": once(ERROR_AFTER, scene),
        "throttled after": then_throttled(scene),
        "never answered": for_good(scene),
    }[how]
    healthy = expected(scene, lab, victim.stopwatch, undisturbed, third=third)

    assert happen(scene, victim, lab, spoil=spoil, third=third) == healthy
