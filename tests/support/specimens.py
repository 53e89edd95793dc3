"""A task in every state there is, made by the transitions themselves, at one fixed instant."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.judging import Held, HeldOutput, Judged
from turnkeeper.domain.rules import State
from turnkeeper.domain.task import Pace, Runs, Task, Terms
from turnkeeper.domain.transitions import Birth, Change
from turnkeeper.domain.waits import Verdict, Wait, WaitKind
from turnkeeper.store.writes import minted

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SECOND, MINUTE, HOUR, DAY = (timedelta(seconds=each) for each in (1, 60, 3600, 86_400))
OWNER = "0f6f9d3c-0b53-4c0e-9a3d-5f0b3d1c2b4a"
PACE = Pace(lease=MINUTE, wake_grace=MINUTE, wake_grace_max=15 * MINUTE, retention=90 * DAY)
TERMS = Terms(
    lifespan=7 * DAY,
    max_age=90 * DAY,
    repeatable=True,
    attempts=3,
    backoff=(2 * SECOND, 8 * SECOND, 30 * SECOND),
    owner="deployment",
    runs=Runs.FUNCTION,
    turn_limit=HOUR,
)
ONCE = replace(TERMS, attempts=1)
UNREPEATABLE = replace(TERMS, repeatable=False)
CONTENT = '{"message":[{"mimeType":"text/plain","text":"hi"}]}'
CHILD = Wait(id="child", kind=WaitKind.CHILD, since=NOW, deadline=NOW + 7 * DAY, child="c" * 32)
AT_HOST = Wait(id="host", kind=WaitKind.HOST, since=NOW, deadline=NOW + 7 * DAY)
REVIEW = Wait(id="review", kind=WaitKind.REVIEW, since=NOW, deadline=NOW + 7 * DAY, reviewer="somebody else")
MINE = replace(REVIEW, reviewer=OWNER)
SIGN_IN = Wait(id="auth", kind=WaitKind.AUTHORISATION, since=NOW, deadline=NOW + DAY, provider="github")


def birth(terms: Terms = TERMS) -> Birth:
    return Birth(id="a" * 32, agent="echo", agent_version="f" * 64, terms=terms, responsible_user=OWNER)


def written(change: Change) -> Task:
    """Return the task as the store would write it: its revisions minted, its journal one entry longer."""
    after = minted(change)
    return replace(after, log_number=after.log_number + 1, log_head="e" * 64)


def idle(terms: Terms = TERMS) -> Task:
    return written(transitions.create(birth(terms), content=None, now=NOW, pace=PACE))


def queued(terms: Terms = TERMS) -> Task:
    return written(transitions.create(birth(terms), content=CONTENT, now=NOW, pace=PACE))


def running(terms: Terms = TERMS) -> Task:
    return written(transitions.start_turn(queued(terms), now=NOW, pace=PACE))


def between_attempts(terms: Terms = TERMS) -> Task:
    """Return a task whose lease ran out: somebody may start the next attempt at once."""
    return written(transitions.lose_turn(running(terms), now=NOW + PACE.lease, pace=PACE))


def suspended(*waits: Wait, terms: Terms = TERMS) -> Task:
    task = running(terms)
    change = transitions.suspend(
        task, fence=task.fence, waits=waits or (AT_HOST,), memo='"memo"', now=NOW, pace=PACE
    )
    return written(change)


def runnable(terms: Terms = TERMS) -> Task:
    task = suspended(AT_HOST, terms=terms)
    change = transitions.resolve(task, verdicts={AT_HOST.id: Verdict.DONE}, now=NOW, pace=PACE)
    return written(change)


def hold_output(task: Task, *, is_last: bool = False, now: datetime = NOW) -> Change:
    """Return the change that has the task's turn wait for a review of its next output."""
    outputs = task.turn.outputs if task.turn else 0
    held = HeldOutput(ordinal=outputs + 1, is_last=is_last, fence=task.fence, began=now, step=0, reviewer="r")
    wait = replace(REVIEW, id=held.wait_id, since=now, deadline=now + HOUR)
    return transitions.hold_output(
        task, fence=task.fence, held=held, wait=wait, subject="s", content=CONTENT, now=now, pace=PACE
    )


def approved(terms: Terms = TERMS, *, is_last: bool = False) -> Task:
    """Return a task whose turn may say what it was about to."""
    task = written(hold_output(running(terms), is_last=is_last))
    verdicts = {wait.id: Verdict.DONE for wait in task.waits}
    return written(transitions.resolve(task, verdicts=verdicts, now=NOW, pace=PACE))


def to_reconcile(terms: Terms = UNREPEATABLE) -> Task:
    """Return a task whose turn was lost after it may have acted."""
    return written(transitions.lose_turn(running(terms), now=NOW + PACE.lease, pace=PACE))


def waiting(terms: Terms = TERMS) -> Task:
    """Return a task whose only input is held until somebody approves it."""
    held = Held(number=1, began=NOW, step=0, wait=replace(MINE, id="input-1-0-0"))
    judged = Judged(through=1, taken=(), held=(held,))
    return written(transitions.start_turn(queued(terms), judged=judged, now=NOW, pace=PACE))


def terminal(terms: Terms = TERMS) -> Task:
    return written(transitions.error(idle(terms), outcome=Code.FATAL_ERROR, now=NOW, pace=PACE))


IN_STATE: dict[State, Callable[..., Task]] = {
    State.IDLE: idle,
    State.QUEUED: queued,
    State.RUNNING: running,
    State.BETWEEN_ATTEMPTS: between_attempts,
    State.SUSPENDED: suspended,
    State.RUNNABLE: runnable,
    State.WAITING: waiting,
    State.TERMINAL: terminal,
}


def with_input(task: Task, *, now: datetime = NOW) -> Task:
    """Return *task* with one more input pending."""
    return written(transitions.accept(task, content=CONTENT, now=now, pace=PACE))
