"""What each transition does to a task, held to every row of the design's second table."""

from dataclasses import replace

import pytest

from tests.support.specimens import (
    AT_HOST,
    CHILD,
    CONTENT,
    DAY,
    NOW,
    OWNER,
    PACE,
    SECOND,
    SIGN_IN,
    UNREPEATABLE,
    birth,
    idle,
    runnable,
    running,
    suspended,
    with_input,
    written,
)
from tests.unit.effects import ROWS
from tests.unit.rows import LEASE_END, Row, fail, finish, lose, resolve
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import InvalidInput, Place, WaitNotFound
from turnkeeper.domain.messages import Commit, Output
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase, Reason
from turnkeeper.domain.transitions import RECONCILE, Change
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind
from turnkeeper.store.writes import minted

FIRST_LEASE = NOW + PACE.lease


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_transition_does_what_its_row_says_and_nothing_else(row: Row) -> None:
    change = row.do()
    before, after = change.before, minted(change)

    assert state_of(after) is row.state
    assert after.idle_expires_at == row.expires
    assert (after.expiry_revision is None) is (row.expires is None)
    assert after.due_at == (row.due or (before and before.due_at))
    assert after.turns == (before.turns if before else 0) + row.new_turns
    assert after.fence == (before.fence if before else 0) + row.new_fences
    assert (after.turn.attempt if after.turn else None) == row.attempt
    assert after.turn is None or after.turn.fence == after.fence
    assert change.wake is row.wake
    assert written_beside(change) == row.writes
    assert change.is_journalled is row.journalled
    assert (after.terminal_reason, after.outcome) == (row.ends or (None, None))
    assert after.waits == () or row.state is State.SUSPENDED


@pytest.mark.clause("TS-6a", "TS-6b")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_revision_is_new_where_its_row_says_so_and_the_write_revision_always(row: Row) -> None:
    change = row.do()
    before, after = change.before, minted(change)
    old, announced = (before.revision, before.expiry_revision) if before else ("", None)

    assert after.write_revision not in {"", before and before.write_revision}
    match row.revision:
        case "+":
            assert after.revision not in {"", old, announced}
        case "E":
            assert after.revision == announced
        case _:
            assert after.revision == old


def written_beside(change: Change) -> str | None:
    """Name the one thing that the change writes beside the task and the journal."""
    names = {Commit: "commit", Output: "output"}
    written = [
        *(["input"] if change.input else []),
        *([names[type(change.entry)]] if change.entry else []),
        *(["memo"] if change.memo is not None else []),
        *(["report"] if change.report is not None else []),
        *(["child"] if change.delegation else []),
    ]
    assert len(written) < 2
    return written[0] if written else None


def test_an_input_during_a_turn_touches_nothing_of_the_turn() -> None:
    task = running()

    after = with_input(task, now=NOW + SECOND)

    assert after.turn == task.turn
    assert after.pending == 1
    assert after.due_at == task.due_at


def test_a_heartbeat_moves_the_lease_and_nothing_else() -> None:
    task = running()
    assert task.turn

    after = transitions.heartbeat(task, fence=1, now=NOW + 20 * SECOND, pace=PACE).after

    assert after.turn
    assert after.turn.lease_until == FIRST_LEASE + 20 * SECOND
    assert replace(after.turn, lease_until=task.turn.lease_until) == task.turn
    assert replace(after, turn=task.turn) == task


def test_a_lost_turn_gets_no_new_lease_but_may_still_finish_until_somebody_takes_it_up() -> None:
    lost = written(lose(running()))

    assert transitions.heartbeat(lost, fence=1, now=LEASE_END, pace=PACE).after is lost
    assert state_of(finish(lost, says=True).after) is State.IDLE


def test_an_output_that_was_emitted_before_is_not_emitted_again() -> None:
    once = written(transitions.emit(running(), fence=1, ordinal=1, content=CONTENT, now=NOW, pace=PACE))

    assert transitions.emit(once, fence=1, ordinal=1, content="{}", now=NOW, pace=PACE).after is once


def test_no_output_is_emitted_before_the_one_it_follows() -> None:
    once = written(transitions.emit(running(), fence=1, ordinal=1, content=CONTENT, now=NOW, pace=PACE))

    with pytest.raises(InvalidInput) as refused:
        transitions.emit(once, fence=1, ordinal=3, content=CONTENT, now=NOW, pace=PACE)
    assert refused.value.places == (Place("number", "must be at most 2, the turn's next"),)


