"""A glance at a task tells what the whole task does, and asks for no more of its item than that takes."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given

from tests.support import specimens
from tests.support.projection import projected
from tests.support.strategies import tasks
from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.primary import lifecycle_phase, primary_code
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.standing import Glance
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Task
from turnkeeper.edge.answers import agent_status
from turnkeeper.service.poll import poll_after
from turnkeeper.store.items import task_to_item
from turnkeeper.store.standing import GLANCE, SCHEMA, glance
from turnkeeper.store.wire import item_from_wire, item_to_wire

LATER = [timedelta(0), timedelta(minutes=1), timedelta(days=8), timedelta(days=200)]


def glanced(task: Task) -> Glance:
    """What a poll makes of the part of the task's item that it asks for."""
    return glance(item_from_wire(projected(item_to_wire(task_to_item(task)), GLANCE)))


def told(task: Task | Glance) -> Mapping[str, Any]:
    """All that anybody is told who looks."""
    code = primary_code(task)
    return {
        "status": status_object(task),
        "code": code,
        "phase": lifecycle_phase(task, code),
        "state": state_of(task),
        "header": agent_status(task),
        "revision": task.revision,
        "ends": [
            (
                poll_after(task, task.due_at + by),
                task.is_expired(task.due_at + by),
                task.is_gone(task.due_at + by),
            )
            for by in LATER
        ],
    }


@given(tasks)
def test_a_glance_tells_what_the_whole_task_does(task: Task) -> None:
    assert told(glanced(task)) == told(task)


@pytest.mark.parametrize("state", State)
def test_so_it_does_in_every_state(state: State) -> None:
    task = specimens.IN_STATE[state]()

    assert state_of(glanced(task)) is state
    assert told(glanced(task)) == told(task)


def test_a_glance_reads_less_than_half_of_the_attributes_of_a_task_at_work() -> None:
    item = item_to_wire(task_to_item(specimens.running()))

    assert attributes(projected(item, GLANCE)) * 2 < attributes(item)


def test_a_task_that_a_newer_version_wrote_is_left_alone() -> None:
    item = task_to_item(specimens.idle()) | {"schema": SCHEMA + 1, "waits": "in a form to come"}

    with pytest.raises(StoreIsUnavailable):
        glance(item)


def attributes(item: Mapping[str, Any]) -> int:
    """How many values the SDK parses one by one, those inside of maps too."""
    return sum(1 + (attributes(value["M"]) if "M" in value else 0) for value in item.values())
