"""What a turn says, past the guardrails after the agent and with what the agent exposes (AG-3, IO-7, IO-8).

One way out for every output, whoever runs the turn: it is said as it is, something is said in its place, it waits for a
review, or the task is locked.
"""

import json
import time
from dataclasses import replace
from datetime import datetime

from turnkeeper.domain import content as contents
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import GuardrailsUnavailable, StoreIsUnavailable
from turnkeeper.domain.files import in_message
from turnkeeper.domain.judging import HeldOutput
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import NOTHING_USED, Runs, Task, Turn, Usage
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.waits import Wait, WaitKind
from turnkeeper.guards import evaluator
from turnkeeper.guards.evaluator import EvaluatorUnavailable
from turnkeeper.guards.guardrails import ERRORS, UNCHECKED, Decisions, Denied, Flow, Locked, NeedsReview
from turnkeeper.guards.rules import Rules
from turnkeeper.guards.scene import Scene, Side
from turnkeeper.service import rules
from turnkeeper.service.change import Decide
from turnkeeper.service.judging import REVIEW_WITHIN, LockedByGuardrail, exposing, seen
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import transcript

PAUSES = (0.2, 1.0)
"""Seconds between tries to start what evaluates the guardrails."""


def emit(runtime: Runtime, *, fence: int, ordinal: int, content: str, usage: Usage = NOTHING_USED) -> Decide:
    """The change that says *content* as the turn's *ordinal*-th output; one that was said before changes nothing."""

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.EMIT, fence=fence)
        ruled, turn = rules.of_task(runtime, current), _turn(current)
        said: str | NeedsReview = content
        if ordinal == turn.outputs + 1:
            try:
                said = _said(runtime, current, ruled, content, now=now)
            except LockedByGuardrail:
                return transitions.restrict(current, now=now, pace=runtime.pace)
        if isinstance(said, NeedsReview):
            if _can_go_on(current):
                return _held(runtime, current, said, content, is_last=False, usage=usage, now=now)
            said = _unchecked(runtime, current, ruled, now)
        return transitions.emit(
            current, fence=fence, ordinal=ordinal, content=said, usage=usage, now=now, pace=runtime.pace
        )

    return decide


def finish(runtime: Runtime, *, fence: int, content: str | None, usage: Usage = NOTHING_USED) -> Decide:
    """The change that ends the turn, with what is said last if anything is."""

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.FINISH, fence=fence)
        output: str | None = None
        if content is not None:
            try:
                said = _said(runtime, current, rules.of_task(runtime, current), content, now=now)
            except LockedByGuardrail:
                return transitions.restrict(current, now=now, pace=runtime.pace)
            if isinstance(said, NeedsReview):
                return _held(runtime, current, said, content, is_last=True, usage=usage, now=now)
            output = said
        return transitions.finish(
            current, fence=fence, output=output, usage=usage, now=now, pace=runtime.pace
        )

    return decide


def release(runtime: Runtime, current: Task, held: HeldOutput, now: datetime) -> Change:
    """The change that says what was held, now that its review is decided; another step may ask for another."""
    stored = transcript.held_output(runtime.table, current.id, held)
    if stored is None:
        raise StoreIsUnavailable
    content, pins = stored
    ruled = rules.of_task(runtime, current)
    decisions = {(step, reviewer): approved for step, reviewer, approved in held.decided}
    try:
        said = _said(runtime, current, ruled, content, now=held.began, decisions=decisions)
    except LockedByGuardrail:
        return transitions.restrict(current, now=now, pace=runtime.pace)
    if isinstance(said, NeedsReview):
        again = HeldOutput(
            ordinal=held.ordinal,
            is_last=held.is_last,
            fence=held.fence,
            began=held.began,
            step=said.step,
            reviewer=said.reviewer,
            decided=held.decided,
        )
        return transitions.hold_on(
            current,
            held=again,
            wait=_wait(again, now),
            subject=_subject(current, said),
            now=now,
            pace=runtime.pace,
        )
    names = {file for _, file in in_message(json.loads(said))}
    change = transitions.release_output(current, content=said, now=now, pace=runtime.pace)
    return replace(change, files=tuple(pin for pin in pins if pin.uri in names))


