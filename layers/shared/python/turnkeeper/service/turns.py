"""Taking a turn: a wake-up says "look at this task", and whoever comes starts, retries or resumes what is runnable.

A worker that was taken over, or whose task has ended, stops without a word; everything it wrote carried its fence.
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from turnkeeper import traces
from turnkeeper.agents.protocol import (
    Agent,
    Delegate,
    Message,
    NotAsked,
    OutcomeUnknown,
    Pause,
    Step,
    Steps,
    TurnView,
)
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import (
    CallReused,
    InvalidInput,
    StaleFence,
    TaskIsTerminal,
    TaskNotFound,
    TurnNotRunnable,
)
from turnkeeper.domain.rules import HELD, State, state_of
from turnkeeper.domain.task import Runs, Task, Turn
from turnkeeper.domain.transitions import Change
from turnkeeper.service import messages, outgoing
from turnkeeper.service.beginning import begin
from turnkeeper.service.change import apply
from turnkeeper.service.cursors import Place
from turnkeeper.service.delegation import Call, child_of, delegate
from turnkeeper.service.hold import ACTOR, AFTER_LEASE, Hide, Hold
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.steps import AgentMisbehaved, checked, content, memo_text
from turnkeeper.service.waiting import resolutions, settle, suspension
from turnkeeper.store import tasks, transcript

log = logging.getLogger(__name__)


class ComeBackLater(Exception):
    """The attempt is over and there is another: the wake-up was hidden until then, and must not be deleted."""


class AgentFailed(Exception):
    """The agent raised, or gave back something that is no step; the cause is chained."""


def attend(
    runtime: Runtime,
    task_id: str,
    *,
    hide: Hide,
    agent_of: Callable[[Task], Agent],
    trace: str | None = None,
) -> None:
    """Do what the task needs now, if anything; returning means that the wake-up is done with.

    *trace* is X-Ray's header, as the wake-up brought it.

    Raises `ComeBackLater` when the wake-up must come again at the time *hide* was told.
    """
    task = tasks.read(runtime.table, task_id)
    if task is None:
        log.warning("a wake-up names a task that does not exist")
        return
    task = settle(runtime, task, actor=ACTOR)
    if task.terms.runs is Runs.EXTERNAL:
        return
    _postpone_early_retry(runtime, task, hide)
    if not transitions.needs_worker(task, now=runtime.clock()):
        return
    hide(runtime.pace.lease + AFTER_LEASE)
    try:
        begun = apply(runtime, task, begin(runtime, trace=trace), actor=ACTOR).after
    except (TurnNotRunnable, TaskIsTerminal, TaskNotFound):
        return
    if begun.turn is None or state_of(begun) is not State.RUNNING:
        return
    with Hold(runtime, begun, begun.turn, hide) as hold:
        try:
            _take(runtime, hold, begun.turn, agent_of)
        except (StaleFence, TaskIsTerminal):
            log.info("the turn is not ours any more")
        except AgentFailed as failure:
            log.error("the agent failed: %s", traces.line(failure.__cause__))  # noqa: TRY400 - without its words
            _fail(runtime, hold)
        except NotAsked as error:
            log.warning("the agent could not be asked: %s", traces.line(error))
            _fail(runtime, hold, began=False)
        except OutcomeUnknown as error:
            log.warning("nobody can tell what became of the turn: %s", traces.line(error))
            _lose(runtime, hold)


def _postpone_early_retry(runtime: Runtime, task: Task, hide: Hide) -> None:
    if state_of(task) is not State.BETWEEN_ATTEMPTS or task.turn is None or task.turn.retry_at is None:
        return
    early = task.turn.retry_at - runtime.clock()
    if early > timedelta(0):
        hide(early + timedelta(seconds=1))
        raise ComeBackLater


def _take(runtime: Runtime, hold: Hold, turn: Turn, agent_of: Callable[[Task], Agent]) -> None:
    """Run the agent: each step is written before the next is asked for; the last goes with the turn's end."""
    said, answer = turn.kept, None
    view = _view(runtime, hold.task, turn)
    try:
        steps = agent_of(hold.task).run(view)
    except Exception as error:
        raise AgentFailed from error
    try:
        while True:
            step, is_last = _advance(steps, answer)
            answer = None
            if isinstance(step, Pause):
                _suspend(runtime, hold, step)
                return
            if isinstance(step, Delegate):
                answer = _delegate(runtime, hold, step)
                continue
            if is_last:
                break
            if step is not None:
                said += 1
                if not _emit(runtime, hold, said, content(step.text)):
                    return
    finally:
        _close(steps)
    output = content(step.text) if step is not None else None

    hold.write(outgoing.finish(runtime, fence=hold.fence, content=output))


