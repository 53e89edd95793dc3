"""The design's second table as data: what each transition does to which task.

Revision: `+` new, `=` kept, `E` the one that the expiry announced. A due time of None is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from tests.support.specimens import (
    CHILD,
    CONTENT,
    DAY,
    NOW,
    PACE,
    SECOND,
    SIGN_IN,
    TERMS,
    between_attempts,
    birth,
    idle,
    queued,
    runnable,
    running,
    suspended,
    with_input,
)
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.rules import State
from turnkeeper.domain.task import Reason, Task
from turnkeeper.domain.transitions import Change, Wake
from turnkeeper.domain.waits import Verdict, Wait

G = PACE.wake_grace
LEASE_END = NOW + PACE.lease
EXPIRY = NOW + TERMS.lifespan
ONCE = replace(TERMS, attempts=1)
UNREPEATABLE = replace(TERMS, repeatable=False)

type Do = Callable[[], Change]


@dataclass(frozen=True, kw_only=True)
class Row:
    """What is done, and everything that must be true of the task afterwards."""

    name: str
    do: Do
    state: State
    revision: str
    due: datetime | None
    expires: datetime | None = None
    new_turns: int = 0
    new_fences: int = 0
    attempt: int | None = None
    """None where there is no turn."""
    wake: Wake = Wake.NONE
    writes: str | None = None
    """What is written beside the task and the journal."""
    journalled: bool = True
    ends: tuple[Reason, Code] | None = None


def goes_idle(name: str, do: Do, *, writes: str | None = None) -> Row:
    return Row(name=name, do=do, state=State.IDLE, revision="+", due=EXPIRY, expires=EXPIRY, writes=writes)


def queues(name: str, do: Do, *, revision: str, writes: str | None = None) -> Row:
    return Row(
        name=name, do=do, state=State.QUEUED, revision=revision, due=NOW + G, wake=Wake.TASK, writes=writes
    )


def ends(name: str, do: Do, *, at: datetime = NOW, revision: str = "+", how: tuple[Reason, Code]) -> Row:
    return Row(name=name, do=do, state=State.TERMINAL, revision=revision, due=at + PACE.retention, ends=how)


def accepts_while(state: State, make: Callable[[], Task], attempt: int | None) -> Row:
    return Row(
        name=f"accept while {state}",
        do=lambda: accept(make()),
        state=state,
        revision="+",
        due=None,
        attempt=attempt,
        wake=Wake.TASK,
        writes="input",
    )


def suspends(name: str, do: Do, *, revision: str, due: datetime, writes: str | None = None) -> Row:
    return Row(name=name, do=do, state=State.SUSPENDED, revision=revision, due=due, attempt=1, writes=writes)


def becomes_runnable(name: str, do: Do, *, revision: str) -> Row:
    return Row(
        name=name,
        do=do,
        state=State.RUNNABLE,
        revision=revision,
        due=NOW + G,
        attempt=1,
        wake=Wake.TASK,
    )


def runs(name: str, do: Do, *, attempt: int) -> Row:
    return Row(
        name=name,
        do=do,
        state=State.RUNNING,
        revision="=",
        due=LEASE_END,
        new_fences=1,
        attempt=attempt,
    )


def rests_between_attempts(name: str, do: Do, *, due: datetime, wake: Wake = Wake.NONE) -> Row:
    return Row(name=name, do=do, state=State.BETWEEN_ATTEMPTS, revision="=", due=due, attempt=1, wake=wake)


def accept(task: Task) -> Change:
    return transitions.accept(task, content=CONTENT, now=NOW, pace=PACE)


def finish(task: Task, *, says: bool) -> Change:
    output = (1, CONTENT) if says else None
    return transitions.finish(task, fence=task.fence, output=output, now=NOW, pace=PACE)


def fail(task: Task) -> Change:
    return transitions.fail_attempt(task, fence=task.fence, now=NOW, pace=PACE)


def lose(task: Task) -> Change:
    return transitions.lose_turn(task, now=LEASE_END, pace=PACE)


def suspend(*waits: Wait, memo: str | None = '"memo"') -> Change:
    task = running()
    return transitions.suspend(task, fence=task.fence, waits=waits, memo=memo, now=NOW, pace=PACE)


def resolve(task: Task, wait: Wait) -> Change:
    return transitions.resolve(task, wait_id=wait.id, verdict=Verdict.DONE, now=NOW, pace=PACE)


def interrupt(task: Task) -> Change:
    return transitions.interrupt(task, now=NOW, pace=PACE)


def renewed() -> Task:
    return transitions.heartbeat(running(), fence=1, now=NOW + 20 * SECOND, pace=PACE).after


ROWS = [
    goes_idle("create", lambda: transitions.create(birth(), content=None, now=NOW, pace=PACE)),
    queues(
        "create with input",
        lambda: transitions.create(birth(), content=CONTENT, now=NOW, pace=PACE),
        revision="+",
        writes="input",
    ),
    queues("accept on idle", lambda: accept(idle()), revision="+", writes="input"),
    accepts_while(State.QUEUED, queued, None),
    accepts_while(State.RUNNING, running, 1),
    accepts_while(State.BETWEEN_ATTEMPTS, between_attempts, 1),
    accepts_while(State.SUSPENDED, suspended, 1),
    accepts_while(State.RUNNABLE, runnable, 1),
    Row(
        name="start turn",
        do=lambda: transitions.start_turn(queued(), now=NOW, pace=PACE),
        state=State.RUNNING,
        revision="+",
        due=LEASE_END,
        new_turns=1,
        new_fences=1,
        attempt=1,
        writes="commit",
    ),
    Row(
        name="heartbeat",
        do=lambda: transitions.heartbeat(running(), fence=1, now=NOW + SECOND, pace=PACE),
        state=State.RUNNING,
        revision="=",
        due=None,
        attempt=1,
        journalled=False,
    ),
    Row(
        name="emit",
        do=lambda: transitions.emit(running(), fence=1, ordinal=1, content=CONTENT, now=NOW),
        state=State.RUNNING,
        revision="+",
        due=None,
        attempt=1,
        writes="output",
    ),
    goes_idle("finish", lambda: finish(running(), says=False)),
    goes_idle("finish with an output", lambda: finish(running(), says=True), writes="output"),
    queues("finish, some pending", lambda: finish(with_input(running()), says=False), revision="="),
    queues(
        "finish with an output, some pending",
        lambda: finish(with_input(running()), says=True),
        revision="+",
        writes="output",
    ),
    rests_between_attempts("attempt failed", lambda: fail(running()), due=NOW + 2 * SECOND + G),
    ends("last attempt failed", lambda: fail(running(ONCE)), how=(Reason.ERRORED, Code.FATAL_ERROR)),
    rests_between_attempts(
        "lease lost, repeat safe", lambda: lose(running()), due=LEASE_END + G, wake=Wake.RECOVERY
    ),
    ends(
        "lease of the last attempt lost",
        lambda: lose(running(ONCE)),
        at=LEASE_END,
        how=(Reason.ERRORED, Code.FATAL_ERROR),
    ),
    suspends(
        "lease lost, repeat unsafe", lambda: lose(running(UNREPEATABLE)), revision="=", due=LEASE_END + DAY
    ),
    runs(
        "start attempt",
        lambda: transitions.start_attempt(between_attempts(), now=NOW, pace=PACE),
        attempt=2,
    ),
    runs("resume", lambda: transitions.start_attempt(runnable(), now=NOW, pace=PACE), attempt=1),
    suspends("wait for a child", lambda: suspend(CHILD), revision="=", due=CHILD.deadline, writes="memo"),
    suspends(
        "wait for the user",
        lambda: suspend(CHILD, SIGN_IN, memo=None),
        revision="+",
        due=SIGN_IN.deadline,
    ),
    suspends(
        "resolve the child's wait, the user's left",
        lambda: resolve(suspended(CHILD, SIGN_IN), CHILD),
        revision="=",
        due=SIGN_IN.deadline,
    ),
    suspends(
        "resolve the user's wait, the child's left",
        lambda: resolve(suspended(CHILD, SIGN_IN), SIGN_IN),
        revision="+",
        due=CHILD.deadline,
    ),
    becomes_runnable("resolve the last, a child's", lambda: resolve(suspended(CHILD), CHILD), revision="="),
    becomes_runnable(
        "resolve the last, the user's", lambda: resolve(suspended(SIGN_IN), SIGN_IN), revision="+"
    ),
    goes_idle("interrupt", lambda: interrupt(running())),
    queues("interrupt, some pending", lambda: interrupt(with_input(running())), revision="="),
    queues(
        "interrupt a wait for the user, some pending",
        lambda: interrupt(with_input(suspended(SIGN_IN))),
        revision="+",
    ),
    ends(
        "complete",
        lambda: transitions.complete(suspended(SIGN_IN), outcome=Code.PARTIAL_SUCCESS, now=NOW, pace=PACE),
        how=(Reason.COMPLETED, Code.PARTIAL_SUCCESS),
    ),
    ends(
        "error",
        lambda: transitions.error(with_input(running()), outcome=Code.DATA_LOSS, now=NOW, pace=PACE),
        how=(Reason.ERRORED, Code.DATA_LOSS),
    ),
    ends(
        "restrict",
        lambda: transitions.restrict(idle(), now=NOW, pace=PACE),
        how=(Reason.RESTRICTED, Code.GUARDRAIL_BLOCKED),
    ),
    ends(
        "expire",
        lambda: transitions.expire(idle(), now=EXPIRY, pace=PACE),
        at=EXPIRY,
        revision="E",
        how=(Reason.COMPLETED, Code.NO_ACTION_REQUIRED),
    ),
    Row(
        name="look at a lost wake-up",
        do=lambda: transitions.look(queued(), now=NOW + G, pace=PACE),
        state=State.QUEUED,
        revision="=",
        due=NOW + 3 * G,
        wake=Wake.RECOVERY,
        journalled=False,
    ),
    Row(
        name="look at a lease that was renewed",
        do=lambda: transitions.look(renewed(), now=LEASE_END, pace=PACE),
        state=State.RUNNING,
        revision="=",
        due=LEASE_END + 20 * SECOND,
        attempt=1,
        journalled=False,
    ),
]
