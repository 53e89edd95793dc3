"""A run is cut at each call it makes, in every way there is. What is left heals by itself, and nobody was told a lie.

The calls are recorded from a run that goes well, so a call that is added later is cut as well.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.faults.extent import EVERYTHING, some
from tests.faults.healing import assert_ended_for_good, deliver, sweep_until_quiet
from tests.faults.reading_scenes import READING_SCENES
from tests.faults.scene import Scene
from tests.faults.scenes import SCENES
from tests.faults.soundness import assert_sound, assert_told, items_of, said
from tests.faults.tally import Tried, tried
from tests.faults.victims import Victim, starts_anew, victim_of
from tests.faults.ways import WAYS, Way
from tests.support.faults import READS, Killed, Stopwatch
from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable, TaskError
from turnkeeper.service.accepted import Accepted

SWEEPS = 5
# Every kind of work once: other scenes are about other writes of the same work.
WORK = tuple(scene for scene in (*SCENES, *READING_SCENES) if scene.name not in {"start turn", "emit"})

type Heal = Callable[[Laboratory, str], object]
type Cut = tuple[int, Way]
"""The place of a call among all that a run makes, and what becomes of it."""


def by_sweeps(_lab: Laboratory, _task_id: str) -> None:
    """The wake-up of the dead process stays hidden; only the sweep helps."""


def by_the_queue(lab: Laboratory, task_id: str) -> None:
    """The wake-up comes again at once, which is too early, and when the lease is over."""
    deliver(lab, task_id)
    lab.clock.forward(seconds=66)
    deliver(lab, task_id)


def new_ids(lab: Laboratory, known: str) -> list[str]:
    ids = [pk.removeprefix("TASK#") for pk, sk in lab.everything() if pk.startswith("TASK#") and sk == "TASK"]
    return [task_id for task_id in ids if task_id != known]


@contextmanager
def on_a_table_of_its_own(lab: Laboratory, stopwatch: Stopwatch) -> Iterator[tuple[Laboratory, Victim]]:
    """A fresh laboratory with a victim beside it; the table goes again, since moto copies all it has."""
    apart = Laboratory(lab.engine, dynamodb=lab.dynamodb, sqs=lab.sqs)
    with victim_of(apart, stopwatch) as victim:
        yield apart, victim
    lab.dynamodb.delete_table(TableName=apart.table)


def calls_of(scene: Scene, lab: Laboratory, victim: Victim) -> list[str]:
    """The calls that *scene* makes when nothing goes wrong."""
    known = scene.arrange(lab)
    starts_anew(victim)
    scene.run(victim.lab, lab, known)
    made = [*victim.faults.attempts]
    assert made
    return made


def cuts_of(calls: list[str], turn: int = 0) -> Iterator[Cut]:
    """Where and how to cut a run of *calls*: each in all ways, in the shorter form each third in one, by its *turn*.

    Whatever changes something is also the last that its process does: before it is sent, and after it was done. To die
    before another is to have died after the one that went before; reads leave nothing behind.
    """
    for nth, call in enumerate(calls, start=1):
        for place, way in enumerate(WAYS):
            of_all, left_out = divmod(turn + nth, 3)
            is_its_turn = EVERYTHING or (not left_out and place == of_all % len(WAYS))
            changes = call not in READS
            if way.is_death:
                if changes or (nth == 1 and not way.sent):
                    yield nth, way
            elif is_its_turn:
                yield nth, way


def cut(scene: Scene, victim: Victim, lab: Laboratory, at: Cut, *, heal: Heal) -> None:
    """Run *scene*, cut as *at* says, let everything heal, and look at what is left and at what was told."""
    nth, way = at
    known = scene.arrange(lab)
    there = said(items_of(lab, known), "IN#")
    starts_anew(victim)
    way.cut(victim.faults, nth)
    told = outcome(scene, victim, lab, known)
    victim.faults.clear()
    assert (told is None) == way.is_death
    tried(Tried.CUTS)
    assert_told_the_truth(scene, told, lab, known, there)
    if scene.has_key:
        scene.run(lab, lab, known)
    made = new_ids(lab, known)
    assert len(made) == 1 if scene.name == "create with key" else len(made) <= 1

    for task_id in [*made, known]:
        heal(lab, task_id)
        ended = sweep_until_quiet(lab, task_id, most=SWEEPS)
        items = assert_sound(lab, task_id)
        inputs, outputs = said(items, "IN#"), said(items, "MSG#")
        assert_told(lab, task_id, inputs)
        assert set(inputs.values()) | set(outputs.values()) <= {1}
        assert ended.pending == 0 or ended.is_terminal
        assert task_id != known or inputs >= there
        assert scene.name != "input with key" or task_id != known or inputs["second"] == 1
        if ended.is_terminal:
            assert_ended_for_good(lab, task_id)


def outcome(scene: Scene, victim: Victim, lab: Laboratory, known: str) -> object:
    """What its actor was told: an answer, or a refusal in our words; None when it is gone."""
    try:
        return scene.act(victim.lab, lab, known) or "done"
    except TaskError as refusal:
        return refusal
    except Killed:
        return None


def assert_told_the_truth(
    scene: Scene, told: object, lab: Laboratory, known: str, there: Counter[str]
) -> None:
    """What was accepted is there, and of what is said not to be stored there is nothing."""
    made = new_ids(lab, known)
    inputs = said(items_of(lab, made[0] if made else known), "IN#")
    if isinstance(told, Accepted) and told.received_at is not None:
        assert inputs["first" if scene.makes_a_task else "second"] == 1
    if isinstance(told, StoreIsBusy | StoreIsUnavailable) and not isinstance(told, CommitUnknown):
        assert not (scene.makes_a_task and made)
        assert not scene.name.startswith("input") or inputs == there


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("scene", "heal"),
    [(scene, by_sweeps) for scene in WORK]
    + [(scene, by_the_queue) for scene in some([one for one in WORK if one.takes_a_turn], each=3)],
    ids=lambda value: str(value) if isinstance(value, Scene) else value.__name__,
)
def test_whatever_call_a_run_is_cut_at_its_work_is_done_once(
    scene: Scene, heal: Heal, emulated_lab: Laboratory, stopwatch: Stopwatch, subtests: pytest.Subtests
) -> None:
    with on_a_table_of_its_own(emulated_lab, stopwatch) as (lab, victim):
        calls = calls_of(scene, lab, victim)
    for nth, way in cuts_of(calls, turn=WORK.index(scene) + (heal is by_the_queue)):
        with (
            subtests.test(call=calls[nth - 1], nth=nth, way=way.name),
            on_a_table_of_its_own(emulated_lab, stopwatch) as (lab, victim),
        ):
            cut(scene, victim, lab, (nth, way), heal=heal)
