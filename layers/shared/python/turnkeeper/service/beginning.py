"""What whoever takes a task up begins: the next turn over what guardrails let through, or an attempt."""

from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service import judging, outgoing, rules
from turnkeeper.service.change import Decide
from turnkeeper.service.judging import LockedByGuardrail
from turnkeeper.service.runtime import Runtime


def begin(runtime: Runtime) -> Decide:
    """The change that takes a task up, whatever there is to take up.

    Where guardrails refused all that waited, or hold it, there is no turn to run afterwards; nor is there when what a
    turn was about to say was its last.
    """

    def decide(current: Task, now: datetime) -> Change:
        if state_of(current) is State.RUNNABLE and current.turn and current.turn.output:
            return outgoing.release(runtime, current, current.turn.output, now)
        if state_of(current) is not State.QUEUED:
            return transitions.start_attempt(current, now=now, pace=runtime.pace)
        require(current, Transition.START_TURN)
        try:
            judged = judging.judge(runtime, current, rules.of_task(runtime, current), now)
        except LockedByGuardrail:
            return transitions.restrict(current, now=runtime.clock(), pace=runtime.pace)
        # Judging may have taken a while, and the lease begins now.
        return transitions.start_turn(
            current,
            judged=judged,
            subjects=judging.subjects(judged, current),
            now=runtime.clock(),
            pace=runtime.pace,
        )

    return decide
