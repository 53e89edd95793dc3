"""What whoever takes a task up begins: the next turn over what guardrails let through, or an attempt."""

from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service import judging, outgoing, rules
from turnkeeper.service.change import Decide, traced
from turnkeeper.service.judging import LockedByGuardrail
from turnkeeper.service.runtime import Runtime


class ReleaseFirst(Exception):
    """What the turn was about to say is to be said before it goes on: a change of its own."""


def begin(runtime: Runtime, *, trace: str | None = None, releases: bool = True) -> Decide:
    """The change that takes a task up, whatever there is to take up.

    Where guardrails refused all that waited, or hold it, there is no turn to run afterwards; nor is there when what a
    turn was about to say was its last. To say it is a change of its own, which `ReleaseFirst` asks for unless it
    *releases*. *trace* is X-Ray's header of whatever takes it up.
    """

    def decide(current: Task, now: datetime) -> Change:
        if state_of(current) is State.RUNNABLE and current.turn and current.turn.output:
            if not releases:
                raise ReleaseFirst
            return outgoing.release(runtime, current, current.turn.output, now)
        if state_of(current) is not State.QUEUED:
            return traced(transitions.start_attempt(current, now=now, pace=runtime.pace), trace)
        require(current, Transition.START_TURN)
        try:
            judged = judging.judge(runtime, current, rules.of_task(runtime, current), now)
        except LockedByGuardrail:
            return transitions.restrict(current, now=runtime.clock(), pace=runtime.pace)
        if judged and not judged.taken and (judged.through, judged.held) == (current.committed, current.held):
            return Change(transition=Transition.LOOK, before=current, after=current)
        # Judging may have taken a while, and the lease begins now.
        started = transitions.start_turn(
            current,
            judged=judged,
            now=runtime.clock(),
            pace=runtime.pace,
        )
        return traced(started, trace)

    return decide
