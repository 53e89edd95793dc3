"""A turn from its start to its end: attempts, signs of life, outputs, failure and loss, each under its fence."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.asc.registry import Code
from turnkeeper.domain import instants
from turnkeeper.domain.errors import InvalidInput, Place, TurnNotRunnable
from turnkeeper.domain.judging import Judged
from turnkeeper.domain.messages import Commit, Output
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import NOTHING_USED, Pace, Reason, Task, Turn, TurnState, Usage
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.endings import error
from turnkeeper.domain.transitions.forms import due, ended, lease_is_over, metered, released, said, turn_of
from turnkeeper.domain.transitions.holding import decided
from turnkeeper.domain.transitions.waiting import to_reconcile


def start_turn(
    task: Task,
    *,
    judged: Judged | None = None,
    now: datetime,
    pace: Pace,
) -> Change:
    """Begin the next turn, which commits every pending input in one entry (IO-5), or those that were *judged* so far.

    What guardrails refused is answered in the same write, and where nothing is left for the agent the turn is over with
    that; where all are held for a review, none begins (AG-3). A task that has had all its turns is errored instead, and
    the inputs stay listed, uncommitted (LC-4).
    """
    require(task, Transition.START_TURN)
    if judged is None:
        pending = tuple(range(task.committed + 1, task.received + 1))
        judged = Judged(through=task.received, taken=pending, held=task.held)
    held = replace(task, committed=judged.through, held=judged.held, looks=0)
    if not judged.taken:
        return Change(
            transition=Transition.START_TURN,
            before=task,
            after=due(held, now=now, pace=pace),
            subjects=judged.subjects,
            wake=Wake.TASK if held.has_ready_input else Wake.NONE,
        )
    if task.terms.max_turns is not None and task.turns >= task.terms.max_turns:
        return error(task, outcome=Code.MAX_ITERATIONS_EXCEEDED, now=now, pace=pace)
    last = max(filter(None, (task.last_committed_at, task.last_received_at)), default=None)
    commit = Commit(
        at=instants.after(now, last), ranges=judged.ranges, refused=judged.refused, token=judged.token
    )
    turn = Turn(
        number=task.turns + 1,
        state=TurnState.RUNNING,
        fence=task.fence + 1,
        attempt=1,
        started_at=now,
        inputs=commit.ranges,
        committed_at=commit.at,
        judged=bool(judged.refused or judged.token),
        lease_until=now + pace.lease,
    )
    started = replace(held, turn=turn, turns=turn.number, fence=turn.fence, last_committed_at=commit.last)
    reply: Output | None = None
    if judged.reply is not None:
        started, reply = said(started, ordinal=1, content=judged.reply, now=now)
        started = replace(started, turn=replace(turn, outputs=1, kept=1))
    wake = Wake.NONE
    if judged.has_passed:
        # What was not judged yet has its wake-up behind this turn's, or is seen to at its end.
        started = due(started, now=now, pace=pace)
    else:
        started, wake = released(started, now=now, pace=pace)
    return Change(
        transition=Transition.START_TURN,
        before=task,
        after=started,
        entry=commit,
        reply=reply,
        seals=judged.seals,
        subjects=judged.subjects,
        wake=wake,
    )


def start_attempt(task: Task, *, now: datetime, pace: Pace) -> Change:
    """Take up a turn that was lost or is between attempts, or resume one whose waits are resolved, under a new fence.

    A lost turn that must not be repeated is lost for good: the change is then that of `lose_turn`.
    """
    require(task, Transition.START_ATTEMPT)
    turn = turn_of(task)
    if turn.state is TurnState.RUNNING:
        lost = lose_turn(task, now=now, pace=pace)
        if lost.after.turn is None or lost.after.turn.state is not TurnState.BETWEEN_ATTEMPTS:
            return lost
    if turn.retry_at is not None and now < turn.retry_at:
        raise TurnNotRunnable
    resumed = turn.state is TurnState.RUNNABLE
    is_retry = turn.state is TurnState.RUNNING or turn.changed_at is not None
    begun = replace(
        turn,
        state=TurnState.RUNNING,
        fence=task.fence + 1,
        attempt=1 if resumed else turn.attempt + 1,
        kept=turn.outputs if resumed else turn.kept,
        started_at=now if resumed else turn.started_at,
        lease_until=now + pace.lease,
        retry_at=None,
        changed_at=now if is_retry and not resumed else None,
        early=(),
    )
    after = replace(task, turn=begun, fence=begun.fence, looks=0)
    return Change(transition=Transition.START_ATTEMPT, before=task, after=due(after, now=now, pace=pace))


def heartbeat(task: Task, *, fence: int, now: datetime, pace: Pace) -> Change:
    """Renew the lease; nothing else moves. A lost turn's worker may go on, but gets no new lease."""
    require(task, Transition.HEARTBEAT, fence=fence)
    turn = turn_of(task)
    if turn.state is not TurnState.RUNNING:
        return Change(transition=Transition.HEARTBEAT, before=task, after=task)
    after = replace(task, turn=replace(turn, lease_until=now + pace.lease))
    return Change(transition=Transition.HEARTBEAT, before=task, after=after)


