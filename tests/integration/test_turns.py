"""Turns: what an agent gets, what it gives, and what becomes of one that fails."""

from collections.abc import Generator
from datetime import timedelta
from typing import Any

import pytest

from tests.support.agents import Of, Run
from tests.support.laboratory import PACE, Laboratory, outputs, texts
from turnkeeper.agents.protocol import Agent, Need, Pause, Say, Step, TurnView
from turnkeeper.asc.registry import Code
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase, Reason
from turnkeeper.domain.waits import WaitKind
from turnkeeper.service.hold import AFTER_LEASE
from turnkeeper.service.turns import ComeBackLater, attend

SURROGATE = "\ud800"


def wake(lab: Laboratory, task_id: str, agent: Agent) -> list[timedelta]:
    """Attend to the task as a worker with its message; how long it hid that, time after time."""
    hidden: list[timedelta] = []
    try:
        attend(lab.runtime, task_id, hide=hidden.append, agent_of=lambda _: agent)
    except ComeBackLater:
        return hidden
    return [*hidden, timedelta(0)]


def test_an_agent_gets_its_turn_and_the_whole_committed_conversation(lab: Laboratory) -> None:
    seen: list[Any] = []

    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        lab.send(turn.task_id, "arrived during the turn")
        seen.append((turn.number, turn.attempt, turn.memo, turn.resolutions))
        seen.append([part["text"] for one in turn.inputs for part in one["message"]])
        yield Say("first")
        seen.append(list(texts(turn.conversation())))
        return Say(f"answer {turn.number}")

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("one").task.id
    lab.send(task_id, "two")
    received = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]
    lab.attend(received)

    assert seen == [
        (1, 1, None, ()),
        ["one", "two"],
        [("input", "one"), ("input", "two")],
    ]
    assert list(texts(lab.conversation(task_id))) == [
        ("input", "one"),
        ("input", "two"),
        ("output", "first"),
        ("output", "answer 1"),
        ("input", "arrived during the turn"),
    ]


@pytest.mark.clause("IN-1c", "IO-5")
def test_input_during_a_turn_gets_a_turn_of_its_own(lab: Laboratory) -> None:
    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.number == 1:
            lab.send(turn.task_id, "more")
        yield from ()
        return Say(f"answer {turn.number} to {len(turn.inputs)}")

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("one").task.id
    lab.work()

    assert outputs(lab, task_id) == ["answer 1 to 1", "answer 2 to 1"]
    assert lab.stored(task_id).phase is Phase.IDLE


def test_an_agent_may_say_nothing(lab: Laboratory) -> None:
    def run(_: TurnView) -> Generator[Step, None, Say | None]:
        yield from ()
        return None

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("one").task.id
    lab.work()

    assert outputs(lab, task_id) == []
    assert lab.stored(task_id).phase is Phase.IDLE


def test_an_agent_that_raises_is_tried_again_after_2_and_8_seconds_and_then_the_task_is_errored(
    lab: Laboratory,
) -> None:
    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say("on the way")
        raise RuntimeError(f"attempt {turn.attempt} failed")

    task_id = lab.create("hi").task.id
    hides = []
    for _ in range(2):
        hides.append(wake(lab, task_id, Of(run)))
        assert state_of(lab.stored(task_id)) is State.BETWEEN_ATTEMPTS
        lab.clock.now += hides[-1][-1]
    hides.append(wake(lab, task_id, Of(run)))

    hidden_while_it_ran = PACE.lease + AFTER_LEASE
    assert hides == [
        [hidden_while_it_ran, timedelta(seconds=2)],
        [hidden_while_it_ran, timedelta(seconds=8)],
        [hidden_while_it_ran, timedelta(0)],
    ]
    ended = lab.stored(task_id)
    assert (ended.terminal_reason, ended.outcome) == (Reason.ERRORED, Code.FATAL_ERROR)
    assert outputs(lab, task_id) == ["on the way"]
    assert [entry["attempt"] for entry in lab.journal(task_id) if "attempt" in entry][-1] == 3


def test_a_wake_up_that_comes_before_the_back_off_is_over_waits_for_it(lab: Laboratory) -> None:
    def run(_: TurnView) -> Generator[Step, None, Say | None]:
        yield from ()
        raise RuntimeError

    task_id = lab.create("hi").task.id
    wake(lab, task_id, Of(run))
    before = lab.everything()
    lab.clock.forward(seconds=0.5)

    hidden: list[timedelta] = []
    with pytest.raises(ComeBackLater):
        attend(lab.runtime, task_id, hide=hidden.append, agent_of=lambda _: Of(run))

    assert timedelta(seconds=1.5) <= hidden[-1] <= timedelta(seconds=3)
    assert lab.everything() == before


def test_a_repeated_attempt_doubles_no_output_and_says_what_is_left(lab: Laboratory) -> None:
    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say("a")
        yield Say("b")
        if turn.attempt == 1:
            raise RuntimeError
        yield Say("c")
        return Say("d")

    task_id = lab.create("hi").task.id
    wake(lab, task_id, Of(run))
    assert outputs(lab, task_id) == ["a", "b"]
    lab.clock.forward(seconds=2)
    wake(lab, task_id, Of(run))

    assert outputs(lab, task_id) == ["a", "b", "c", "d"]
    assert (lab.stored(task_id).outputs, lab.stored(task_id).turns) == (4, 1)


