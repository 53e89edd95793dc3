"""A host drives its tasks: turns under their fence, and the task's end; each a change that may carry a key."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import NothingLeftToRun, StaleFence
from turnkeeper.domain.instants import MICROSECOND
from turnkeeper.domain.needs import Need
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import NOTHING_USED, Task, Turn, Usage
from turnkeeper.domain.transitions import Answer, Change
from turnkeeper.domain.waits import Verdict
from turnkeeper.service import delegation, outgoing
from turnkeeper.service.beginning import ReleaseFirst, begin
from turnkeeper.service.change import Decide, apply, expire
from turnkeeper.service.cursors import Place, write_place
from turnkeeper.service.declared import check
from turnkeeper.service.delegation import Call, child_of
from turnkeeper.service.files import pinning
from turnkeeper.service.hosted import hosted
from turnkeeper.service.judging import LockedByGuardrail
from turnkeeper.service.keyed import Request, change_once
from turnkeeper.service.owned import check_id
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.waiting import settle, suspension
from turnkeeper.store import tasks, transcript

ACTOR = "host"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a host asks, as the gateway verified it; *body* is what makes the same key another request."""

    principal: str
    task_id: str
    body: str
    key: str | None


def read(runtime: Runtime, *, principal: str, task_id: str) -> Task:
    """The host's task as it is now; past its announced end, the end is written first."""
    check_id(task_id)
    task = hosted(tasks.read(runtime.table, task_id), principal, now=runtime.clock())
    return expire(runtime, task, actor="reader")


def inputs_after(turn: Turn) -> str:
    """The cursor after which the messages list begins with the turn's own inputs."""
    return write_place(Place(at=turn.committed_at - MICROSECOND))


def memo(runtime: Runtime, task: Task) -> str | None:
    """What the agent noted when its turn was suspended, as JSON text."""
    turn = task.turn
    if turn is None or turn.memo_fence is None:
        return None
    return transcript.memo(runtime.table, task.id, turn.memo_fence)


def start(runtime: Runtime, asked: Asked) -> Task:
    """The task with a turn that the host may run: begun, tried again, or resumed, under a fence of its own.

    Raises `TurnNotRunnable` when there is none now, `NothingLeftToRun` when taking it up was all there was to do, and
    `StaleFence` when a repeated key's turn was taken over.
    """
    trace = runtime.trace()
    try:
        started = change(runtime, asked, "start", begin(runtime, trace=trace, releases=False))
    except ReleaseFirst:
        task = hosted(tasks.read(runtime.table, asked.task_id), asked.principal, now=runtime.clock())
        released = apply(runtime, task, begin(runtime, trace=trace), actor=ACTOR).after
        if state_of(released) is not State.BETWEEN_ATTEMPTS:
            raise NothingLeftToRun from None
        started = change(runtime, asked, "start", begin(runtime, trace=trace, releases=False))
    if state_of(started) is not State.RUNNING:
        raise NothingLeftToRun
    return started


def heartbeat(runtime: Runtime, asked: Asked, *, fence: int, usage: Usage = NOTHING_USED) -> Task:
    """The task with its lease renewed, and *usage* counted where there is any."""

    def decide(current: Task, now: datetime) -> Change:
        if usage == NOTHING_USED:
            return transitions.heartbeat(current, fence=fence, now=now, pace=runtime.pace)
        return transitions.report(current, fence=fence, usage=usage, now=now, pace=runtime.pace)

    return change(runtime, asked, "heartbeat", decide)


def output(
    runtime: Runtime, asked: Asked, *, fence: int, ordinal: int, content: str, usage: Usage = NOTHING_USED
) -> Task:
    """The task with the turn's *ordinal*-th output; one that was there before changes nothing."""
    said = outgoing.emit(runtime, fence=fence, ordinal=ordinal, content=content, usage=usage)
    return change(runtime, asked, "output", said)


def finish(
    runtime: Runtime,
    asked: Asked,
    *,
    fence: int,
    content: str | None,
    usage: Usage = NOTHING_USED,
) -> Task:
    """The task after the turn, with its last output in the same write."""
    ended = outgoing.finish(runtime, fence=fence, content=content, usage=usage)
    return change(runtime, asked, "finish", ended)


def wait(
    runtime: Runtime,
    asked: Asked,
    *,
    fence: int,
    needs: Sequence[Need],
    memo: str | None,
    usage: Usage = NOTHING_USED,
) -> Task:
    """The task, suspended on *needs* with the agent's *memo* (JSON), or runnable when all are answered already."""
    suspend = suspension(runtime, needs, fence=fence, memo=memo, usage=usage)
    return settle(runtime, change(runtime, asked, "wait", suspend), actor=ACTOR)


