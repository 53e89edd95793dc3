"""The state machine: each transition takes a task and returns the change to the next one, or raises.

A change that changes nothing holds the *same* task, and then nothing is written. Which transition may start where is
the table in `rules`; what each one does is the table in the design: phase, turn, expiry, due time, wake-up.
"""

from turnkeeper.domain.transitions.arrivals import Birth, accept, create
from turnkeeper.domain.transitions.change import NO_SUBJECTS, Change, Delegation, Wake
from turnkeeper.domain.transitions.delegating import CALL_BYTES, delegate
from turnkeeper.domain.transitions.endings import complete, error, expire, restrict
from turnkeeper.domain.transitions.holding import decide, hold_on, hold_output, release_output
from turnkeeper.domain.transitions.looking import is_runnable, look, needs_worker, runnable_for
from turnkeeper.domain.transitions.reporting import MOST_REPORTS, attach
from turnkeeper.domain.transitions.turns import (
    emit,
    fail_attempt,
    finish,
    heartbeat,
    interrupt,
    lose_turn,
    report,
    start_attempt,
    start_turn,
)
from turnkeeper.domain.transitions.waiting import (
    RECONCILE,
    RECONCILE_WITHIN,
    Answer,
    answer,
    reconcile,
    resolve,
    suspend,
)

__all__ = [
    "CALL_BYTES",
    "MOST_REPORTS",
    "NO_SUBJECTS",
    "RECONCILE",
    "RECONCILE_WITHIN",
    "Answer",
    "Birth",
    "Change",
    "Delegation",
    "Wake",
    "accept",
    "answer",
    "attach",
    "complete",
    "create",
    "decide",
    "delegate",
    "emit",
    "error",
    "expire",
    "fail_attempt",
    "finish",
    "heartbeat",
    "hold_on",
    "hold_output",
    "interrupt",
    "is_runnable",
    "look",
    "lose_turn",
    "needs_worker",
    "reconcile",
    "release_output",
    "report",
    "resolve",
    "restrict",
    "runnable_for",
    "start_attempt",
    "start_turn",
    "suspend",
]
