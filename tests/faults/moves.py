"""Tasks in every state of the table, and each transition as a move that may be made there: for races of any two."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.faults.agents import BRIEFLY, HOST, Talker, enlist
from tests.support.laboratory import BOB, PACE, Laboratory, said
from tests.support.specimens import AT_HOST, birth, hold_output
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import NothingLeftToRun
from turnkeeper.domain.needs import Need
from turnkeeper.domain.reviews import Decision, fence_of, name_of
from turnkeeper.domain.rules import State, Transition
from turnkeeper.domain.task import Task, Usage
from turnkeeper.domain.transitions import Answer, Change
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service import host_turns
from turnkeeper.service.change import Decide
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.reviews import decide

ASKS = {
    "before": [{"condition": "input.message[0].text == 'ask'", "assert": f"review('{BOB}')"}],
    "after": [{"condition": "output.message[0].text == 'ask'", "assert": f"review('{BOB}')"}],
}
ITS_OWN = Need(id="host", kind=WaitKind.HOST, within=BRIEFLY)

type Arrange = Callable[[Laboratory, bool], str]
"""Makes a task; where it is told so, one with an input that is held for a review."""


def _asked(task_id: str) -> Asked:
    return Asked(principal=HOST, task_id=task_id, body="{}", key=None)


def _agent(lab: Laboratory, **terms: Any) -> str:
    return enlist(lab, "agent", Talker, runs="external", guardrails=ASKS, **terms)


def _idle(lab: Laboratory, _held: bool) -> str:  # noqa: FBT001 - as every arrangement
    return lab.create(agent=_agent(lab)).task.id


def _past_its_end(lab: Laboratory, _held: bool) -> str:  # noqa: FBT001
    task_id = lab.create(agent=_agent(lab, lifespan="5s")).task.id
    lab.clock.forward(seconds=5)
    return task_id


def _waiting(lab: Laboratory, _held: bool, **terms: Any) -> str:  # noqa: FBT001
    task_id = lab.create("ask", agent=_agent(lab, **terms)).task.id
    with suppress(NothingLeftToRun):
        host_turns.start(lab.runtime, _asked(task_id))
    return task_id


def _queued(lab: Laboratory, held: bool, **terms: Any) -> str:  # noqa: FBT001
    if not held:
        return lab.create("first", agent=_agent(lab, **terms)).task.id
    task_id = _waiting(lab, held, **terms)
    lab.send(task_id, "first")
    return task_id


def _running(lab: Laboratory, held: bool, **terms: Any) -> str:  # noqa: FBT001
    task_id = _queued(lab, held, **terms)
    host_turns.start(lab.runtime, _asked(task_id))
    return task_id


def _lapsed(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held)
    lab.clock.forward(seconds=61)
    return task_id


def _between_attempts(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held)
    host_turns.fail(lab.runtime, _asked(task_id), fence=lab.stored(task_id).fence)
    lab.clock.forward(seconds=3)
    return task_id


def _suspended(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held)
    fence = lab.stored(task_id).fence
    host_turns.wait(lab.runtime, _asked(task_id), fence=fence, needs=[ITS_OWN], memo='"memo"')
    return task_id


def _to_reconcile(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held, repeatable=False)
    lab.clock.forward(seconds=61)
    lab.sweep()
    return task_id


def _runnable(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _suspended(lab, held)
    host_turns.resolve(
        lab.runtime,
        _asked(task_id),
        fence=lab.stored(task_id).fence,
        wait_id="host",
        verdict=Verdict.DONE,
    )
    return task_id


def _approved(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held)
    fence = lab.stored(task_id).fence
    host_turns.output(lab.runtime, _asked(task_id), fence=fence, ordinal=1, content=said("ask"))
    task = lab.stored(task_id)
    (wait,) = task.waits
    review_id = task_id + name_of(fence_of(task, wait), wait.id)
    decide(lab.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment=None)
    return task_id


def _ended(lab: Laboratory, held: bool) -> str:  # noqa: FBT001
    task_id = _running(lab, held)
    host_turns.complete(lab.runtime, _asked(task_id), outcome=Code.SUCCESS, discard_pending=True)
    return task_id


ARRANGED: dict[State, tuple[Arrange, ...]] = {
    State.IDLE: (_idle, _past_its_end),
    State.QUEUED: (_queued,),
    State.RUNNING: (_running, _lapsed),
    State.BETWEEN_ATTEMPTS: (_between_attempts,),
    State.SUSPENDED: (_suspended, _to_reconcile),
    State.RUNNABLE: (_runnable, _approved),
    State.WAITING: (_waiting,),
    State.TERMINAL: (_ended,),
}


def moves(task: Task, who: str) -> dict[Transition, Decide]:
    """Each transition as *who* (a letter of a hexadecimal number) would make it who saw *task* as it is now."""
    fence = task.turn.fence if task.turn else 0
    ordinal = task.turn.outputs + 1 if task.turn else 1
    waits = {wait.id: Verdict.DONE for wait in task.waits} or {"none": Verdict.DONE}
    held = next((one.wait for one in task.held if one.wait), None)

    def on_a_held_input(current: Task, now: datetime) -> Change:
        review = name_of(fence_of(task, held), held.id) if held else ""
        decision = Decision(review=review, verdict=Verdict.DONE, comment=None, at=now)
        wait_id = held.id if held else "none"
        return transitions.decide(
            current, wait_id=wait_id, verdict=Verdict.DONE, decision=decision, now=now, pace=PACE
        )

    def wait_for_its_host(current: Task, now: datetime) -> Change:
        waits = [replace(AT_HOST, since=now, deadline=now + BRIEFLY)]
        return transitions.suspend(current, fence=fence, waits=waits, memo='"memo"', now=now, pace=PACE)

    def have_it_reviewed(current: Task, now: datetime) -> Change:
        return hold_output(current, now=now)

    def plain(move: Callable[..., Change], **more: Any) -> Decide:
        return lambda current, now: move(current, now=now, pace=PACE, **more)

    def with_child(current: Task, now: datetime) -> Change:
        return transitions.delegate(
            current,
            fence=fence,
            call=who,
            body="{}",
            birth=replace(birth(), id=who * 32),
            content=None,
            now=now,
            pace=PACE,
        )

    return {
        Transition.ACCEPT: plain(transitions.accept, content=said("more")),
        Transition.START_TURN: plain(transitions.start_turn),
        Transition.START_ATTEMPT: plain(transitions.start_attempt),
        Transition.HEARTBEAT: plain(transitions.heartbeat, fence=fence),
        Transition.EMIT: plain(transitions.emit, fence=fence, ordinal=ordinal, content=said("one")),
        Transition.FINISH: plain(transitions.finish, fence=fence, output=said("last")),
        Transition.FAIL_ATTEMPT: plain(transitions.fail_attempt, fence=fence),
        Transition.LOSE_TURN: plain(transitions.lose_turn),
        Transition.REPORT: plain(transitions.report, fence=fence, usage=Usage(tool_calls=1)),
        Transition.SUSPEND: wait_for_its_host,
        Transition.RESOLVE: plain(transitions.resolve, verdicts=waits),
        Transition.ANSWER: plain(transitions.answer, fence=fence, wait_id="host", verdict=Verdict.DONE),
        Transition.DECIDE: on_a_held_input,
        Transition.HOLD_OUTPUT: have_it_reviewed,
        Transition.RELEASE_OUTPUT: plain(transitions.release_output, content=said("released")),
        Transition.DELEGATE: with_child,
        Transition.ATTACH: lambda current, _now: transitions.attach(
            current, fence=fence, report="{}", unreached=0
        ),
        Transition.RECONCILE: plain(transitions.reconcile, answer=Answer.REPEAT),
        Transition.INTERRUPT: plain(transitions.interrupt),
        Transition.COMPLETE: plain(transitions.complete, outcome=Code.SUCCESS, discard_pending=True),
        Transition.ERROR: plain(transitions.error, outcome=Code.FATAL_ERROR),
        Transition.RESTRICT: plain(transitions.restrict),
        Transition.EXPIRE: plain(transitions.expire),
        Transition.LOOK: plain(transitions.look),
    }
