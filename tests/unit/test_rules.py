"""Which transition may start in which state, and how each other one is refused: the design's first table."""

from collections.abc import Callable
from datetime import datetime

import pytest

from tests.support.specimens import (
    AT_HOST,
    CHILD,
    CONTENT,
    IN_STATE,
    NOW,
    PACE,
    TERMS,
    UNREPEATABLE,
    approved,
    birth,
    hold_output,
    running,
    suspended,
    to_reconcile,
    with_input,
)
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import (
    InputsArePending,
    StaleFence,
    TaskError,
    TaskIsTerminal,
    TurnNotRunnable,
    WaitNotFound,
)
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import Task, Terms, Usage
from turnkeeper.domain.transitions import Answer, Change
from turnkeeper.domain.waits import Verdict

type Attempt = Callable[[Task, datetime], Change]

# What each transition needs besides the task and the time; the fence is the last that the task gave out.
ATTEMPTS: dict[Transition, Attempt] = {
    Transition.ACCEPT: lambda task, now: transitions.accept(task, content=CONTENT, now=now, pace=PACE),
    Transition.START_TURN: lambda task, now: transitions.start_turn(task, now=now, pace=PACE),
    Transition.START_ATTEMPT: lambda task, now: transitions.start_attempt(task, now=now, pace=PACE),
    Transition.HEARTBEAT: lambda task, now: transitions.heartbeat(task, fence=task.fence, now=now, pace=PACE),
    Transition.EMIT: lambda task, now: transitions.emit(
        task, fence=task.fence, ordinal=1, content=CONTENT, now=now, pace=PACE
    ),
    Transition.FINISH: lambda task, now: transitions.finish(
        task, fence=task.fence, output=None, now=now, pace=PACE
    ),
    Transition.FAIL_ATTEMPT: lambda task, now: transitions.fail_attempt(
        task, fence=task.fence, now=now, pace=PACE
    ),
    Transition.LOSE_TURN: lambda task, now: transitions.lose_turn(task, now=now, pace=PACE),
    Transition.REPORT: lambda task, now: transitions.report(
        task, fence=task.fence, usage=Usage(tool_calls=1), now=now, pace=PACE
    ),
    Transition.SUSPEND: lambda task, now: transitions.suspend(
        task, fence=task.fence, waits=[CHILD], memo=None, now=now, pace=PACE
    ),
    Transition.RESOLVE: lambda task, now: transitions.resolve(
        task, verdicts={AT_HOST.id: Verdict.DONE}, now=now, pace=PACE
    ),
    Transition.ANSWER: lambda task, now: transitions.answer(
        task, fence=task.fence, wait_id="another", verdict=Verdict.DONE, now=now, pace=PACE
    ),
    Transition.ATTACH: lambda task, now: transitions.attach(  # noqa: ARG005
        task, fence=task.fence, report="{}", unreached=0
    ),
    Transition.DELEGATE: lambda task, now: transitions.delegate(
        task,
        fence=task.fence,
        call="c",
        body="{}",
        birth=birth(),
        content=CONTENT,
        now=now,
        pace=PACE,
    ),
    Transition.DECIDE: lambda task, now: transitions.decide(
        task, wait_id="input-1-0-0", verdict=Verdict.DONE, now=now, pace=PACE
    ),
    Transition.HOLD_OUTPUT: lambda task, now: hold_output(task, now=now),
    Transition.RELEASE_OUTPUT: lambda task, now: transitions.release_output(
        task, content=CONTENT, now=now, pace=PACE
    ),
    Transition.RECONCILE: lambda task, now: transitions.reconcile(
        task, answer=Answer.REPEAT, now=now, pace=PACE
    ),
    Transition.INTERRUPT: lambda task, now: transitions.interrupt(task, now=now, pace=PACE),
    Transition.COMPLETE: lambda task, now: transitions.complete(
        task, outcome=Code.SUCCESS, discard_pending=True, now=now, pace=PACE
    ),
    Transition.ERROR: lambda task, now: transitions.error(task, outcome=Code.FATAL_ERROR, now=now, pace=PACE),
    Transition.RESTRICT: lambda task, now: transitions.restrict(task, now=now, pace=PACE),
    Transition.EXPIRE: lambda task, now: transitions.expire(task, now=now, pace=PACE),
    Transition.LOOK: lambda task, now: transitions.look(task, now=now, pace=PACE),
}
HOLDS_A_FENCE = [
    Transition.HEARTBEAT,
    Transition.EMIT,
    Transition.FINISH,
    Transition.FAIL_ATTEMPT,
    Transition.REPORT,
    Transition.SUSPEND,
    Transition.ANSWER,
    Transition.DELEGATE,
    Transition.HOLD_OUTPUT,
    Transition.ATTACH,
]

