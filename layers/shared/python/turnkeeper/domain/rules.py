"""The table of transitions: from which states each may start. Everything else is refused."""

from enum import StrEnum
from typing import TYPE_CHECKING

from turnkeeper.domain.errors import (
    StaleFence,
    TaskError,
    TaskIsTerminal,
    TurnNotRunnable,
    WaitNotFound,
)
from turnkeeper.domain.standing import Phase, Standing, TurnState

if TYPE_CHECKING:
    from turnkeeper.domain.task import Task  # a poll has no whole task


class State(StrEnum):
    """Where a task stands, finer than its phase: what may happen next depends on this alone."""

    IDLE = "idle"
    QUEUED = "queued"
    """Processing with inputs pending and no turn."""
    RUNNING = "running"
    BETWEEN_ATTEMPTS = "between_attempts"
    SUSPENDED = "suspended"
    RUNNABLE = "runnable"
    """Processing with a turn whose waits are all resolved."""
    WAITING = "waiting"
    """Processing with no turn, and nothing but inputs that wait for a review."""
    TERMINAL = "terminal"


class Transition(StrEnum):
    """The name of a change, as the journal has it."""

    CREATE = "create"
    ACCEPT = "accept"
    START_TURN = "start_turn"
    START_ATTEMPT = "start_attempt"
    HEARTBEAT = "heartbeat"
    EMIT = "emit"
    FINISH = "finish"
    FAIL_ATTEMPT = "fail_attempt"
    LOSE_TURN = "lose_turn"
    REPORT = "report"
    SUSPEND = "suspend"
    RESOLVE = "resolve"
    ANSWER = "answer"
    DECIDE = "decide"
    HOLD_OUTPUT = "hold_output"
    RELEASE_OUTPUT = "release_output"
    DELEGATE = "delegate"
    ATTACH = "attach"
    RECONCILE = "reconcile"
    INTERRUPT = "interrupt"
    COMPLETE = "complete"
    ERROR = "error"
    RESTRICT = "restrict"
    EXPIRE = "expire"
    LOOK = "look"


IN_A_TURN = frozenset({State.RUNNING, State.BETWEEN_ATTEMPTS, State.SUSPENDED, State.RUNNABLE})
# A worker whose lease ran out may still write until somebody else starts an attempt: the fence decides.
HELD = frozenset({State.RUNNING, State.BETWEEN_ATTEMPTS})
OPEN = frozenset(State) - {State.TERMINAL}

ALLOWED_FROM: dict[Transition, frozenset[State]] = {
    Transition.CREATE: frozenset(),
    Transition.ACCEPT: OPEN,
    Transition.START_TURN: frozenset({State.QUEUED}),
    # From a running turn only when its lease is over.
    Transition.START_ATTEMPT: frozenset({State.RUNNING, State.BETWEEN_ATTEMPTS, State.RUNNABLE}),
    Transition.HEARTBEAT: HELD,
    Transition.EMIT: HELD,
    Transition.FINISH: HELD,
    Transition.FAIL_ATTEMPT: HELD,
    Transition.LOSE_TURN: frozenset({State.RUNNING}),
    Transition.REPORT: HELD,
    Transition.SUSPEND: HELD,
    Transition.RESOLVE: frozenset({State.SUSPENDED}),
    # The host's word may come before its wait is recorded, and again after it was resolved.
    Transition.ANSWER: IN_A_TURN,
    Transition.DELEGATE: HELD,
    Transition.ATTACH: HELD,
    Transition.RECONCILE: frozenset({State.SUSPENDED}),
    Transition.HOLD_OUTPUT: HELD,
    Transition.RELEASE_OUTPUT: frozenset({State.RUNNABLE}),
    Transition.DECIDE: frozenset(State) - {State.IDLE, State.TERMINAL},
    Transition.INTERRUPT: IN_A_TURN | {State.WAITING},
    Transition.COMPLETE: OPEN,
    Transition.ERROR: OPEN,
    Transition.RESTRICT: OPEN,
    Transition.EXPIRE: frozenset({State.IDLE}),
    Transition.LOOK: frozenset(State),
}


def state_of(task: Standing) -> State:
    """The one state *task* is in."""
    if task.phase is Phase.TERMINAL:
        return State.TERMINAL
    if task.turn is None:
        if task.phase is Phase.IDLE:
            return State.IDLE
        return State.QUEUED if task.has_ready_input else State.WAITING
    return {
        TurnState.RUNNING: State.RUNNING,
        TurnState.BETWEEN_ATTEMPTS: State.BETWEEN_ATTEMPTS,
        TurnState.SUSPENDED: State.SUSPENDED,
        TurnState.RUNNABLE: State.RUNNABLE,
    }[task.turn.state]


def require(task: "Task", transition: Transition, *, fence: int | None = None) -> None:
    """Pass if *transition* may start here and *fence*, where one is given, is the turn's."""
    if task.phase is Phase.TERMINAL and transition is not Transition.LOOK:
        raise TaskIsTerminal(str(task.terminal_reason))
    if fence is not None and (task.turn is None or task.turn.fence != fence):
        raise StaleFence(fence)
    if state_of(task) not in ALLOWED_FROM[transition]:
        raise _refusal(transition, fence)


def _refusal(transition: Transition, fence: int | None) -> TaskError:
    if transition in {Transition.RESOLVE, Transition.DECIDE, Transition.RECONCILE}:
        return WaitNotFound()
    return TurnNotRunnable() if fence is None else StaleFence(fence)
