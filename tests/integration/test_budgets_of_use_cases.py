"""No use case costs more than it may in calls, items and units by AWS's rules; none less, unless the list says so."""

from typing import Any

import pytest

from tests.support.engines import Engine
from tests.support.gateway import Gateway
from tests.support.laboratory import Laboratory
from tests.support.use_cases import USE_CASES
from turnkeeper import settings


@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_costs_what_it_may(engine: Engine, name: str) -> None:
    case = USE_CASES[name]

    cost = case.cost(engine)

    assert tuple(sorted(cost.calls)) == case.calls
    assert (cost.used["read_unit"], cost.used["write_unit"]) == (case.read, case.written)


def test_a_poll_through_its_function_is_one_read_changed_or_not(api: Gateway, live_lab: Laboratory) -> None:
    task_id = live_lab.create("hi").task.id
    first = api.get(f"/v1/tasks/{task_id}")
    made: list[str] = []
    client: Any = settings.runtime(wakes=False).table.client
    events = client.meta.events

    def hear(model: Any, **_: Any) -> None:
        made.append(model.name)

    events.register("before-call.dynamodb", hear)
    known = api.get(f"/v1/tasks/{task_id}", headers={"If-None-Match": first.headers["ETag"]})
    changed = api.get(f"/v1/tasks/{task_id}", headers={"If-None-Match": '"another"'})
    events.unregister("before-call.dynamodb", hear)

    assert (known.status, changed.status) == (304, 200)
    assert made == ["GetItem", "GetItem"]