# ok: allowed. turn: TurnNotRunnable. wait: WaitNotFound. end: TaskIsTerminal.
# fence: StaleFence, though it is the task's last.
TABLE = """
                idle   queued  running  between_attempts  suspended  runnable  waiting  terminal
accept          ok     ok      ok       ok                ok         ok        ok       end
start_turn      turn   ok      turn     turn              turn       turn      turn     end
start_attempt   turn   turn    ok       ok                turn       ok        turn     end
heartbeat       fence  fence   ok       ok                fence      fence     fence    end
emit            fence  fence   ok       ok                fence      fence     fence    end
finish          fence  fence   ok       ok                fence      fence     fence    end
fail_attempt    fence  fence   ok       ok                fence      fence     fence    end
lose_turn       turn   turn    ok       turn              turn       turn      turn     end
report          fence  fence   ok       ok                fence      fence     fence    end
suspend         fence  fence   ok       ok                fence      fence     fence    end
answer          fence  fence   ok       ok                wait       wait      fence    end
delegate        fence  fence   ok       ok                fence      fence     fence    end
attach          fence  fence   ok       ok                fence      fence     fence    end
hold_output     fence  fence   ok       ok                fence      fence     fence    end
resolve         wait   wait    wait     wait              ok         wait      wait     end
decide          wait   wait    wait     wait              wait       wait      ok       end
release_output  turn   turn    turn     turn              turn       ok        turn     end
reconcile       wait   wait    wait     wait              ok         wait      wait     end
interrupt       turn   turn    ok       ok                ok         ok        ok       end
complete        ok     ok      ok       ok                ok         ok        ok       end
error           ok     ok      ok       ok                ok         ok        ok       end
restrict        ok     ok      ok       ok                ok         ok        ok       end
expire          ok     turn    turn     turn              turn       turn      turn     end
look            ok     ok      ok       ok                ok         ok        ok       ok
"""
OPEN = [state for state in State if state is not State.TERMINAL]
REFUSALS: dict[str, type[TaskError]] = {
    "turn": TurnNotRunnable,
    "fence": StaleFence,
    "wait": WaitNotFound,
    "end": TaskIsTerminal,
}


def cells() -> list[tuple[Transition, State, str]]:
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    return [
        (Transition(name), State(state), cell)
        for name, *row in rows
        for state, cell in zip(head, row, strict=True)
    ]


CELLS = cells()
ALLOWED = [(transition, state) for transition, state, cell in CELLS if cell == "ok"]
REFUSED = [(transition, state, REFUSALS[cell]) for transition, state, cell in CELLS if cell != "ok"]


def test_the_table_speaks_of_every_transition_in_every_state() -> None:
    assert {(transition, state) for transition, state, _ in CELLS} == {
        (transition, state) for transition in set(Transition) - {Transition.CREATE} for state in State
    }


@pytest.mark.parametrize("state", State)
def test_a_specimen_is_in_the_state_it_is_named_for(state: State) -> None:
    assert state_of(IN_STATE[state]()) is state


@pytest.mark.parametrize(("transition", "state"), ALLOWED)
def test_a_transition_that_the_table_allows_happens(transition: Transition, state: State) -> None:
    ready: dict[Transition, Callable[[], Task]] = {
        Transition.RECONCILE: to_reconcile,
        Transition.RELEASE_OUTPUT: approved,
    }
    task = ready.get(transition, IN_STATE[state])()

    change = ATTEMPTS[transition](task, NOW + PACE.lease)

    assert change.before is task
    assert change.transition is transition or transition is Transition.LOOK