def test_what_is_said_last_is_said_whatever_was_said_before() -> None:
    once = written(transitions.emit(running(), fence=1, ordinal=1, content=CONTENT, now=NOW, pace=PACE))

    last = finish(once, says=True).entry

    assert isinstance(last, Output)
    assert last.ordinal == 2


def test_each_failure_waits_longer_until_no_attempt_is_left() -> None:
    pauses, task = [], running()
    for _ in range(2):
        task = written(fail(task))
        assert task.turn
        assert task.turn.retry_at
        pauses.append(task.turn.retry_at - NOW)
        task = written(transitions.start_attempt(task, now=task.turn.retry_at, pace=PACE))

    assert pauses == [2 * SECOND, 8 * SECOND]
    assert fail(task).after.terminal_reason is Reason.ERRORED


@pytest.mark.clause("IO-5")
def test_a_turn_commits_every_input_that_waits_when_it_starts() -> None:
    task = with_input(with_input(idle()))

    change = transitions.start_turn(task, now=NOW, pace=PACE)

    assert isinstance(change.entry, Commit)
    assert change.entry.ranges == ((1, 2),)
    assert change.after.pending == 0
    assert change.after.turn
    assert change.after.turn.inputs == ((1, 2),)


def test_a_lost_turn_that_is_not_safe_to_repeat_waits_a_day_for_its_host() -> None:
    after = lose(running(UNREPEATABLE)).after

    wait = Wait(id=RECONCILE, kind=WaitKind.RECONCILE, since=LEASE_END, deadline=LEASE_END + DAY)
    assert after.waits == (wait,)
    assert after.phase is Phase.PROCESSING


def test_a_reconcile_that_nobody_answered_leaves_the_result_unknown() -> None:
    parked = written(lose(running(UNREPEATABLE)))

    ended = transitions.look(parked, now=parked.due_at, pace=PACE).after

    assert (ended.terminal_reason, ended.outcome) == (Reason.ERRORED, Code.RESULT_STATE_UNKNOWN)


def test_a_resumed_turn_keeps_what_it_said_and_learns_how_its_waits_ended() -> None:
    said = written(transitions.emit(running(), fence=1, ordinal=1, content=CONTENT, now=NOW, pace=PACE))
    parked = written(transitions.suspend(said, fence=1, waits=[CHILD, SIGN_IN], memo="1", now=NOW, pace=PACE))
    free = written(resolve(written(resolve(parked, SIGN_IN)), CHILD))

    turn = transitions.start_attempt(free, now=NOW, pace=PACE).after.turn

    assert turn
    assert (turn.kept, turn.memo_fence, turn.fence) == (1, 1, 2)
    assert turn.resolutions == tuple(
        Resolution(wait_id=wait.id, kind=wait.kind, verdict=Verdict.DONE, at=NOW, child=wait.child)
        for wait in (SIGN_IN, CHILD)
    )


def test_a_turn_repeated_after_a_reconcile_repeats_its_leg_with_all_that_the_leg_began_with() -> None:
    began = written(transitions.start_attempt(runnable(UNREPEATABLE), now=NOW, pace=PACE))
    spoke = written(transitions.emit(began, fence=2, ordinal=1, content=CONTENT, now=NOW, pace=PACE))
    parked = written(transitions.lose_turn(spoke, now=LEASE_END, pace=PACE))
    (reconcile,) = parked.waits
    free = written(resolve(parked, reconcile))

    again = transitions.start_attempt(free, now=LEASE_END, pace=PACE).after.turn

    assert again
    assert (again.outputs, again.kept, again.attempt) == (1, 0, 2)
    assert again.memo_fence == 1
    assert [resolution.wait_id for resolution in again.resolutions] == [AT_HOST.id, RECONCILE]


def test_a_wait_is_resolved_once() -> None:
    task = written(resolve(suspended(CHILD, SIGN_IN), CHILD))

    with pytest.raises(WaitNotFound):
        resolve(task, CHILD)


def test_an_idle_expiry_succeeded_where_the_agent_ever_said_something() -> None:
    spoke = written(finish(running(), says=True))
    assert spoke.idle_expires_at

    ended = transitions.expire(spoke, now=spoke.idle_expires_at, pace=PACE).after

    assert (ended.terminal_reason, ended.outcome) == (Reason.COMPLETED, Code.SUCCESS)


def test_a_task_is_its_creators_for_good() -> None:
    task = transitions.create(birth(), content=CONTENT, now=NOW, pace=PACE).after

    assert (task.responsible_user, task.created_at) == (OWNER, NOW)
    assert running().responsible_user == OWNER
