"""Many on one task at the same moment: everybody is answered, nothing is lost, nothing happens twice."""

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import pytest

from tests.faults.agents import Talker, enlist
from tests.faults.crowd import Skewed, at_once, process
from tests.faults.healing import deliver, sweep_until_quiet
from tests.faults.scene import wake_ups
from tests.faults.scenes import forgotten, running
from tests.faults.soundness import assert_sound
from tests.faults.victims import Victim
from tests.support.faults import WRITE
from tests.support.laboratory import ALICE, PACE, Laboratory, texts
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import InputsArePending, TaskIsTerminal
from turnkeeper.domain.standing import Standing
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.change import apply
from turnkeeper.service.inputs import accept


def test_32_inputs_at_once_are_all_accepted_each_once(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    crowd = [process(lab) for _ in range(8)]
    said = [f"input {n}" for n in range(32)]

    answers = at_once(partial(crowd[n % 8].send, task_id, text) for n, text in enumerate(said))

    assert len({answer.received_at for answer in answers}) == 32
    assert_sound(lab, task_id, accepted=said)
    lab.work()
    assert_sound(lab, task_id, accepted=said)
    assert lab.stored(task_id).turns == 1


@pytest.mark.parametrize(("count", "size"), [(200, 10), (20, 250_000)], ids=["200 small", "20 of 250 KB"])
def test_one_turn_commits_all_that_waits(
    emulated_lab: Laboratory, victim: Victim, count: int, size: int
) -> None:
    task_id = emulated_lab.create(agent=enlist(emulated_lab, "short", lambda: Talker(1))).task.id
    part = {"mimeType": "text/plain", "text": "x" * size}
    for _ in range(count):
        accept(
            emulated_lab.runtime,
            caller=ALICE,
            task_id=task_id,
            content=json.dumps({"message": [part]}),
            key=None,
        )
    victim.faults.clear()

    assert deliver(victim.lab, task_id)

    task = emulated_lab.stored(task_id)
    assert (task.phase, task.turns, task.committed, task.pending) == (Phase.IDLE, 1, count, 0)
    assert victim.faults.attempts.count(WRITE) == 2
    assert_sound(emulated_lab, task_id, accepted=[str(part["text"])] * count)


def test_create_with_one_key_from_8_processes_makes_one_task(lab: Laboratory) -> None:
    crowd = [process(lab) for _ in range(8)]

    answers = at_once(partial(other.create, "first", key="key") for other in crowd)

    made = {answer.task.id for answer in answers}
    assert len(made) == 1
    assert {answer.received_at for answer in answers} == {lab.clock.now}
    assert len([key for key in lab.everything() if key[1] == "TASK"]) == 1
    assert_sound(lab, made.pop(), accepted=["first"])


def test_one_input_with_one_key_from_8_processes_is_accepted_once(lab: Laboratory) -> None:
    task_id = lab.create().task.id
    crowd = [process(lab) for _ in range(8)]

    answers = at_once(partial(other.send, task_id, "once", key="key") for other in crowd)

    assert {answer.received_at for answer in answers} == {lab.clock.now}
    assert_sound(lab, task_id, accepted=["once"])


def test_8_readers_past_the_end_write_it_once_and_see_the_same(lab: Laboratory) -> None:
    task = lab.create(agent="mayfly").task
    announced = lab.stored(task.id).expiry_revision
    lab.clock.forward(seconds=5)
    crowd = [process(lab) for _ in range(8)]

    answers = at_once(partial(other.poll, task.id) for other in crowd)

    assert {answer.revision for answer in answers} == {announced}
    assert [entry["transition"] for entry in lab.journal(task.id)] == ["create", "expire"]
    assert_sound(lab, task.id)


def test_four_workers_that_one_wake_up_brings_take_one_turn(lab: Laboratory) -> None:
    task_id = lab.create("first", agent=enlist(lab, "agent", Talker)).task.id
    crowd = [process(lab) for _ in range(4)]

    at_once(partial(deliver, other, task_id) for other in crowd)

    assert lab.stored(task_id).fence == 1
    assert list(texts(lab.conversation(task_id))) == [
        ("input", "first"),
        ("output", "turn 1 says 1"),
        ("output", "turn 1 says 2"),
    ]
    assert_sound(lab, task_id, accepted=["first"])


@pytest.mark.parametrize("arrange", [forgotten, running], ids=["lost wake-up", "lost turn"])
def test_four_sweeps_at_once_do_it_once(lab: Laboratory, arrange: Callable[[Laboratory], str]) -> None:
    task_id = arrange(lab)
    lab.clock.now = lab.stored(task_id).due_at
    before, waiting = len(lab.journal(task_id)), wake_ups(lab)
    crowd = [process(lab) for _ in range(4)]

    swept = at_once(other.sweep for other in crowd)

    assert sum(one.changed for one in swept) == 1
    assert wake_ups(lab) == waiting + 1
    assert len(lab.journal(task_id)) == before + (arrange is running)
    assert sweep_until_quiet(lab, task_id, most=2).phase is Phase.IDLE
    assert_sound(lab, task_id, accepted=["first"])


def complete(lab: Laboratory, task_id: str) -> Change:
    def decide(task: Task, now: datetime) -> Change:
        return transitions.complete(task, outcome=Code.SUCCESS, now=now, pace=PACE)

    return apply(lab.runtime, lab.stored(task_id), decide, actor="host")


def interrupt(lab: Laboratory, task_id: str) -> Change:
    def decide(task: Task, now: datetime) -> Change:
        return transitions.interrupt(task, now=now, pace=PACE)

    return apply(lab.runtime, lab.stored(task_id), decide, actor="host")


def poll(lab: Laboratory, task_id: str) -> Standing:
    return lab.poll(task_id)


@pytest.mark.parametrize("rounds", [5])
@pytest.mark.parametrize("other", [deliver, complete, interrupt, poll], ids=lambda other: other.__name__)
def test_an_input_is_accepted_and_kept_or_refused_and_not_stored_whatever_happens_at_once(
    lab: Laboratory, other: Callable[[Laboratory, str], object], rounds: int
) -> None:
    crowd = [process(lab) for _ in range(4)]
    for _ in range(rounds):
        if other is poll:
            task_id = lab.create(agent="mayfly").task.id
            lab.clock.forward(seconds=5)
        else:
            task_id = running(lab) if other is interrupt else lab.create().task.id
        there = [text for kind, text in texts(lab.conversation(task_id)) if kind == "input"]

        sends = [partial(crowd[n].send, task_id, f"input {n}") for n in range(3)]
        answers = at_once([partial(other, crowd[3], task_id), *sends])

        kept = [f"input {n}" for n in range(3) if isinstance(answers[n + 1], Accepted)]
        assert all(isinstance(answer, Accepted | TaskIsTerminal) for answer in answers[1:])
        assert not isinstance(answers[0], InputsArePending) or kept
        assert_sound(lab, task_id, accepted=there + kept)
        ended = sweep_until_quiet(lab, task_id, most=4)
        assert ended.is_terminal or ended.pending == 0
        assert_sound(lab, task_id, accepted=there + kept)


def test_clocks_that_disagree_by_seconds_still_order_everything(lab: Laboratory) -> None:
    began = time.monotonic()
    task_id = lab.create("first", agent=enlist(lab, "agent", Talker)).task.id
    crowd = [process(lab, clock=Skewed(timedelta(seconds=n - 2), began)) for n in range(5)]

    def live(other: Laboratory, n: int) -> None:
        for round_ in range(4):
            other.send(task_id, f"{n} says {round_}")
            deliver(other, task_id)

    at_once(partial(live, other, n) for n, other in enumerate(crowd))

    lab.clock.forward(seconds=60)
    sweep_until_quiet(lab, task_id, most=4)
    assert_sound(lab, task_id, accepted=["first", *(f"{n} says {r}" for n in range(5) for r in range(4))])