def test_a_repeated_attempt_commits_nothing_new(lab: Laboratory) -> None:
    seen: list[int] = []

    def run(turn: TurnView) -> Generator[Step, None, Say | None]:
        seen.append(len(turn.inputs))
        lab.send(turn.task_id, "more")
        yield from ()
        raise RuntimeError

    task_id = lab.create("hi").task.id
    for _ in range(2):
        wake(lab, task_id, Of(run))
        lab.clock.forward(seconds=8)

    assert seen == [1, 1]
    assert lab.stored(task_id).pending == 2


def test_a_failed_attempt_hides_its_message_and_leaves_it_in_the_queue(lab: Laboratory) -> None:
    def run(_: TurnView) -> Generator[Step, None, Say | None]:
        yield from ()
        raise RuntimeError

    lab.agents["echo"] = lambda: Of(run)
    task_id = lab.create("hi").task.id
    message = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]

    assert not lab.attend(message)
    assert lab.work() == 0
    counts = lab.sqs.get_queue_attributes(QueueUrl=lab.queue_url, AttributeNames=["All"])["Attributes"]
    assert counts["ApproximateNumberOfMessagesNotVisible"] == "1"
    assert state_of(lab.stored(task_id)) is State.BETWEEN_ATTEMPTS


def nothing(_: TurnView) -> Any:
    return None


def a_list(_: TurnView) -> Any:
    return [Say("a")]


def raises_at_once(_: TurnView) -> Any:
    raise RuntimeError("not even a generator")


def yields_text(_: TurnView) -> Any:
    yield "text"


def returns_text(_: TurnView) -> Any:
    yield from ()
    return "text"


def returns_a_surrogate(_: TurnView) -> Any:
    yield from ()
    return Say(SURROGATE)


def says_too_much(_: TurnView) -> Any:
    yield Say("x" * 100_001)


def pauses_for_nothing(_: TurnView) -> Any:
    yield Pause(())


def notes_no_json(_: TurnView) -> Any:
    yield Pause((Need(id="c", kind=WaitKind.HOST),), memo=object())


def returns_a_pause_for_ever(_: TurnView) -> Any:
    yield from ()
    return Pause((Need(id="c", kind=WaitKind.HOST, within=timedelta.max),))


MISBEHAVING = [
    nothing,
    a_list,
    raises_at_once,
    yields_text,
    returns_text,
    returns_a_surrogate,
    says_too_much,
    pauses_for_nothing,
    notes_no_json,
    returns_a_pause_for_ever,
]


@pytest.mark.parametrize("run", MISBEHAVING, ids=lambda run: run.__name__)
def test_an_agent_that_misbehaves_fails_its_attempt_and_nothing_of_it_is_stored(
    lab: Laboratory, run: Run
) -> None:
    task_id = lab.create("hi").task.id

    assert wake(lab, task_id, Of(run))[-1] == timedelta(seconds=2)
    assert state_of(lab.stored(task_id)) is State.BETWEEN_ATTEMPTS
    for seconds in (2, 8):
        lab.clock.forward(seconds=seconds)
        wake(lab, task_id, Of(run))

    assert lab.stored(task_id).terminal_reason is Reason.ERRORED
    assert outputs(lab, task_id) == []
    assert not [key for key in lab.everything() if key[1].startswith("MEMO#")]


def test_an_agent_that_does_not_end_quietly_has_ended_all_the_same(lab: Laboratory) -> None:
    def run(_: TurnView) -> Generator[Step, None, Say | None]:
        try:
            yield Pause((Need(id="c", kind=WaitKind.HOST),))
        finally:
            raise RuntimeError("not quiet")

    task_id = lab.create("hi").task.id

    assert wake(lab, task_id, Of(run))[-1] == timedelta(0)
    assert state_of(lab.stored(task_id)) is State.SUSPENDED


def test_a_task_whose_agent_nobody_runs_is_errored_after_its_attempts(lab: Laboratory) -> None:
    nobody: dict[str, Agent] = {}
    task_id = lab.create("hi").task.id
    for seconds in (2, 8):
        with pytest.raises(ComeBackLater):
            attend(lab.runtime, task_id, hide=lambda _: None, agent_of=lambda task: nobody[task.agent])
        lab.clock.forward(seconds=seconds)
    attend(lab.runtime, task_id, hide=lambda _: None, agent_of=lambda task: nobody[task.agent])

    ended = lab.stored(task_id)
    assert (ended.terminal_reason, ended.outcome) == (Reason.ERRORED, Code.FATAL_ERROR)
    assert (ended.fence, ended.turns) == (3, 1)


def test_a_wake_up_for_a_task_that_does_not_exist_is_dropped(lab: Laboratory) -> None:
    before = lab.everything()

    attend(lab.runtime, "0" * 32, hide=lambda _: None, agent_of=lambda task: lab.agents[task.agent]())

    assert lab.everything() == before
