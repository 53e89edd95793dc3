"""A process is cut at each call it makes: before it is sent, or after it committed. What is left heals by itself.

The calls are recorded from a run that goes well, so a call that is added later is cut as well.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.faults.healing import assert_ended_for_good, deliver, sweep_until_quiet
from tests.faults.scenes import SCENES, Scene
from tests.faults.soundness import assert_sound, items_of, said
from tests.faults.victims import Victim, victim_of
from tests.support.faults import READS, Killed, Stopwatch
from tests.support.laboratory import Laboratory

SWEEPS = 5
# Every kind of work once: other scenes are about other writes of the same work.
WORK = tuple(scene for scene in SCENES if scene.name not in {"start turn", "emit"})

type Heal = Callable[[Laboratory, str], object]


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


def cuts_of(scene: Scene, lab: Laboratory, victim: Victim) -> list[tuple[str, int, bool]]:
    """Where to cut *scene*: before its first call, and before and after each that changes something.

    To die before a call is to have died after the one that went before; reads leave nothing behind.
    """
    known = scene.arrange(lab)
    victim.faults.clear()
    scene.run(victim.lab, lab, known)
    made = victim.faults.attempts
    assert made
    changing = Counter(call for call in made if call not in READS)
    cuts = [
        (call, nth, sent)
        for call in changing
        for nth in range(1, changing[call] + 1)
        for sent in (False, True)
    ]
    return [(made[0], 1, False), *cuts]


def cut(scene: Scene, victim: Victim, lab: Laboratory, *, at: tuple[str, int, bool], heal: Heal) -> None:
    """Run *scene* until its process dies at its call *at*, let everything heal, and look."""
    known = scene.arrange(lab)
    there = said(items_of(lab, known), "IN#")
    victim.faults.clear()
    victim.faults.die_at(at[0], at[1], sent=at[2])
    with pytest.raises(Killed):
        scene.run(victim.lab, lab, known)
    if scene.name.endswith("with key"):
        scene.run(lab, lab, known)
    made = new_ids(lab, known)
    assert len(made) == 1 if scene.name == "create with key" else len(made) <= 1

    for task_id in made or [known]:
        heal(lab, task_id)
        ended = sweep_until_quiet(lab, task_id, most=SWEEPS)
        items = assert_sound(lab, task_id)
        inputs, outputs = said(items, "IN#"), said(items, "MSG#")
        assert set(inputs.values()) | set(outputs.values()) <= {1}
        assert ended.pending == 0 or ended.is_terminal
        assert made or inputs >= there
        assert scene.name != "input with key" or inputs["second"] == 1
        if ended.is_terminal:
            assert_ended_for_good(lab, task_id)


@pytest.mark.parametrize(
    ("scene", "heal"),
    [(scene, by_sweeps) for scene in WORK] + [(scene, by_the_queue) for scene in WORK if scene.takes_a_turn],
    ids=lambda value: str(value) if isinstance(value, Scene) else value.__name__,
)
def test_whatever_call_a_process_dies_at_its_work_is_done_once(
    scene: Scene, heal: Heal, emulated_lab: Laboratory, stopwatch: Stopwatch, subtests: pytest.Subtests
) -> None:
    with on_a_table_of_its_own(emulated_lab, stopwatch) as (lab, victim):
        cuts = cuts_of(scene, lab, victim)
    for at in cuts:
        with subtests.test(at=at), on_a_table_of_its_own(emulated_lab, stopwatch) as (lab, victim):
            cut(scene, victim, lab, at=at, heal=heal)
