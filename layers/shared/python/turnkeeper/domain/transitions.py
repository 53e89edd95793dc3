"""The state machine: each function takes a task and returns the change to the next one, or raises.

A change that changes nothing holds the *same* task, and then nothing is written. Which transition may start where is
the table in `rules`; what each one does is the table in the design: phase, turn, expiry, due time, wake-up.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from turnkeeper.asc.registry import Code
from turnkeeper.domain import instants
from turnkeeper.domain.errors import InputsArePending, TurnNotRunnable, WaitNotFound
from turnkeeper.domain.messages import Commit, Entry, Input, Output
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import Pace, Phase, Reason, Task, Terms, Turn, TurnState
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind

RECONCILE_WITHIN = timedelta(days=1)
RECONCILE = "reconcile"


class Wake(StrEnum):
    """Whom a change needs: nobody, the task's own line of wake-ups, or one that a dead worker cannot block."""

    NONE = "none"
    TASK = "task"
    RECOVERY = "recovery"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What one transition makes of a task, what it adds to the conversation, and whom it wakes."""

    transition: Transition
    before: Task | None
    after: Task
    input: Input | None = None
    entry: Entry | None = None
    memo: str | None = None
    wake: Wake = Wake.NONE

    @property
    def is_change(self) -> bool:
        """There is something to write."""
        return self.after is not self.before

    @property
    def is_journalled(self) -> bool:
        """It is a transition, and not merely a lease or a due time that moved."""
        return self.transition not in {Transition.HEARTBEAT, Transition.LOOK}


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """Who starts a task with which agent, under which terms."""

    id: str
    agent: str
    agent_version: str
    terms: Terms
    responsible_user: str


def create(birth: Birth, *, content: str | None, now: datetime, pace: Pace) -> Change:
    """A new task: idle, or processing when it comes with a first input."""
    expiry = now + min(birth.terms.lifespan, birth.terms.max_age)
    task = Task(
        id=birth.id,
        agent=birth.agent,
        agent_version=birth.agent_version,
        terms=birth.terms,
        responsible_user=birth.responsible_user,
        created_at=now,
        phase=Phase.IDLE,
        idle_expires_at=expiry,
        due_at=expiry,
    )
    if content is None:
        return Change(transition=Transition.CREATE, before=None, after=task)
    first = accept(task, content=content, now=now, pace=pace)
    return replace(first, transition=Transition.CREATE, before=None)


def accept(task: Task, *, content: str, now: datetime, pace: Pace) -> Change:
    """Queue an input; a turn in flight is not touched, and the input is committed by a later one (IN-1c)."""
    require(task, Transition.ACCEPT)
    arrived = Input(
        number=task.received + 1, received_at=instants.after(now, task.last_received_at), content=content
    )
    queued = replace(task, received=arrived.number, last_received_at=arrived.received_at)
    if task.phase is Phase.IDLE:
        queued = _queued(queued, now=now, pace=pace)
    return Change(transition=Transition.ACCEPT, before=task, after=queued, input=arrived, wake=Wake.TASK)


def start_turn(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Begin the next turn, which commits every pending input in one entry (IO-5)."""
    require(task, Transition.START_TURN)
    last = max(filter(None, (task.last_committed_at, task.last_received_at)), default=None)
    commit = Commit(at=instants.after(now, last), ranges=((task.committed + 1, task.received),))
    turn = Turn(
        number=task.turns + 1,
        state=TurnState.RUNNING,
        fence=task.fence + 1,
        attempt=1,
        started_at=now,
        inputs=commit.ranges,
        lease_until=now + pace.lease,
    )
    started = replace(
        task,
        turn=turn,
        turns=turn.number,
        fence=turn.fence,
        committed=task.received,
        last_committed_at=commit.last,
        looks=0,
    )
    return Change(
        transition=Transition.START_TURN, before=task, after=_due(started, now=now, pace=pace), entry=commit
    )