@pytest.mark.parametrize(("transition", "state", "refusal"), REFUSED)
def test_a_transition_that_the_table_does_not_allow_is_refused_by_its_fact(
    transition: Transition, state: State, refusal: type[TaskError]
) -> None:
    task = IN_STATE[state]()

    with pytest.raises(refusal) as refused:
        ATTEMPTS[transition](task, NOW + PACE.lease)
    assert type(refused.value) is refusal


@pytest.mark.parametrize("state", State)
def test_nothing_creates_a_task_that_is_there(state: State) -> None:
    with pytest.raises((TaskIsTerminal, TurnNotRunnable)):
        require(IN_STATE[state](), Transition.CREATE)


@pytest.mark.parametrize("transition", HOLDS_A_FENCE)
@pytest.mark.parametrize("state", OPEN)
@pytest.mark.parametrize("off_by", [-1, 1])
def test_a_worker_under_another_fence_changes_nothing(
    transition: Transition, state: State, off_by: int
) -> None:
    task = IN_STATE[state]()

    with pytest.raises(StaleFence) as refused:
        require(task, transition, fence=task.fence + off_by)
    assert refused.value.fence == task.fence + off_by


@pytest.mark.parametrize("transition", HOLDS_A_FENCE)
def test_a_worker_with_an_old_fence_learns_that_the_task_has_ended_first(transition: Transition) -> None:
    with pytest.raises(TaskIsTerminal):
        require(IN_STATE[State.TERMINAL](), transition, fence=-1)


def test_a_retry_does_not_start_before_its_back_off_is_over() -> None:
    task = IN_STATE[State.RUNNING]()
    failed = transitions.fail_attempt(task, fence=task.fence, now=NOW, pace=PACE).after
    assert failed.turn
    assert failed.turn.retry_at

    with pytest.raises(TurnNotRunnable):
        transitions.start_attempt(failed, now=failed.turn.retry_at - PACE.lease.resolution, pace=PACE)
    assert transitions.start_attempt(failed, now=failed.turn.retry_at, pace=PACE).is_change


@pytest.mark.parametrize("terms", [TERMS, UNREPEATABLE], ids=["repeat safe", "repeat unsafe"])
def test_a_turn_is_not_taken_over_before_its_lease_is_over(terms: Terms) -> None:
    task = running(terms)

    with pytest.raises(TurnNotRunnable):
        transitions.start_attempt(task, now=NOW + PACE.lease - PACE.lease.resolution, pace=PACE)
    assert transitions.start_attempt(task, now=NOW + PACE.lease, pace=PACE).is_change


def test_a_turn_that_waits_for_something_else_is_not_to_be_reconciled() -> None:
    with pytest.raises(WaitNotFound):
        transitions.reconcile(suspended(), answer=Answer.DONE, now=NOW, pace=PACE)


def test_a_turn_is_not_lost_before_its_lease_is_over() -> None:
    task = IN_STATE[State.RUNNING]()

    with pytest.raises(TurnNotRunnable):
        transitions.lose_turn(task, now=NOW + PACE.lease - PACE.lease.resolution, pace=PACE)


def test_a_task_does_not_expire_before_the_instant_it_announced() -> None:
    task = IN_STATE[State.IDLE]()
    assert task.idle_expires_at

    early = transitions.expire(task, now=task.idle_expires_at - PACE.lease.resolution, pace=PACE)

    assert early.after is task


@pytest.mark.parametrize("state", OPEN)
def test_completing_is_refused_while_inputs_wait_unless_they_are_to_be_discarded(state: State) -> None:
    task = with_input(with_input(IN_STATE[state]()))
    waiting = task.pending

    with pytest.raises(InputsArePending) as refused:
        transitions.complete(task, outcome=Code.SUCCESS, now=NOW, pace=PACE)
    assert refused.value.count == waiting
    assert transitions.complete(
        task, outcome=Code.SUCCESS, discard_pending=True, now=NOW, pace=PACE
    ).after.is_terminal


def test_a_new_task_needs_no_state_to_come_from() -> None:
    change = transitions.create(birth(), content=None, now=NOW, pace=PACE)

    assert change.before is None
    assert state_of(change.after) is State.IDLE