def resolve(runtime: Runtime, asked: Asked, *, fence: int, wait_id: str, verdict: Verdict) -> Task:
    """The task after the host's word on a wait of its own, which may come before the wait is recorded."""
    return change(
        runtime,
        asked,
        "resolve",
        lambda current, now: transitions.answer(
            current, fence=fence, wait_id=wait_id, verdict=verdict, now=now, pace=runtime.pace
        ),
    )


def delegate(runtime: Runtime, *, principal: str, task_id: str, call: Call) -> Task:
    """The child task that the turn's *call* made, now or before."""
    check_id(task_id)

    def parent() -> Task:
        return hosted(tasks.read(runtime.table, task_id), principal, now=runtime.clock())

    def write(task: Task, decide: Decide) -> Change:
        return apply(runtime, task, decide, actor=ACTOR)

    return delegation.delegate(runtime, call, read=parent, write=write)


def child(runtime: Runtime, *, principal: str, task_id: str, child_id: str) -> Task:
    """A child of the host's task as it is now, whosever agent works on it."""
    check_id(task_id)
    return child_of(
        runtime, hosted(tasks.read(runtime.table, task_id), principal, now=runtime.clock()), child_id
    )


def fail(runtime: Runtime, asked: Asked, *, fence: int) -> Task:
    """The task after a failed attempt: tried again after its back-off, or errored when none is left."""
    return change(
        runtime,
        asked,
        "fail",
        lambda current, now: transitions.fail_attempt(current, fence=fence, now=now, pace=runtime.pace),
    )


def interrupt(runtime: Runtime, asked: Asked) -> Task:
    """The task without its turn and waits; pending inputs get the next turn."""
    return change(
        runtime,
        asked,
        "interrupt",
        lambda current, now: transitions.interrupt(current, now=now, pace=runtime.pace),
    )


def complete(
    runtime: Runtime, asked: Asked, *, outcome: Code, discard_pending: bool, declared: str | None = None
) -> Task:
    """The task, completed; refused with `InputsArePending` unless those are to be discarded.

    *declared* is what the host says with the end, as JSON, here and in what follows.
    """
    return _end(
        runtime,
        asked,
        "complete",
        lambda current, now: transitions.complete(
            current, outcome=outcome, discard_pending=discard_pending, now=now, pace=runtime.pace
        ),
        declared=check(declared, outcome),
    )


def error(runtime: Runtime, asked: Asked, *, outcome: Code, declared: str | None = None) -> Task:
    """The task, errored with *outcome*."""
    return _end(
        runtime,
        asked,
        "error",
        lambda current, now: transitions.error(current, outcome=outcome, now=now, pace=runtime.pace),
        declared=check(declared, outcome),
    )


def restrict(runtime: Runtime, asked: Asked, *, declared: str | None = None) -> Task:
    """The task, locked."""
    return _end(
        runtime,
        asked,
        "restrict",
        lambda current, now: transitions.restrict(current, now=now, pace=runtime.pace),
        declared=check(declared, Code.GUARDRAIL_BLOCKED),
    )


def reconcile(runtime: Runtime, asked: Asked, *, answer: Answer, content: str | None, outcome: Code) -> Task:
    """The task after its host said what became of a lost turn."""
    check(None, outcome)

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.RECONCILE)
        said = content
        if content is not None:
            try:
                said = outgoing.unreviewed(runtime, current, content, now)
            except LockedByGuardrail:
                return transitions.restrict(current, now=now, pace=runtime.pace)
        return transitions.reconcile(
            current, answer=answer, output=said, outcome=outcome, now=now, pace=runtime.pace
        )

    return change(runtime, asked, "reconcile", decide)


def _end(runtime: Runtime, asked: Asked, route: str, decide: Decide, *, declared: str | None) -> Task:
    """The task as *decide* ends it, with what was *declared* in the same write."""
    return change(
        runtime, asked, route, lambda current, now: replace(decide(current, now), declared=declared)
    )


def change(runtime: Runtime, asked: Asked, route: str, decide: Decide) -> Task:
    """The host's task after the change that *decide* makes of it, or as it is now if the key made it before."""
    allowed: Callable[[Task | None], Task] = lambda task: hosted(task, asked.principal, now=runtime.clock())  # noqa: E731
    request = Request(
        caller=asked.principal,
        actor=ACTOR,
        route=f"host/{route}",
        task_id=asked.task_id,
        body=asked.body,
        key=asked.key,
    )
    done = change_once(runtime, request, pinning(runtime, decide), allowed=allowed)
    if done.made is None:
        return done.task
    task = done.task
    if task.log_number < done.made.log_number:
        task = allowed(tasks.read(runtime.table, task.id))
    if route == "start" and done.made.fence is None:
        raise NothingLeftToRun
    if route == "start" and (task.turn is None or task.turn.fence != done.made.fence):
        raise StaleFence(done.made.fence or 0)
    return task
