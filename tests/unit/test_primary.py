"""The one code that says where a task stands: the mapping of the specification, row by row."""

from dataclasses import replace

import pytest

from tests.support.specimens import (
    CHILD,
    CONTENT,
    IN_STATE,
    NOW,
    OWNER,
    PACE,
    SIGN_IN,
    approved,
    idle,
    running,
    suspended,
    terminal,
    with_input,
)
from turnkeeper.asc.registry import Code
from turnkeeper.asc.vocabulary import Phase
from turnkeeper.domain import transitions
from turnkeeper.domain.primary import lifecycle_phase, primary_code, public_code
from turnkeeper.domain.rules import State
from turnkeeper.domain.waits import Wait, WaitKind

REVIEW = Wait(id="r", kind=WaitKind.REVIEW, since=NOW, deadline=CHILD.deadline, reviewer=OWNER)
ANOTHERS = replace(REVIEW, id="o", reviewer="somebody-else")
HOST = replace(CHILD, id="h", kind=WaitKind.HOST)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (State.IDLE, Code.HUMAN_INPUT_REQUIRED),
        (State.QUEUED, Code.ACCEPTED),
        (State.RUNNING, Code.RUNNING),
        (State.BETWEEN_ATTEMPTS, Code.RETRY_SCHEDULED),
        (State.SUSPENDED, Code.WAITING_DEPENDENCY),
        (State.RUNNABLE, Code.RUNNING),
        (State.TERMINAL, Code.FATAL_ERROR),
    ],
)
def test_each_state_has_its_code(state: State, code: Code) -> None:
    assert primary_code(IN_STATE[state]()) is code


@pytest.mark.clause("INV-1")
@pytest.mark.parametrize(
    ("waits", "code"),
    [
        ([SIGN_IN], Code.AUTHENTICATION_REQUIRED),
        ([REVIEW], Code.HUMAN_APPROVAL_REQUIRED),
        ([CHILD], Code.WAITING_DEPENDENCY),
        ([HOST], Code.WAITING_DEPENDENCY),
        ([ANOTHERS], Code.WAITING_DEPENDENCY),
        ([CHILD, REVIEW, SIGN_IN], Code.AUTHENTICATION_REQUIRED),
        ([CHILD, REVIEW, ANOTHERS], Code.HUMAN_APPROVAL_REQUIRED),
    ],
)
def test_of_several_waits_the_users_sign_in_comes_first_then_their_review(
    waits: list[Wait], code: Code
) -> None:
    assert primary_code(suspended(*waits)) is code


def test_a_restricted_task_was_blocked_by_a_guardrail() -> None:
    after = transitions.restrict(running(), now=NOW, pace=PACE).after

    assert primary_code(after) is Code.GUARDRAIL_BLOCKED


def test_a_completed_task_has_the_outcome_that_was_declared() -> None:
    after = transitions.complete(idle(), outcome=Code.CANCELLED, now=NOW, pace=PACE).after

    assert primary_code(after) is Code.CANCELLED


def test_an_ended_task_without_a_declared_outcome_is_a_fatal_error() -> None:
    assert primary_code(replace(terminal(), outcome=None)) is Code.FATAL_ERROR


def test_input_that_waits_behind_a_turn_does_not_hide_the_turn() -> None:
    assert primary_code(with_input(running())) is Code.RUNNING


@pytest.mark.clause("MOD-1")
@pytest.mark.parametrize(
    ("state", "code", "phase"),
    [
        (State.IDLE, Code.HUMAN_INPUT_REQUIRED, Phase.WAITING),
        (State.QUEUED, Code.ACCEPTED, Phase.QUEUED),
        (State.RUNNING, Code.RUNNING, Phase.EXECUTING),
        (State.BETWEEN_ATTEMPTS, Code.RUNNING, Phase.EXECUTING),
        (State.SUSPENDED, Code.RUNNING, Phase.EXECUTING),
        (State.RUNNABLE, Code.RUNNING, Phase.EXECUTING),
        (State.TERMINAL, Code.FATAL_ERROR, Phase.FINISHED),
    ],
)
def test_the_public_sees_attempts_and_waits_that_are_not_its_own_as_work(
    state: State, code: Code, phase: Phase
) -> None:
    task = IN_STATE[state]()

    assert (public_code(task), lifecycle_phase(task, public_code(task))) == (code, phase)


@pytest.mark.parametrize(
    ("state", "phase"), [(State.SUSPENDED, Phase.WAITING), (State.BETWEEN_ATTEMPTS, Phase.EXECUTING)]
)
def test_insiders_see_that_it_waits(state: State, phase: Phase) -> None:
    task = IN_STATE[state]()

    assert lifecycle_phase(task, primary_code(task)) == phase


def test_a_turn_that_goes_on_after_an_approved_output_runs_and_is_no_retry() -> None:
    after = transitions.release_output(approved(), content=CONTENT, now=NOW, pace=PACE).after

    assert after.turn
    assert (primary_code(after), after.turn.attempt) == (Code.RUNNING, 0)
    begun = transitions.start_attempt(after, now=NOW, pace=PACE).after
    assert begun.turn
    assert (begun.turn.attempt, begun.turn.changed_at) == (1, None)
