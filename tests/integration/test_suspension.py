"""A turn that waits is suspended with a memo, and goes on once when nothing is left to wait for."""

from collections.abc import Generator
from datetime import timedelta
from typing import Any

import pytest

from tests.support.agents import Of
from tests.support.laboratory import ALICE, Laboratory, outputs, texts
from turnkeeper.agents.protocol import Need, Pause, Say, Step, TurnView
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import TurnNotRunnable, WaitNotFound
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Phase, Task
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service.change import apply

AT_HOST = Need(id="host", kind=WaitKind.HOST, within=timedelta(days=2))
SIGN_IN = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider="github", within=timedelta(days=1))
REVIEW = Need(id="review", kind=WaitKind.REVIEW, reviewer=ALICE, subject="Buy it?")
MEMO = {"step": 2, "é": [1.5, None, True]}


def resolve(lab: Laboratory, task_id: str, wait_id: str, verdict: Verdict = Verdict.DONE) -> Task:
    return apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.resolve(
            task, verdicts={wait_id: verdict}, now=now, pace=lab.runtime.pace
        ),
        actor="test",
    ).after


def pausing(lab: Laboratory, *needs: Need, seen: list[TurnView] | None = None) -> str:
    """A task whose turn said "before" and waits; when it goes on it says "after" and "last"."""

    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        if seen is not None:
            seen.append(turn)
        if turn.memo is None:
            yield Say("before")
            yield Pause(needs, memo=MEMO)
        yield Say("after")
        return Say("last")

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("hi").task.id
    lab.work()
    return task_id


@pytest.mark.clause("TN-1a", "TN-2a", "LC-1")
def test_a_suspended_turn_is_busy_and_tells_its_user_what_only_they_can_do(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST, SIGN_IN, REVIEW)

    status = status_object(lab.poll(task_id))["status"]

    assert state_of(lab.stored(task_id)) is State.SUSPENDED
    assert (status["phase"], status["idle_expires_at"]) == ("processing", None)
    assert [(call["kind"], call.get("provider")) for call in status["notifications"]] == [
        ("review_required", None),
        ("user_auth_required", "github"),
    ]
    assert outputs(lab, task_id) == ["before"]
    assert lab.work() == 0


def test_a_turn_goes_on_with_its_memo_and_resolutions_exactly_once(lab: Laboratory) -> None:
    seen: list[TurnView] = []
    task_id = pausing(lab, AT_HOST, SIGN_IN, seen=seen)
    lab.clock.forward(seconds=5)
    resolve(lab, task_id, "sign-in", Verdict.DENIED)
    assert lab.work() == 0
    resolve(lab, task_id, "host")
    assert lab.work() == 1
    lab.clock.forward(minutes=5)
    lab.sweep()
    assert lab.work() == 0

    first, second = seen
    assert (first.memo, first.resolutions) == (None, ())
    assert (second.memo, second.number, second.attempt) == (MEMO, 1, 1)
    assert [(one.wait_id, one.kind, one.verdict) for one in second.resolutions] == [
        ("sign-in", WaitKind.AUTHORISATION, Verdict.DENIED),
        ("host", WaitKind.HOST, Verdict.DONE),
    ]
    assert second.inputs == first.inputs
    assert outputs(lab, task_id) == ["before", "after", "last"]


def test_outputs_after_a_pause_go_on_counting(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST)
    resolve(lab, task_id, "host")
    lab.work()

    said = [item for key, item in sorted(lab.everything().items()) if item.get("kind") == "output"]

    assert [(item["turn"], item["ordinal"]) for item in said] == [(1, 1), (1, 2), (1, 3)]
    assert lab.stored(task_id).outputs == 3


