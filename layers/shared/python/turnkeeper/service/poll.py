"""Following a task: one small read, and when to look again (PO-1)."""

from datetime import datetime
from enum import StrEnum

from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.standing import Standing
from turnkeeper.service.owned import check_id, owned
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import standing


class Rhythm(StrEnum):
    """What a follower waits for; how often it is worth a look depends on it."""

    BUSY = "busy"
    """The agent's next word."""
    WAITING = "waiting"
    """Somebody's decision."""
    IDLE = "idle"
    """An input that another device sends, or the end."""


SHARE = 0.05
"""The next look comes after this share of the time in which nothing happened (docs/decisions/0089)."""
SHORTEST_S = {Rhythm.BUSY: 1, Rhythm.WAITING: 2, Rhythm.IDLE: 5}
LONGEST_S = {Rhythm.BUSY: 30, Rhythm.WAITING: 60, Rhythm.IDLE: 120}


def pace_s(quiet_s: float, *, shortest: int, longest: int, share: float) -> int:
    """In how many seconds to look again at what has been quiet for *quiet_s*."""
    return min(longest, max(shortest, int(quiet_s * share)))


def poll(runtime: Runtime, *, caller: str, task_id: str) -> Standing:
    """Where the caller's task stands now; past its announced end, the end is written first and then answered."""
    check_id(task_id)
    now = runtime.clock()
    glance = owned(standing.look(runtime.table, task_id), caller, now=now)
    if not glance.is_expired(now):
        return glance
    # Once in a task's life: the other polls' cold start does not pay for what reads a whole task and writes.
    from turnkeeper.service.whole import whole  # noqa: PLC0415

    return whole(runtime, caller=caller, task_id=task_id)


def poll_after(task: Standing, now: datetime) -> int | None:
    """In how many seconds a poll may find something new; None when nothing will change any more."""
    rhythm = _rhythm(state_of(task))
    if rhythm is None:
        return None
    quiet = (now - _last_change(task)).total_seconds()
    pause = pace_s(quiet, shortest=SHORTEST_S[rhythm], longest=LONGEST_S[rhythm], share=SHARE)
    if task.idle_expires_at is None:
        return pause
    left = (task.idle_expires_at - now).total_seconds()
    return min(pause, max(int(left), 0) + 1)


def _rhythm(state: State) -> Rhythm | None:
    match state:
        case State.TERMINAL:
            return None
        case State.IDLE:
            return Rhythm.IDLE
        case State.SUSPENDED | State.WAITING:
            return Rhythm.WAITING
        case _:
            return Rhythm.BUSY


def _last_change(task: Standing) -> datetime:
    """When something last happened that begins a wait for the next thing."""
    turn = task.turn
    happened = [task.created_at, task.since, task.last_received_at, task.last_committed_at]
    happened += [wait.since for wait in task.asks]
    if turn is not None:
        happened += [turn.started_at, turn.changed_at, *(one.at for one in turn.resolutions)]
    return max(instant for instant in happened if instant is not None)
