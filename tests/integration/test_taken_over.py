"""Two workers and one turn: the fence decides, and the one that was taken over writes nothing more."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.agents import Of
from tests.support.laboratory import Laboratory, outputs, texts
from turnkeeper.agents.protocol import Say, Step, TurnView
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.task import Phase, Reason
from turnkeeper.service.change import apply
from turnkeeper.service.turns import ComeBackLater, attend


def quick(turn: TurnView) -> Generator[Step, None, Say | None]:
    yield Say("b from the second")
    return Say(f"c from attempt {turn.attempt}")


def test_a_worker_that_was_taken_over_in_the_middle_says_no_more(lab: Laboratory) -> None:
    went_on: list[str] = []

    def slow(turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say("a")
        lab.clock.forward(seconds=60)
        attend(lab.runtime, turn.task_id, hide=lambda _: None, agent_of=lambda _: Of(quick))
        went_on.append("so far")
        yield Say("too late")
        went_on.append("too far")
        return Say("far too late")

    task_id = lab.create("hi").task.id
    attend(lab.runtime, task_id, hide=lambda _: None, agent_of=lambda _: Of(slow))

    assert went_on == ["so far"]
    assert outputs(lab, task_id) == ["a", "c from attempt 2"]
    assert (lab.stored(task_id).phase, lab.stored(task_id).fence) == (Phase.IDLE, 2)


def test_a_worker_whose_lease_ran_out_may_finish_until_somebody_takes_over(lab: Laboratory) -> None:
    def slow(_: TurnView) -> Generator[Step, None, Say | None]:
        lab.clock.forward(seconds=60)
        assert lab.sweep().changed == 1
        yield Say("a")
        return Say("b")

    task_id = lab.create("hi").task.id
    attend(lab.runtime, task_id, hide=lambda _: None, agent_of=lambda _: Of(slow))
    lab.work()

    assert outputs(lab, task_id) == ["a", "b"]
    assert (lab.stored(task_id).phase, lab.stored(task_id).fence) == (Phase.IDLE, 1)


@pytest.mark.clause("TS-5c")
def test_a_worker_whose_task_ended_meanwhile_stops_without_a_word(lab: Laboratory) -> None:
    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say("a")
        apply(
            lab.runtime,
            lab.stored(turn.task_id),
            lambda task, now: transitions.complete(
                task, outcome=Code.CANCELLED, now=now, pace=lab.runtime.pace
            ),
            actor="host",
        )
        ended.append(lab.everything())
        return Say("too late")

    ended: list[object] = []
    task_id = lab.create("hi").task.id
    attend(lab.runtime, task_id, hide=lambda _: None, agent_of=lambda _: Of(run))

    assert lab.everything() == ended[0]
    assert lab.stored(task_id).terminal_reason is Reason.COMPLETED


def test_a_worker_that_was_interrupted_says_no_more_and_what_waited_gets_its_turn(lab: Laboratory) -> None:
    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.number == 1:
            lab.send(turn.task_id, "two")
            apply(
                lab.runtime,
                lab.stored(turn.task_id),
                lambda task, now: transitions.interrupt(task, now=now, pace=lab.runtime.pace),
                actor="host",
            )
        yield Say(f"turn {turn.number}")
        return None

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("one").task.id
    lab.work()

    assert list(texts(lab.conversation(task_id))) == [
        ("input", "one"),
        ("input", "two"),
        ("output", "turn 2"),
    ]


def test_of_workers_that_come_at_once_one_takes_the_turn(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    runtimes = [lab.another_process() for _ in range(6)]

    def come(place: int) -> None:
        try:
            attend(runtimes[place], task_id, hide=lambda _: None, agent_of=lambda _: Of(quick))
        except ComeBackLater:
            pytest.fail("nothing failed")

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(come, range(6)))

    task = lab.stored(task_id)
    assert (task.turns, task.fence, task.outputs, task.phase) == (1, 1, 2, Phase.IDLE)
    assert len(outputs(lab, task_id)) == 2
