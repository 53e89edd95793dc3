"""Every two transitions that may start from one state, at once, by two who saw the same: both are told the truth."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

import pytest

from tests.faults.crowd import at_once
from tests.faults.extent import some
from tests.faults.healing import assert_ended_for_good
from tests.faults.history import BEGINNING, Seen, wrong
from tests.faults.moves import ARRANGED, Arrange, moves
from tests.faults.soundness import assert_sound
from tests.faults.victims import OURS
from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import StoreIsBusy, TaskError
from turnkeeper.domain.rules import ALLOWED_FROM, State, Transition, state_of
from turnkeeper.domain.transitions import Change
from turnkeeper.service.change import apply
from turnkeeper.store.wire import item_to_wire

STATES = [
    pytest.param(state, arrange, held, id=f"{state}-{arrange.__name__.strip('_')}{'-held' * held}")
    for state, arrangements in ARRANGED.items()
    for arrange in arrangements
    for held in ((False, True) if state not in {State.IDLE, State.WAITING} else (state is State.WAITING,))
]
DONE_WITHOUT_A_CHANGE = frozenset(
    {
        # Nothing is due in most states; who lost a turn gets no new lease; and a word that was heard is heard again.
        *((Transition.LOOK, state) for state in State),
        (Transition.HEARTBEAT, State.BETWEEN_ATTEMPTS),
        (Transition.ANSWER, State.RUNNABLE),
    }
)


def allowed_from(state: State) -> list[Transition]:
    """What the table lets start there, in its order."""
    return [transition for transition in Transition if state in ALLOWED_FROM[transition]]


@dataclass
class Again:
    """A task that can be laid down again and again, as it was arranged once, for two processes."""

    lab: Laboratory
    task_id: str

    def __post_init__(self) -> None:
        self.items = [item_to_wire(item) for item in self.lab.everything().values()]
        self.clients = [self.lab.engine.client("dynamodb", attempts=OURS) for _ in range(2)]

    def laid(self) -> tuple[Laboratory, list[Laboratory]]:
        """A table of its own with the task, and two processes on it."""
        lab = self._on("")
        for start in range(0, len(self.items), 25):
            puts = [{"PutRequest": {"Item": item}} for item in self.items[start : start + 25]]
            lab.dynamodb.batch_write_item(RequestItems={lab.table: puts})
        return lab, [self._on(lab.table, client) for client in self.clients]

    def _on(self, table: str, client: Any = None) -> Laboratory:
        return Laboratory(
            self.lab.engine,
            clock=self.lab.clock,
            dynamodb=client or self.lab.dynamodb,
            sqs=self.lab.sqs,
            table=table,
            queue_url=self.lab.queue_url,
            host_urls=self.lab.host_urls,
            agents=self.lab.agents,
        )


def made(lab: Laboratory, task_id: str, transition: Transition, who: str) -> Callable[[], Change]:
    """*who* makes the transition, having seen the task as it is now."""
    task = lab.stored(task_id)
    return partial(apply, lab.runtime, task, moves(task, who)[transition], actor=who)


def test_every_transition_of_the_table_has_a_move_that_succeeds_from_every_state_that_allows_it(
    moto_lab: Laboratory,
) -> None:
    tried = set[tuple[Transition, State]]()
    for state, arrangements in ARRANGED.items():
        for arrange in arrangements:
            for held in (False, True):
                lab = Laboratory(moto_lab.engine, dynamodb=moto_lab.dynamodb, sqs=moto_lab.sqs)
                task = lab.stored(arrange(lab, held))
                assert state_of(task) is state
                lab.clock.forward(seconds=0.5)
                tried |= {(name, state) for name in succeeding(lab, task.id)}

    table = {(name, state) for name, states in ALLOWED_FROM.items() for state in states}
    assert table - tried - DONE_WITHOUT_A_CHANGE == set()


def succeeding(lab: Laboratory, task_id: str) -> Iterator[Transition]:
    """The transitions that change the task as it is, were they made alone."""
    task = lab.stored(task_id)
    for transition, move in moves(task, "a").items():
        try:
            if move(task, lab.clock.now).is_change:
                yield transition
        except TaskError:
            continue


def race(again: Again, one: Transition, other: Transition) -> None:
    """Both are made at once by two who saw the same; what both were told is true, and the task is whole."""
    lab, processes = again.laid()
    before = lab.stored(again.task_id)
    jobs = [
        made(process, again.task_id, transition, who)
        for process, transition, who in zip(processes, (one, other), "ab", strict=True)
    ]

    told = at_once(jobs)

    task = lab.stored(again.task_id)
    assert_sound(lab, again.task_id)
    changes = [answer for answer in told if isinstance(answer, Change) and answer.is_change]
    assert not any(isinstance(answer, StoreIsBusy) for answer in told)
    written = {change.after.write_revision for change in changes}
    entries = {entry["write_revision"]: entry for entry in lab.journal(again.task_id)[before.log_number :]}
    assert {change.after.write_revision for change in changes if change.is_journalled} <= entries.keys()
    assert len(written) == len(changes)
    # Who comes past the announced end writes that, and is then refused what they came for.
    ends = [revision for revision in entries if revision not in written]
    assert [entries[revision]["transition"] for revision in ends] == [Transition.EXPIRE] * len(ends)
    history = _history(before.write_revision, changes, ends)
    assert [*wrong(history, latest=task.write_revision)] == []
    if task.is_terminal:
        assert_ended_for_good(lab, again.task_id)
    lab.dynamodb.delete_table(TableName=lab.table)


def _history(first: str, changes: list[Change], ends: list[str]) -> Iterator[Seen]:
    """What was written, in whatever order; nobody looked at a clock."""
    yield Seen(who="arranged", began=0, ended=1, value=first, replaced=BEGINNING)
    for end in ends:
        yield Seen(who=Transition.EXPIRE, began=2, ended=3, value=end, replaced=first, is_end=True)
    for change in changes:
        replaced = change.before.write_revision if change.before else BEGINNING
        yield Seen(
            who=change.transition,
            began=2,
            ended=3,
            value=change.after.write_revision,
            replaced=replaced,
            is_end=change.after.is_terminal,
        )


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("state", "arrange", "held"), STATES)
def test_any_two_transitions_from_one_state_at_once_leave_one_order_and_a_whole_task(
    state: State,
    arrange: Arrange,
    emulated_lab: Laboratory,
    subtests: pytest.Subtests,
    *,
    held: bool,
) -> None:
    again = Again(emulated_lab, arrange(emulated_lab, held))
    assert state_of(emulated_lab.stored(again.task_id)) is state
    both = list(combinations_with_replacement(allowed_from(state), 2))
    for one, other in some(both, each=12):
        with subtests.test(one=one.value, other=other.value):
            race(again, one, other)