def report(task: Task, *, fence: int, usage: Usage, now: datetime, pace: Pace) -> Change:
    """Count what the turn used since the last report, and renew the lease; past a limit the task is errored.

    What a lost turn's worker used was used, though it gets no new lease.
    """
    require(task, Transition.REPORT, fence=fence)
    beat = heartbeat(task, fence=fence, now=now, pace=pace)
    return metered(replace(beat, transition=Transition.REPORT), usage, now=now, pace=pace)


def emit(
    task: Task,
    *,
    fence: int,
    ordinal: int,
    content: str,
    usage: Usage = NOTHING_USED,
    now: datetime,
    pace: Pace,
) -> Change:
    """Commit the turn's *ordinal*-th output; one that was emitted before changes nothing (LC-2).

    One beyond the next is refused: those in between would be taken for repeated ones, and be lost.
    """
    require(task, Transition.EMIT, fence=fence)
    following = turn_of(task).outputs + 1
    if ordinal < following:
        return Change(transition=Transition.EMIT, before=task, after=task)
    if ordinal > following:
        raise InvalidInput([Place("number", f"must be at most {following}, the turn's next")])
    after, output = said(task, ordinal=ordinal, content=content, now=now)
    change = Change(transition=Transition.EMIT, before=task, after=after, entry=output)
    return metered(change, usage, now=now, pace=pace)


def finish(
    task: Task,
    *,
    fence: int,
    output: str | None,
    usage: Usage = NOTHING_USED,
    now: datetime,
    pace: Pace,
) -> Change:
    """End the turn, with its last output in the same write; never the task (LC-2).

    No attempt that did not finish has said its last output, so it is never one that was said before.
    """
    require(task, Transition.FINISH, fence=fence)
    output_made: Output | None = None
    after = task
    if output is not None:
        after, output_made = said(task, ordinal=turn_of(task).outputs + 1, content=output, now=now)
    after, wake = released(after, now=now, pace=pace)
    change = Change(transition=Transition.FINISH, before=task, after=after, entry=output_made, wake=wake)
    return metered(change, usage, now=now, pace=pace)


def fail_attempt(task: Task, *, fence: int, began: bool = True, now: datetime, pace: Pace) -> Change:
    """The agent raised: it is tried again after its back-off, or the task is errored when no attempt is left.

    An attempt that never *began* is not counted; its turn is taken up again after the longest pause.
    """
    require(task, Transition.FAIL_ATTEMPT, fence=fence)
    turn = turn_of(task)
    if not began:
        later = now + task.terms.pause_after(len(task.terms.backoff))
        return _tried_again(task, replace(turn, attempt=turn.attempt - 1), at=later, now=now, pace=pace)
    if turn.attempt >= task.terms.attempts:
        over = ended(task, Reason.ERRORED, Code.FATAL_ERROR, now=now, pace=pace)
        return Change(transition=Transition.FAIL_ATTEMPT, before=task, after=over)
    pause = task.terms.pause_after(turn.attempt)
    return _tried_again(task, turn, at=now + pause, now=now, pace=pace)


def _tried_again(task: Task, turn: Turn, *, at: datetime, now: datetime, pace: Pace) -> Change:
    waiting = replace(turn, state=TurnState.BETWEEN_ATTEMPTS, lease_until=None, retry_at=at, changed_at=now)
    after = due(replace(task, turn=waiting), now=now, pace=pace)
    return Change(transition=Transition.FAIL_ATTEMPT, before=task, after=after)


def lose_turn(task: Task, *, fence: int | None = None, now: datetime, pace: Pace) -> Change:
    """The lease ran out, or the holder of *fence* knows that nobody can tell what became of the turn.

    There is another attempt where a repeat is safe, else the host must reconcile (RET-4).
    The fence is kept: the old worker may still finish until somebody starts the next attempt.
    """
    require(task, Transition.LOSE_TURN, fence=fence)
    turn = turn_of(task)
    if fence is None and not lease_is_over(task, now=now):
        raise TurnNotRunnable
    if not task.terms.repeatable:
        return to_reconcile(task, now=now, pace=pace)
    if turn.attempt >= task.terms.attempts:
        over = ended(task, Reason.ERRORED, Code.FATAL_ERROR, now=now, pace=pace)
        return Change(transition=Transition.LOSE_TURN, before=task, after=over)
    lost = replace(turn, state=TurnState.BETWEEN_ATTEMPTS, lease_until=None, changed_at=now)
    after = due(replace(task, turn=lost), now=now, pace=pace)
    return Change(transition=Transition.LOSE_TURN, before=task, after=after, wake=Wake.RECOVERY)


def interrupt(task: Task, *, now: datetime, pace: Pace) -> Change:
    """End the turn and its waits without output; pending inputs get the next turn (IO-5)."""
    require(task, Transition.INTERRUPT)
    # What nobody approved is not let through: the next turn refuses it.
    held = tuple(
        replace(decided(one, approved=False), is_refused=True) if one.wait else one for one in task.held
    )
    after, wake = released(replace(task, held=held), now=now, pace=pace)
    return Change(transition=Transition.INTERRUPT, before=task, after=after, wake=wake)
