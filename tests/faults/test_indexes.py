"""An index that is behind, and pages that end where they may: nothing is shown twice, skipped, or done on its word."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.faults.agents import HOST, Asker, Talker, enlist
from tests.faults.healing import deliver, sweep_until_quiet
from tests.faults.indexes import behind, exact, in_pages
from tests.faults.scenes import forgotten, running
from tests.faults.soundness import assert_sound
from tests.support.laboratory import ALICE, BOB, Laboratory, texts
from turnkeeper.domain.task import Phase
from turnkeeper.service.grants import grant
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.reviews import list_reviews
from turnkeeper.service.tasks import list_tasks
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

COUNT = 6

type Cursor = str | None
type Read = Callable[[Laboratory, int, Cursor], tuple[list[str], Cursor]]


def seen_by(lab: Laboratory, client: Any) -> Laboratory:
    """*lab* as a process sees it that has *client*."""
    return Laboratory(
        lab.engine,
        clock=lab.clock,
        dynamodb=client,
        sqs=lab.sqs,
        table=lab.table,
        queue_url=lab.queue_url,
        agents=lab.agents,
    )


def tasks_of(lab: Laboratory, limit: int, cursor: Cursor) -> tuple[list[str], Cursor]:
    found = list_tasks(lab.runtime, caller=ALICE, phase=None, agent=None, limit=limit, cursor=cursor)
    return [task.id for task in found.tasks], found.next


def reviews_of(lab: Laboratory, limit: int, cursor: Cursor) -> tuple[list[str], Cursor]:
    found = list_reviews(lab.runtime, caller=BOB, limit=limit, cursor=cursor)
    return [review.task_id for review in found.reviews], found.next


def calls_of(lab: Laboratory, limit: int, cursor: Cursor) -> tuple[list[str], Cursor]:
    found = list_calls(lab.runtime, caller=ALICE, limit=limit, cursor=cursor)
    return [task.id for task in found.tasks], found.next


def all_of(read: Read, lab: Laboratory, limit: int) -> list[str]:
    """Everything that one sees who follows the pages to their end."""
    found, cursor = read(lab, limit, None)
    for _ in range(3 * COUNT):
        if cursor is None:
            return found
        more, cursor = read(lab, limit, cursor)
        found += more
    raise AssertionError("the pages never end")


def waiting(lab: Laboratory) -> list[str]:
    """Tasks that wait for their user's authorisation and for Bob's decision."""
    ids = []
    for _ in range(COUNT):
        lab.clock.forward(seconds=1)
        ids.append(lab.create("first", agent=enlist(lab, "agent", Asker)).task.id)
    lab.work()
    return ids


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7])
@pytest.mark.parametrize("read", [tasks_of, reviews_of, calls_of], ids=lambda read: read.__name__)
def test_a_list_whose_last_page_is_full_ends_and_shows_each_once(
    moto_lab: Laboratory, read: Read, limit: int
) -> None:
    ids = waiting(moto_lab)
    other = seen_by(moto_lab, exact(moto_lab.dynamodb))

    assert sorted(all_of(read, other, limit)) == sorted(ids)


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 6, 12])
def test_a_conversation_whose_pages_are_full_ends_and_shows_each_once(
    moto_lab: Laboratory, limit: int
) -> None:
    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id
    for text in ("second", "third"):
        moto_lab.work()
        moto_lab.send(task_id, text)
        moto_lab.send(task_id, f"{text} and more")
    whole = moto_lab.conversation(task_id)
    for client in (exact(moto_lab.dynamodb), in_pages(moto_lab.dynamodb, 1)):
        other, found, after = seen_by(moto_lab, client), list[str](), None
        while True:
            page = other.page(task_id, after=after, limit=limit)
            found += page.entries
            after = page.next
            if not page.more:
                break

        assert len(found) == len(set(found)) == len(whole)


def test_an_authorisation_reaches_every_task_whatever_the_pages(moto_lab: Laboratory) -> None:
    ids = waiting(moto_lab)
    other = seen_by(moto_lab, in_pages(moto_lab.dynamodb, 2))

    _, reached = grant(other.runtime, principal=HOST, user=ALICE, provider="calendar", granted_at=None)

    assert reached == len(ids)
    assert all(len(moto_lab.stored(task_id).waits) == 1 for task_id in ids)


def test_a_list_from_an_index_that_is_behind_shows_what_is_there_and_as_it_is(moto_lab: Laboratory) -> None:
    ended, deleted, busy = (moto_lab.create(agent="mayfly").task.id for _ in range(3))
    other = seen_by(moto_lab, behind(moto_lab))
    created = moto_lab.create().task.id
    moto_lab.send(busy, "first")
    moto_lab.clock.forward(seconds=6)
    moto_lab.poll(ended)
    moto_lab.dynamodb.delete_item(TableName=moto_lab.table, Key=item_to_wire(task_key(deleted)))

    found = list_tasks(other.runtime, caller=ALICE, phase=None, agent=None, limit=10, cursor=None)
    phases = {task.id: task.phase for task in found.tasks}

    assert phases == {ended: Phase.TERMINAL, busy: Phase.PROCESSING}
    assert created in all_of(tasks_of, moto_lab, 10)


def past_its_end(lab: Laboratory) -> str:
    task_id = lab.create("first", agent=enlist(lab, "agent", Talker, lifespan="5s")).task.id
    lab.work()
    lab.clock.forward(seconds=5)
    return task_id


def worked(lab: Laboratory, task_id: str) -> None:
    deliver(lab, task_id)


def polled(lab: Laboratory, task_id: str) -> None:
    lab.poll(task_id)


def swept(lab: Laboratory, _task_id: str) -> None:
    lab.sweep()


def gone(lab: Laboratory, task_id: str) -> None:
    lab.dynamodb.delete_item(TableName=lab.table, Key=item_to_wire(task_key(task_id)))


@pytest.mark.parametrize(
    ("arrange", "since"),
    [
        (past_its_end, polled),
        (past_its_end, swept),
        (past_its_end, gone),
        (forgotten, worked),
        (forgotten, swept),
        (running, swept),
    ],
    ids=lambda value: value.__name__,
)
def test_what_an_index_still_says_to_be_due_is_decided_on_the_task_itself(
    moto_lab: Laboratory,
    arrange: Callable[[Laboratory], str],
    since: Callable[[Laboratory, str], None],
) -> None:
    task_id = arrange(moto_lab)
    moto_lab.clock.now = max(moto_lab.clock.now, moto_lab.stored(task_id).due_at)
    other = seen_by(moto_lab, behind(moto_lab))
    since(moto_lab, task_id)
    before = moto_lab.everything()

    looked = other.sweep()

    assert (looked.looked, looked.changed, looked.failed) == (1, 0, 0)
    assert moto_lab.everything() == before


def test_what_an_index_does_not_know_yet_is_done_by_a_later_sweep(moto_lab: Laboratory) -> None:
    other = seen_by(moto_lab, behind(moto_lab))
    task_id = forgotten(moto_lab)

    assert other.sweep().looked == 0
    assert sweep_until_quiet(moto_lab, task_id, most=1).phase is Phase.IDLE
    assert_sound(moto_lab, task_id, accepted=["first"])
    assert [text for kind, text in texts(moto_lab.conversation(task_id)) if kind == "output"] == [
        "turn 1 says 1",
        "turn 1 says 2",
    ]


def test_a_reader_of_an_index_that_is_behind_writes_as_of_now(moto_lab: Laboratory) -> None:
    task_id = past_its_end(moto_lab)
    other = seen_by(moto_lab, behind(moto_lab))
    announced = moto_lab.stored(task_id).expiry_revision

    other.sweep()

    ended = moto_lab.stored(task_id)
    assert replace(ended, revision="") != ended
    assert (ended.is_terminal, ended.revision) == (True, announced)
    assert_sound(moto_lab, task_id, accepted=["first"])