def start_attempt(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Take up a turn that is between attempts, or resume one whose waits are resolved, under a new fence."""
    require(task, Transition.START_ATTEMPT)
    turn = _turn(task)
    if turn.retry_at is not None and now < turn.retry_at:
        raise TurnNotRunnable
    resumed = turn.state is TurnState.RUNNABLE
    begun = replace(
        turn,
        state=TurnState.RUNNING,
        fence=task.fence + 1,
        attempt=1 if resumed else turn.attempt + 1,
        kept=turn.outputs if resumed else turn.kept,
        lease_until=now + pace.lease,
        retry_at=None,
    )
    after = replace(task, turn=begun, fence=begun.fence, looks=0)
    return Change(transition=Transition.START_ATTEMPT, before=task, after=_due(after, now=now, pace=pace))


def heartbeat(task: Task, *, fence: int, now: datetime, pace: Pace) -> Change:
    """Renew the lease; nothing else moves. A lost turn's worker may go on, but gets no new lease."""
    require(task, Transition.HEARTBEAT, fence=fence)
    turn = _turn(task)
    if turn.state is not TurnState.RUNNING:
        return Change(transition=Transition.HEARTBEAT, before=task, after=task)
    after = replace(task, turn=replace(turn, lease_until=now + pace.lease))
    return Change(transition=Transition.HEARTBEAT, before=task, after=after)


def emit(task: Task, *, fence: int, ordinal: int, content: str, now: datetime) -> Change:
    """Commit the turn's *ordinal*-th output; one that was emitted before changes nothing (LC-2)."""
    require(task, Transition.EMIT, fence=fence)
    if ordinal <= _turn(task).outputs:
        return Change(transition=Transition.EMIT, before=task, after=task)
    after, output = _said(task, ordinal=ordinal, content=content, now=now)
    return Change(transition=Transition.EMIT, before=task, after=after, entry=output)


def finish(task: Task, *, fence: int, output: tuple[int, str] | None, now: datetime, pace: Pace) -> Change:
    """End the turn, with its last output (ordinal, content) in the same write; never the task (LC-2)."""
    require(task, Transition.FINISH, fence=fence)
    said: Output | None = None
    after = task
    if output is not None and output[0] > _turn(task).outputs:
        after, said = _said(task, ordinal=output[0], content=output[1], now=now)
    after, wake = _released(after, now=now, pace=pace)
    return Change(transition=Transition.FINISH, before=task, after=after, entry=said, wake=wake)


def fail_attempt(task: Task, *, fence: int, now: datetime, pace: Pace) -> Change:
    """The agent raised: it is tried again after its back-off, or the task is errored when no attempt is left."""
    require(task, Transition.FAIL_ATTEMPT, fence=fence)
    turn = _turn(task)
    if turn.attempt >= task.terms.attempts:
        ended = _ended(task, Reason.ERRORED, Code.FATAL_ERROR, now=now, pace=pace)
        return Change(transition=Transition.FAIL_ATTEMPT, before=task, after=ended)
    retry_at = now + task.terms.pause_after(turn.attempt)
    waiting = replace(turn, state=TurnState.BETWEEN_ATTEMPTS, lease_until=None, retry_at=retry_at)
    after = _due(replace(task, turn=waiting), now=now, pace=pace)
    return Change(transition=Transition.FAIL_ATTEMPT, before=task, after=after)


def lose_turn(task: Task, *, now: datetime, pace: Pace) -> Change:
    """The lease ran out: another attempt where a repeat is safe, else the host must reconcile (RET-4).

    The fence is kept: the old worker may still finish until somebody starts the next attempt.
    """
    require(task, Transition.LOSE_TURN)
    turn = _turn(task)
    if not _lease_is_over(task, now=now):
        raise TurnNotRunnable
    if not task.terms.repeatable:
        return _to_reconcile(task, now=now, pace=pace)
    if turn.attempt >= task.terms.attempts:
        ended = _ended(task, Reason.ERRORED, Code.FATAL_ERROR, now=now, pace=pace)
        return Change(transition=Transition.LOSE_TURN, before=task, after=ended)
    lost = replace(turn, state=TurnState.BETWEEN_ATTEMPTS, lease_until=None)
    after = _due(replace(task, turn=lost), now=now, pace=pace)
    return Change(transition=Transition.LOSE_TURN, before=task, after=after, wake=Wake.RECOVERY)


def suspend(
    task: Task, *, fence: int, waits: Iterable[Wait], memo: str | None, now: datetime, pace: Pace
) -> Change:
    """Park the turn on *waits*, with the agent's memo; outputs it emitted stay."""
    require(task, Transition.SUSPEND, fence=fence)
    parked = replace(
        _turn(task),
        state=TurnState.SUSPENDED,
        lease_until=None,
        retry_at=None,
        memo_fence=None if memo is None else fence,
        resolutions=(),
    )
    after = _due(replace(task, turn=parked, waits=tuple(waits)), now=now, pace=pace)
    return Change(transition=Transition.SUSPEND, before=task, after=after, memo=memo)


def resolve(task: Task, *, wait_id: str, verdict: Verdict, now: datetime, pace: Pace) -> Change:
    """End one wait; the last makes the turn runnable. A reconcile that timed out errors the task (ASC-6005)."""
    require(task, Transition.RESOLVE)
    wait = next((wait for wait in task.waits if wait.id == wait_id), None)
    if wait is None:
        raise WaitNotFound(wait_id)
    if wait.kind is WaitKind.RECONCILE and verdict is Verdict.TIMED_OUT:
        ended = _ended(task, Reason.ERRORED, Code.RESULT_STATE_UNKNOWN, now=now, pace=pace)
        return Change(transition=Transition.RESOLVE, before=task, after=ended)
    left = tuple(other for other in task.waits if other is not wait)
    turn = _turn(task)
    outcome = Resolution(wait_id=wait.id, kind=wait.kind, verdict=verdict, at=now)
    # A reconcile repeats its leg; the end of any other wait begins the next one.
    free = TurnState.BETWEEN_ATTEMPTS if wait.kind is WaitKind.RECONCILE else TurnState.RUNNABLE
    resolved = replace(
        turn,
        state=turn.state if left else free,
        resolutions=(*turn.resolutions, outcome),
    )
    after = _due(replace(task, waits=left, turn=resolved, looks=0), now=now, pace=pace)
    return Change(
        transition=Transition.RESOLVE, before=task, after=after, wake=Wake.NONE if left else Wake.TASK
    )


def interrupt(task: Task, *, now: datetime, pace: Pace) -> Change:
    """End the turn and its waits without output; pending inputs get the next turn (IO-5)."""
    require(task, Transition.INTERRUPT)
    after, wake = _released(task, now=now, pace=pace)
    return Change(transition=Transition.INTERRUPT, before=task, after=after, wake=wake)


def complete(
    task: Task, *, outcome: Code, discard_pending: bool = False, now: datetime, pace: Pace
) -> Change:
    """End the task by an explicit action (LC-3); refused while inputs wait, unless they are to be discarded."""
    require(task, Transition.COMPLETE)
    if task.pending and not discard_pending:
        raise InputsArePending(task.pending)
    ended = _ended(task, Reason.COMPLETED, outcome, now=now, pace=pace)
    return Change(transition=Transition.COMPLETE, before=task, after=ended)


def error(task: Task, *, outcome: Code, now: datetime, pace: Pace) -> Change:
    """End the task for an unrecoverable error or an exceeded limit (LC-4); pending inputs stay listed."""
    require(task, Transition.ERROR)
    ended = _ended(task, Reason.ERRORED, outcome, now=now, pace=pace)
    return Change(transition=Transition.ERROR, before=task, after=ended)


def restrict(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Lock the task, as a guardrail or middleware asks (LC-5)."""
    require(task, Transition.RESTRICT)
    ended = _ended(task, Reason.RESTRICTED, Code.GUARDRAIL_BLOCKED, now=now, pace=pace)
    return Change(transition=Transition.RESTRICT, before=task, after=ended)


def expire(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Complete an idle task at the instant it announced, under the revision it announced (TS-8c)."""
    require(task, Transition.EXPIRE)
    if not task.is_expired(now):
        return Change(transition=Transition.EXPIRE, before=task, after=task)
    outcome = Code.SUCCESS if task.outputs else Code.NO_ACTION_REQUIRED
    ended = _ended(task, Reason.COMPLETED, outcome, now=now, pace=pace)
    after = replace(ended, revision=task.expiry_revision or task.revision)
    return Change(transition=Transition.EXPIRE, before=task, after=after)


def look(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Do whatever is due: expire, error, lose, time out, wake again, or only move the due time on."""
    nothing = Change(transition=Transition.LOOK, before=task, after=task)
    state = state_of(task)
    if state is State.TERMINAL or now < task.due_at:
        return nothing
    if state is State.IDLE:
        return expire(task, now=now, pace=pace)
    if now >= task.oldest_end:
        return error(task, outcome=Code.RESOURCE_EXHAUSTED, now=now, pace=pace)
    if _lease_is_over(task, now=now):
        return lose_turn(task, now=now, pace=pace)
    if late := next((wait for wait in task.waits if now >= wait.deadline), None):
        return resolve(task, wait_id=late.id, verdict=Verdict.TIMED_OUT, now=now, pace=pace)
    runnable = is_runnable(task, now=now)
    looked = replace(task, looks=task.looks + 1) if runnable else task
    return replace(
        nothing, after=_due(looked, now=now, pace=pace), wake=Wake.RECOVERY if runnable else Wake.NONE
    )


def is_runnable(task: Task, *, now: datetime) -> bool:
    """A worker that comes now has something to start."""
    state = state_of(task)
    if state is State.BETWEEN_ATTEMPTS:
        retry_at = _turn(task).retry_at
        return retry_at is None or now >= retry_at
    return state in {State.QUEUED, State.RUNNABLE}


def needs_worker(task: Task, *, now: datetime) -> bool:
    """A worker that comes now has something to do: to start, or to take over from one whose lease ran out."""
    return is_runnable(task, now=now) or _lease_is_over(task, now=now)


def _lease_is_over(task: Task, *, now: datetime) -> bool:
    return task.turn is not None and task.turn.lease_until is not None and now >= task.turn.lease_until


def _turn(task: Task) -> Turn:
    if task.turn is None:
        raise TurnNotRunnable
    return task.turn


def _said(task: Task, *, ordinal: int, content: str, now: datetime) -> tuple[Task, Output]:
    turn = _turn(task)
    at = instants.after(now, task.last_committed_at)
    after = replace(task, turn=replace(turn, outputs=ordinal), outputs=task.outputs + 1, last_committed_at=at)
    return after, Output(at=at, turn=turn.number, ordinal=ordinal, content=content)


def _queued(task: Task, *, now: datetime, pace: Pace) -> Task:
    queued = replace(
        task, phase=Phase.PROCESSING, turn=None, idle_expires_at=None, expiry_revision=None, looks=0
    )
    return _due(queued, now=now, pace=pace)


def _released(task: Task, *, now: datetime, pace: Pace) -> tuple[Task, Wake]:
    """The task after a turn: idle, or processing again when inputs are pending."""
    free = replace(task, turn=None, waits=(), looks=0)
    if free.pending:
        return _queued(free, now=now, pace=pace), Wake.TASK
    expiry = min(now + task.terms.lifespan, task.oldest_end)
    return replace(free, phase=Phase.IDLE, idle_expires_at=expiry, due_at=expiry), Wake.NONE


def _to_reconcile(task: Task, *, now: datetime, pace: Pace) -> Change:
    wait = Wait(id=RECONCILE, kind=WaitKind.RECONCILE, since=now, deadline=now + RECONCILE_WITHIN)
    parked = replace(_turn(task), state=TurnState.SUSPENDED, lease_until=None)
    after = _due(replace(task, turn=parked, waits=(wait,)), now=now, pace=pace)
    return Change(transition=Transition.LOSE_TURN, before=task, after=after)


def _ended(task: Task, reason: Reason, outcome: Code, *, now: datetime, pace: Pace) -> Task:
    """Terminal: no turn, no waits, no expiry; only its retention is still due (TS-5c, TS-8b)."""
    return replace(
        task,
        phase=Phase.TERMINAL,
        terminal_reason=reason,
        outcome=outcome,
        turn=None,
        waits=(),
        idle_expires_at=None,
        expiry_revision=None,
        looks=0,
        due_at=now + pace.retention,
    )


def _due(task: Task, *, now: datetime, pace: Pace) -> Task:
    """*task* with the instant of a processing task's next look; never past the end of its `max_age`."""
    turn = task.turn
    if turn and turn.lease_until:
        next_look = turn.lease_until
    elif task.waits:
        next_look = min(wait.deadline for wait in task.waits)
    else:
        waiting_until = turn.retry_at if turn and turn.retry_at else now
        next_look = max(now, waiting_until) + pace.grace(task.looks)
    return replace(task, due_at=min(next_look, task.oldest_end))
