"""A poll reads the task item: it stays small, whatever a task has been through."""

from dataclasses import replace

import pytest

from tests.support.capacity import item_size, read_units
from tests.support.specimens import (
    CONTENT,
    DAY,
    IN_STATE,
    NOW,
    PACE,
    SECOND,
    TERMS,
    running,
    with_input,
    written,
)
from turnkeeper.domain import transitions
from turnkeeper.domain.judging import MOST_HELD, Held, has_room
from turnkeeper.domain.reviews import Decision
from turnkeeper.domain.rules import State
from turnkeeper.domain.task import Runs, Task, Terms
from turnkeeper.domain.waits import EARLY_BYTES, MOST_WAITS, NAMES_BYTES, Verdict, Wait, WaitKind
from turnkeeper.store.items import task_to_item
from turnkeeper.store.wire import item_to_wire

KB = 1_024
MANY = 1_234_567
AT_A_HOST = replace(TERMS, owner="123456789012/AROAEXAMPLE1234567890", runs=Runs.EXTERNAL)
IN_A_LAMBDA = replace(
    AT_A_HOST,
    runs=Runs.LAMBDA,
    function="arn:aws:lambda:eu-central-1:123456789012:function:my-agent",
)


def size(task: Task) -> int:
    return item_size(item_to_wire(task_to_item(task)))


def well_travelled(task: Task) -> Task:
    """Return *task* as it would be after a long life, its turn begun at once when somebody came."""
    turn = task.turn
    return replace(
        task,
        turn=replace(turn, started_at=turn.committed_at) if turn else None,
        turns=MANY,
        received=MANY,
        committed=MANY,
        outputs=MANY,
        log_number=MANY,
        last_committed_at=NOW,
        last_received_at=NOW,
    )


def waiting_for_all_it_may(kind: WaitKind) -> Task:
    task = replace(well_travelled(running()), agent="a" * 64, responsible_user="u" * 255)
    each = "n" * (NAMES_BYTES // MOST_WAITS // 2)
    waits = [
        Wait(
            id=f"{place:02}{each[2:]}",
            kind=kind,
            since=NOW,
            deadline=NOW + 7 * DAY,
            provider=each if kind is WaitKind.AUTHORISATION else None,
            needed_at=NOW if kind is WaitKind.AUTHORISATION else None,
            reviewer=each if kind is WaitKind.REVIEW else None,
            child=each if kind is WaitKind.CHILD else None,
        )
        for place in range(MOST_WAITS)
    ]
    change = transitions.suspend(
        task, fence=task.fence, waits=waits, memo='"memo"', now=NOW + SECOND / 7, pace=PACE
    )
    return written(change)


@pytest.mark.parametrize("terms", [TERMS, AT_A_HOST, IN_A_LAMBDA], ids=lambda terms: terms.runs)
@pytest.mark.parametrize("state", [state for state in State if state not in {State.SUSPENDED, State.WAITING}])
def test_a_task_is_at_most_1_kb_as_a_rule(state: State, terms: Terms) -> None:
    task = IN_STATE[state](terms)
    task = with_input(task) if state is not State.TERMINAL else task

    assert size(well_travelled(task)) <= KB


def test_200_pending_inputs_weigh_little_more_than_one() -> None:
    one = task = with_input(running())
    for _ in range(199):
        task = with_input(task)

    assert size(task) - size(one) <= 4


@pytest.mark.parametrize("kind", [WaitKind.AUTHORISATION, WaitKind.REVIEW, WaitKind.CHILD])
def test_a_task_that_waits_for_all_it_may_is_at_most_4_kb(kind: WaitKind) -> None:
    task = waiting_for_all_it_may(kind)

    assert len(task.waits) == 16
    assert size(task) <= 4 * KB
    assert read_units([size(task)], consistent=True) == 1


def test_it_stays_so_while_its_waits_become_resolutions() -> None:
    task = waiting_for_all_it_may(WaitKind.REVIEW)
    for wait in task.waits:
        task = written(
            transitions.resolve(
                task,
                verdicts={wait.id: Verdict.TIMED_OUT},
                decision=Decision(review="r" * 16, verdict=Verdict.DONE, comment="", at=NOW),
                now=NOW,
                pace=PACE,
            )
        )
        assert size(task) <= 4 * KB

    assert task.turn
    assert len(task.turn.resolutions) == 16
    task = written(transitions.start_attempt(task, now=NOW, pace=PACE))
    assert size(task) <= 4 * KB
    for place in range(MOST_WAITS):
        wait_id = f"{place:02}".ljust(EARLY_BYTES // MOST_WAITS, "e")
        early = transitions.answer(
            task, fence=task.fence, wait_id=wait_id, verdict=Verdict.DENIED, now=NOW, pace=PACE
        )
        task = written(early)
    assert size(task) <= 4 * KB


def test_outputs_do_not_make_it_grow() -> None:
    task = running()
    sizes = []
    for ordinal in range(1, 10):
        said = transitions.emit(task, fence=task.fence, ordinal=ordinal, content=CONTENT, now=NOW, pace=PACE)
        task = written(said)
        sizes.append(size(replace(task, log_number=MANY)))

    assert set(sizes) == {sizes[0]}


@pytest.mark.parametrize("name", ["r" * 36, "r" * 128])
def test_all_the_inputs_that_may_be_held_add_at_most_2_5_kb(name: str) -> None:
    task = waiting_for_all_it_may(WaitKind.REVIEW)
    held: list[Held] = []
    while has_room(held):
        review = Wait(
            id=f"input-{MANY}-15-0",
            kind=WaitKind.REVIEW,
            since=NOW,
            deadline=NOW + 7 * DAY,
            reviewer=name,
        )
        held.append(Held(number=MANY, began=NOW, turn=MANY, inputs=200, outputs=200, step=15, wait=review))

    assert 7 <= len(held) <= MOST_HELD
    assert size(replace(task, held=tuple(held))) - size(task) <= 2.5 * KB
