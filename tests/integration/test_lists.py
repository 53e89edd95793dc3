"""My tasks: newest first, page by page, mine alone, and past their end as ended."""

import pytest

from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Phase, Reason
from turnkeeper.service.cursors import Place, write_place
from turnkeeper.service.tasks import Listing, list_tasks


def page(
    lab: Laboratory,
    *,
    caller: str = ALICE,
    phase: Phase | None = None,
    agent: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Listing:
    return list_tasks(lab.runtime, caller=caller, phase=phase, agent=agent, limit=limit, cursor=cursor)


def pages(
    lab: Laboratory, *, limit: int, caller: str = ALICE, phase: Phase | None = None, agent: str | None = None
) -> list[list[str]]:
    """The ids on each page, until there is no next one."""
    found, cursor = [], None
    while True:
        got = page(lab, caller=caller, phase=phase, agent=agent, limit=limit, cursor=cursor)
        found.append([task.id for task in got.tasks])
        if (cursor := got.next) is None:
            return found


def create(
    lab: Laboratory, count: int, *, caller: str = ALICE, agent: str = "echo", step: float = 1
) -> list[str]:
    made = []
    for _ in range(count):
        lab.clock.forward(seconds=step)
        made.append(lab.create(caller=caller, agent=agent).task.id)
    return made


def flat(found: list[list[str]]) -> list[str]:
    return [task_id for ids in found for task_id in ids]


def test_my_tasks_are_listed_newest_first_and_nobody_elses(lab: Laboratory) -> None:
    mine = create(lab, 3)
    create(lab, 2, caller=BOB)

    assert [task.id for task in page(lab).tasks] == mine[::-1]
    assert page(lab).next is None
    assert page(lab, caller="nobody").tasks == ()


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
def test_pages_cover_all_my_tasks_exactly_once(lab: Laboratory, limit: int) -> None:
    mine = create(lab, 7)

    found = pages(lab, limit=limit)

    assert flat(found) == mine[::-1]
    assert all(len(ids) <= limit for ids in found)


def test_tasks_of_the_same_instant_are_all_listed_once(lab: Laboratory) -> None:
    mine = create(lab, 6, step=0)

    assert sorted(flat(pages(lab, limit=2))) == sorted(mine)


def test_a_task_created_meanwhile_disturbs_no_page(lab: Laboratory) -> None:
    mine = create(lab, 4)
    first = page(lab, limit=2)

    create(lab, 1)
    second = page(lab, limit=2, cursor=first.next)

    assert [task.id for task in (*first.tasks, *second.tasks)] == mine[::-1]


def test_a_filter_by_phase_and_by_agent_keeps_only_those(lab: Laboratory) -> None:
    idle = create(lab, 2)
    mayflies = create(lab, 1, agent="mayfly")
    busy = lab.create("hi").task.id

    assert flat(pages(lab, limit=10, phase=Phase.IDLE)) == [*mayflies, *idle[::-1]]
    assert flat(pages(lab, limit=10, phase=Phase.PROCESSING)) == [busy]
    assert flat(pages(lab, limit=10, agent="mayfly")) == mayflies
    assert flat(pages(lab, limit=10, agent="echo", phase=Phase.IDLE)) == idle[::-1]
    assert flat(pages(lab, limit=10, agent="nobody")) == []


def test_a_filtered_page_may_be_empty_and_still_lead_on(lab: Laboratory) -> None:
    (wanted,) = create(lab, 1, agent="mayfly")
    create(lab, 4)

    found = pages(lab, limit=2, agent="mayfly")

    assert found[:2] == [[], []]
    assert flat(found) == [wanted]


@pytest.mark.clause("IN-2a")
def test_a_cursor_carries_a_place_and_not_whose_list(lab: Laboratory) -> None:
    alices, bobs = [], []
    for _ in range(3):
        bobs += create(lab, 1, caller=BOB)
        alices += create(lab, 1)
    cursor = page(lab, limit=1).next
    assert cursor is not None

    seen_by_bob = page(lab, caller=BOB, cursor=cursor)

    assert [task.id for task in seen_by_bob.tasks] == bobs[::-1]
    assert {task.responsible_user for task in seen_by_bob.tasks} == {BOB}


def test_a_cursor_for_something_else_is_malformed(lab: Laboratory) -> None:
    create(lab, 1)

    with pytest.raises(MalformedRequest):
        page(lab, cursor=write_place(Place(at=lab.clock.now)))
    with pytest.raises(MalformedRequest):
        page(lab, cursor="")


@pytest.mark.clause("TS-8c")
def test_a_task_past_its_end_is_listed_as_ended_and_nothing_is_written(lab: Laboratory) -> None:
    task = lab.create(agent="mayfly").task
    lab.clock.forward(seconds=1)
    other = lab.create().task
    assert task.idle_expires_at
    lab.clock.now = task.idle_expires_at
    before = lab.everything()

    (young, old) = page(lab).tasks

    assert status_object(old)["status"] == {
        "phase": "terminal",
        "terminal_reason": "completed",
        "revision": task.expiry_revision,
        "notifications": [],
        "idle_expires_at": None,
    }
    assert young == other
    assert lab.everything() == before


@pytest.mark.clause("TS-8c")
def test_a_task_past_its_end_is_filtered_as_ended(lab: Laboratory) -> None:
    (mayfly,) = create(lab, 1, agent="mayfly")
    (echo,) = create(lab, 1)
    lab.clock.forward(seconds=3.999999)
    assert flat(pages(lab, limit=10, phase=Phase.IDLE)) == [echo, mayfly]

    lab.clock.forward(seconds=0.000001)

    assert flat(pages(lab, limit=10, phase=Phase.IDLE)) == [echo]
    assert flat(pages(lab, limit=10, phase=Phase.TERMINAL)) == [mayfly]


def test_the_end_that_a_list_showed_is_the_end_that_is_written_later(lab: Laboratory) -> None:
    lab.create(agent="mayfly")
    lab.clock.forward(seconds=5)
    (listed,) = page(lab).tasks

    lab.clock.forward(seconds=60)
    polled = lab.poll(listed.id)

    assert status_object(polled) == status_object(listed)
    assert polled.terminal_reason is Reason.COMPLETED