def unreviewed(runtime: Runtime, current: Task, content: str, now: datetime) -> str:
    """*content* as it may be said where nothing can wait for a review: what asks for one is withheld.

    Raises `LockedByGuardrail`.
    """
    ruled = rules.of_task(runtime, current)
    said = _said(runtime, current, ruled, content, now=now)
    if isinstance(said, NeedsReview):
        return _unchecked(runtime, current, ruled, now)
    return said


def _said(
    runtime: Runtime,
    task: Task,
    ruled: Rules,
    content: str,
    *,
    now: datetime,
    decisions: Decisions | None = None,
) -> str | NeedsReview:
    """What is said where the agent says *content*; raises `LockedByGuardrail`."""
    if not ruled.after and not ruled.exposes:
        return content
    scene = seen(runtime, task)
    for pause in PAUSES:
        try:
            return _judged(ruled, content, scene, now, decisions or {})
        except EvaluatorUnavailable:
            # An agent has done its work for this, so it is worth another try.
            time.sleep(pause)
    try:
        return _judged(ruled, content, scene, now, decisions or {})
    except EvaluatorUnavailable as error:
        raise GuardrailsUnavailable from error


def _judged(
    ruled: Rules, content: str, scene: Scene, now: datetime, decisions: Decisions
) -> str | NeedsReview:
    flow: Flow = json.loads(content)
    if ruled.after:
        verdict = ruled.judge_output(flow, decisions, scene=scene, now=now, evaluator=evaluator.shared())
        match verdict:
            case Locked():
                raise LockedByGuardrail
            case NeedsReview():
                return verdict
            case Denied(message=message):
                return _withheld(ruled, message, scene, now)
            case _:
                flow = verdict.flow
    shown = exposing(ruled, flow, scene, now=now, by=evaluator.shared())
    return contents.kept(shown, most=contents.LARGEST_MADE)


def _withheld(ruled: Rules, message: str, scene: Scene, now: datetime) -> str:
    shown = exposing(ruled, contents.text(message), scene, now=now, by=evaluator.shared())
    return contents.kept({**shown, "error": ERRORS[Side.OUTPUT]}, most=contents.LARGEST_MADE)


def _unchecked(runtime: Runtime, task: Task, ruled: Rules, now: datetime) -> str:
    """What is said where a review was asked for, and nobody can wait for one."""
    return _withheld(ruled, UNCHECKED[Side.OUTPUT], seen(runtime, task), now)


def _can_go_on(task: Task) -> bool:
    """After a review its leg can be repeated, or its host knows where it was."""
    return task.terms.repeatable or task.terms.runs is Runs.EXTERNAL


def _held(
    runtime: Runtime,
    task: Task,
    needs: NeedsReview,
    content: str,
    *,
    is_last: bool,
    usage: Usage,
    now: datetime,
) -> Change:
    turn = _turn(task)
    held = HeldOutput(
        ordinal=turn.outputs + 1,
        is_last=is_last,
        fence=turn.fence,
        began=now,
        step=needs.step,
        reviewer=needs.reviewer,
    )
    return transitions.hold_output(
        task,
        fence=turn.fence,
        held=held,
        wait=_wait(held, now),
        subject=_subject(task, needs),
        content=content,
        usage=usage,
        now=now,
        pace=runtime.pace,
    )


def _wait(held: HeldOutput, now: datetime) -> Wait:
    return Wait(
        id=held.wait_id,
        kind=WaitKind.REVIEW,
        since=now,
        deadline=now + REVIEW_WITHIN,
        reviewer=held.reviewer,
    )


def _subject(task: Task, needs: NeedsReview) -> str:
    return needs.subject or f"An answer of {task.agent} needs your approval."


def _turn(task: Task) -> Turn:
    if task.turn is None:
        raise StoreIsUnavailable
    return task.turn
