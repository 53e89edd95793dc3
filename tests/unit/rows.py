"""The rows of the design's second table: what is done to a task, and all that is true of it afterwards.

Revision: `+` new, `=` kept, `E` the one that the expiry announced. A due time of None is kept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from tests.support.specimens import (
    AT_HOST,
    CONTENT,
    NOW,
    PACE,
    SECOND,
    TERMS,
    UNREPEATABLE,
    birth,
    running,
    with_input,
    written,
)
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.rules import State
from turnkeeper.domain.task import Reason, Runs, Task, Usage
from turnkeeper.domain.transitions import Answer, Change, Wake
from turnkeeper.domain.waits import Verdict, Wait

G = PACE.wake_grace
LEASE_END = NOW + PACE.lease
EXPIRY = NOW + TERMS.lifespan
AT_A_HOST = replace(UNREPEATABLE, runs=Runs.EXTERNAL)
METERED = replace(TERMS, usage=Usage(tool_calls=2), max_turns=1)

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


def suspends(
    name: str,
    do: Do,
    *,
    revision: str,
    due: datetime,
    writes: str | None = None,
    wake: Wake = Wake.NONE,
) -> Row:
    return Row(
        name=name,
        do=do,
        state=State.SUSPENDED,
        revision=revision,
        due=due,
        attempt=1,
        writes=writes,
        wake=wake,
    )


def becomes_runnable(name: str, do: Do, *, revision: str, writes: str | None = None) -> Row:
    return Row(
        name=name,
        do=do,
        state=State.RUNNABLE,
        revision=revision,
        due=NOW + G,
        attempt=1,
        wake=Wake.TASK,
        writes=writes,
    )


def runs(name: str, do: Do, *, attempt: int, since: datetime = NOW) -> Row:
    return Row(
        name=name,
        do=do,
        state=State.RUNNING,
        revision="=",
        due=since + PACE.lease,
        new_fences=1,
        attempt=attempt,
    )


def rests_between_attempts(
    name: str, do: Do, *, due: datetime, wake: Wake = Wake.NONE, attempt: int = 1
) -> Row:
    return Row(
        name=name, do=do, state=State.BETWEEN_ATTEMPTS, revision="=", due=due, attempt=attempt, wake=wake
    )


def accept(task: Task) -> Change:
    return transitions.accept(task, content=CONTENT, now=NOW, pace=PACE)


def finish(task: Task, *, says: bool) -> Change:
    output = CONTENT if says else None
    return transitions.finish(task, fence=task.fence, output=output, now=NOW, pace=PACE)


def after_the_last_turn() -> Task:
    return written(finish(with_input(running(METERED)), says=False))


def fail(task: Task, *, began: bool = True) -> Change:
    return transitions.fail_attempt(task, fence=task.fence, began=began, now=NOW, pace=PACE)


def lose(task: Task) -> Change:
    return transitions.lose_turn(task, now=LEASE_END, pace=PACE)


def suspend(*waits: Wait, memo: str | None = '"memo"', task: Task | None = None) -> Change:
    task = task or running()
    return transitions.suspend(task, fence=task.fence, waits=waits, memo=memo, now=NOW, pace=PACE)


def resolve(task: Task, wait: Wait) -> Change:
    return transitions.resolve(task, verdicts={wait.id: Verdict.DONE}, now=NOW, pace=PACE)


def answer(task: Task, verdict: Verdict = Verdict.DONE) -> Change:
    return transitions.answer(task, fence=task.fence, wait_id=AT_HOST.id, verdict=verdict, now=NOW, pace=PACE)


def answered_early() -> Task:
    return written(answer(running()))


def attach(task: Task) -> Change:
    return transitions.attach(task, fence=task.fence, report="{}", unreached=0)


def delegate(task: Task) -> Change:
    return transitions.delegate(
        task,
        fence=task.fence,
        call="call",
        body="{}",
        birth=birth(),
        content=CONTENT,
        now=NOW,
        pace=PACE,
    )


def take_over(task: Task) -> Change:
    return transitions.start_attempt(task, now=LEASE_END, pace=PACE)


def report(task: Task, usage: Usage, *, now: datetime = NOW) -> Change:
    return transitions.report(task, fence=task.fence, usage=usage, now=now, pace=PACE)


def reconcile(task: Task, answer: Answer, *, says: bool = False) -> Change:
    return transitions.reconcile(
        task,
        answer=answer,
        output=CONTENT if says else None,
        outcome=Code.TOOL_EXECUTION_FAILED,
        now=NOW,
        pace=PACE,
    )


def interrupt(task: Task) -> Change:
    return transitions.interrupt(task, now=NOW, pace=PACE)


def renewed() -> Task:
    return transitions.heartbeat(running(), fence=1, now=NOW + 20 * SECOND, pace=PACE).after