def test_a_leg_that_fails_is_repeated_with_the_same_memo_and_doubles_nothing(lab: Laboratory) -> None:
    seen: list[tuple[int, Any, int]] = []

    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        seen.append((turn.attempt, turn.memo, len(turn.resolutions)))
        if turn.memo is None:
            yield Say("before")
            yield Pause((AT_HOST,), memo=MEMO)
        yield Say("after")
        if turn.attempt == 1:
            raise RuntimeError
        return Say("last")

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("hi").task.id
    lab.work()
    resolve(lab, task_id, "host")
    lab.work()
    lab.clock.forward(seconds=62)
    lab.sweep()
    lab.work()

    assert seen == [(1, None, 0), (1, MEMO, 1), (2, MEMO, 1)]
    assert outputs(lab, task_id) == ["before", "after", "last"]


def test_a_turn_may_pause_again_and_then_gets_what_came_last(lab: Laboratory) -> None:
    seen: list[tuple[Any, list[str]]] = []

    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        seen.append((turn.memo, [one.wait_id for one in turn.resolutions]))
        if len(seen) < 4:
            yield Pause(
                (Need(id=f"c{len(seen)}", kind=WaitKind.HOST),), memo=len(seen) if len(seen) != 2 else None
            )
        return None

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("hi").task.id
    lab.work()
    for wait in ("c1", "c2", "c3"):
        resolve(lab, task_id, wait)
        lab.work()

    assert seen == [(None, []), (1, ["c1"]), (None, ["c2"]), (3, ["c3"])]
    assert lab.stored(task_id).phase is Phase.IDLE


@pytest.mark.clause("IN-1c")
def test_input_while_a_turn_waits_is_accepted_and_gets_the_next_turn(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST)
    waiting = lab.stored(task_id)

    sent = lab.send(task_id, "are you there?").task
    lab.work()
    assert (sent.waits, sent.turn, sent.due_at) == (waiting.waits, waiting.turn, waiting.due_at)
    assert state_of(lab.stored(task_id)) is State.SUSPENDED

    resolve(lab, task_id, "host")
    lab.work(most=3)

    entries = list(texts(lab.conversation(task_id)))
    assert entries[:5] == [
        ("input", "hi"),
        ("output", "before"),
        ("output", "after"),
        ("output", "last"),
        ("input", "are you there?"),
    ]


def test_each_wait_times_out_at_its_own_deadline(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST, SIGN_IN)
    lab.clock.forward(days=1)
    lab.sweep()
    left = lab.stored(task_id)
    assert [wait.id for wait in left.waits] == ["host"]
    assert status_object(left)["status"]["notifications"] == []

    lab.clock.forward(days=1)
    lab.sweep()
    lab.work()

    assert lab.stored(task_id).phase is Phase.IDLE
    assert outputs(lab, task_id) == ["before", "after", "last"]


def test_two_waits_of_one_deadline_time_out_in_one_sweep(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST, Need(id="other", kind=WaitKind.HOST, within=AT_HOST.within))
    lab.clock.forward(days=2)

    assert lab.sweep().changed == 1
    lab.work()

    assert outputs(lab, task_id) == ["before", "after", "last"]


def test_a_resolution_that_comes_after_the_deadline_changes_nothing(lab: Laboratory) -> None:
    task_id = pausing(lab, AT_HOST)
    lab.clock.forward(days=2)
    lab.sweep()
    before = lab.everything()

    with pytest.raises((WaitNotFound, TurnNotRunnable)):
        resolve(lab, task_id, "host")
    assert lab.everything() == before


def test_a_suspended_turn_can_be_interrupted_and_its_waits_end_with_it(lab: Laboratory) -> None:
    task_id = pausing(lab, SIGN_IN)
    apply(
        lab.runtime,
        lab.stored(task_id),
        lambda task, now: transitions.interrupt(task, now=now, pace=lab.runtime.pace),
        actor="host",
    )

    task = lab.stored(task_id)
    assert (task.phase, task.waits, task.turn) == (Phase.IDLE, (), None)
    assert status_object(task)["status"]["notifications"] == []
    assert outputs(lab, task_id) == ["before"]