def _advance(steps: Steps, answer: str | None) -> tuple[Step | None, bool]:
    """The agent's next step and whether it was the last; whatever is wrong with it is its failure, not ours."""
    try:
        try:
            # To a generator that has not begun, only None can be sent; plain iterators take nothing at all.
            return checked(next(steps) if answer is None else steps.send(answer)), False
        except StopIteration as done:
            last: Step | None = done.value
            if isinstance(last, Delegate):
                raise AgentMisbehaved("what an agent says last is no delegation; yield that") from None
            return (None if last is None else checked(last)), True
    except (OutcomeUnknown, NotAsked):
        raise
    except Exception as error:
        raise AgentFailed from error


def _close(steps: Steps) -> None:
    """End the agent; what it raises then changes nothing, since its turn has gone on without it."""
    try:
        steps.close()
    except Exception as error:  # noqa: BLE001 - the agent's own code
        log.error("the agent did not end quietly: %s", traces.line(error))  # noqa: TRY400 - without its words


def _emit(runtime: Runtime, hold: Hold, ordinal: int, content: str) -> bool:
    """Say something; whether the turn is ours after that, and does not wait for a review of it."""
    said = hold.write(outgoing.emit(runtime, fence=hold.fence, ordinal=ordinal, content=content)).after
    return state_of(said) in HELD


def _suspend(runtime: Runtime, hold: Hold, pause: Pause) -> None:
    suspend = suspension(runtime, pause.needs, fence=hold.fence, memo=memo_text(pause.memo))
    try:
        suspended = hold.write(suspend).after
    except InvalidInput as error:
        raise AgentFailed from error
    settle(runtime, suspended, actor=ACTOR)


def _delegate(runtime: Runtime, hold: Hold, step: Delegate) -> str:
    call = Call(name=step.call, fence=hold.fence, agent=step.agent, content=content(step.text))
    try:
        return delegate(runtime, call, read=lambda: hold.task, write=lambda _, decide: hold.write(decide)).id
    except (InvalidInput, CallReused) as error:
        raise AgentFailed from error


def _fail(runtime: Runtime, hold: Hold, *, began: bool = True) -> None:
    def fail(current: Task, now: datetime) -> Change:
        return transitions.fail_attempt(current, fence=hold.fence, began=began, now=now, pace=runtime.pace)

    try:
        failed = hold.write(fail).after
    except (StaleFence, TaskIsTerminal):
        return
    if failed.turn is not None and failed.turn.retry_at is not None:
        hold.hide(max(failed.turn.retry_at - runtime.clock(), timedelta(0)))
        raise ComeBackLater


def _lose(runtime: Runtime, hold: Hold) -> None:
    def lose(current: Task, now: datetime) -> Change:
        return transitions.lose_turn(current, fence=hold.fence, now=now, pace=runtime.pace)

    with suppress(StaleFence, TaskIsTerminal):
        hold.write(lose)


def _view(runtime: Runtime, task: Task, turn: Turn) -> TurnView:
    def conversation() -> Iterator[Message]:
        since = Place(pending=task.received)
        for entry, _ in messages.conversation(runtime.table, task, since=since, for_model=True):
            yield json.loads(entry)

    def child(child_id: str) -> Iterator[Message]:
        found = child_of(runtime, task, child_id)
        since = Place(pending=found.received)
        for entry, _ in messages.conversation(runtime.table, found, since=since, for_model=True):
            yield json.loads(entry)

    memo = None if turn.memo_fence is None else transcript.memo(runtime.table, task.id, turn.memo_fence)
    return TurnView(
        task_id=task.id,
        agent=task.agent,
        responsible_user=task.responsible_user,
        number=turn.number,
        fence=turn.fence,
        first_output=turn.kept + 1,
        attempt=turn.attempt,
        inputs=tuple(_inputs(runtime, task, turn)),
        conversation=conversation,
        child=child,
        memo=json.loads(memo) if memo is not None else None,
        resolutions=resolutions(runtime, task),
    )


def _inputs(runtime: Runtime, task: Task, turn: Turn) -> Iterator[Message]:
    """What the turn's inputs say to the agent: nothing of those that a guardrail refused (AG-3)."""
    commit = transcript.commit(runtime.table, task.id, turn.committed_at) if turn.judged else None
    refused = commit.refused if commit else frozenset()
    made = dict(transcript.made(runtime.table, task.id, commit)) if commit else {}
    for first, last in turn.inputs:
        for arrived in transcript.inputs(runtime.table, task.id, first=first, last=last):
            if arrived.number not in refused:
                yield json.loads(made.get(arrived.number, arrived.content))
