"""What any released version wrote can be read, polled, finished and verified by this one, and by all to come."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.engines import Engine
from tests.support.frozen import STATES, asked, freeze
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.status import status_object
from turnkeeper.service import host_turns
from turnkeeper.service.retention import MARGIN
from turnkeeper.service.tasks import list_tasks
from turnkeeper.service.verify import verify
from turnkeeper.store.standing import SCHEMA, task_key
from turnkeeper.store.wire import item_to_wire

FIXTURES = Path(__file__).parent / "fixtures"
RELEASED = sorted(FIXTURES.glob("items-v*.json"))
KINDS = {
    "TASK",
    "IN",
    "MSG",
    "LOG",
    "MEMO",
    "REVIEW",
    "CHILD",
    "FILE",
    "KEY",
    "GRANT",
    "CALL",
    "CURRENT",
    "VERSION",
}


@pytest.fixture(params=RELEASED, ids=lambda path: path.stem)
def frozen(request: pytest.FixtureRequest) -> Any:
    return json.loads(request.param.read_text())


@pytest.fixture
def old(frozen: Any, moto_engine: Engine) -> Laboratory:
    """A laboratory whose table a released version filled."""
    lab = Laboratory(moto_engine)
    lab.clock.now = datetime.fromisoformat(frozen["now"])
    for item in frozen["items"]:
        lab.dynamodb.put_item(TableName=lab.table, Item=item)
    return lab


def ids(frozen: Any) -> dict[str, str]:
    return {name: seen["id"] for name, seen in frozen["tasks"].items()}


def test_there_is_one_for_every_schema_and_it_has_every_kind_of_item(frozen: Any) -> None:
    assert [path.stem for path in RELEASED] == [f"items-v{number}" for number in range(1, SCHEMA + 1)]
    assert {item["sk"]["S"].partition("#")[0] for item in frozen["items"]} >= KINDS


def test_what_is_seen_of_each_task_is_what_was_seen_then(frozen: Any, old: Laboratory) -> None:
    for name, seen in frozen["tasks"].items():
        assert status_object(old.poll(seen["id"])) == seen["status"], name
        assert old.conversation(seen["id"]) == seen["messages"], name
    listed = list_tasks(old.runtime, caller=ALICE, phase=None, agent=None, limit=100, cursor=None).tasks
    assert {task.id for task in listed} >= set(ids(frozen).values())


def test_every_journal_is_still_what_was_written(frozen: Any, old: Laboratory) -> None:
    for name, task_id in ids(frozen).items():
        assert verify(old.runtime.table, task_id, now=old.clock.now).findings == (), name


def test_every_task_can_be_gone_on_with_to_its_end_and_verified_then(frozen: Any, old: Laboratory) -> None:
    for name, task_id in ids(frozen).items():
        if name == "ended":
            continue
        assert old.send(task_id, "and now?").task.received >= 1, name
        old.clock.forward(minutes=20)
        old.sweep()
        old.work()
        assert verify(old.runtime.table, task_id, now=old.clock.now).findings == (), name
        over = host_turns.complete(old.runtime, asked(task_id), outcome=Code.SUCCESS, discard_pending=True)
        assert over.is_terminal, name
        assert verify(old.runtime.table, task_id, now=old.clock.now).findings == (), name
        assert old.raw(task_id)["schema"] == {"N": str(SCHEMA)}
    old.clock.now = max(old.stored(task_id).due_at for task_id in ids(frozen).values()) + MARGIN

    assert old.sweep().failed == 0
    left = {pk for pk, _ in old.everything() if pk.removeprefix("TASK#") in ids(frozen).values()}
    assert left == set()


def test_a_key_that_came_before_the_upgrade_still_means_the_same_task(frozen: Any, old: Laboratory) -> None:
    assert old.create("hi", key="made").task.id == ids(frozen)["idle"]


def test_what_this_version_writes_is_what_would_be_frozen(moto_engine: Engine) -> None:
    now = freeze(Laboratory(moto_engine))

    assert now["tasks"].keys() == STATES.keys()
    assert {item["sk"]["S"].partition("#")[0] for item in now["items"]} >= KINDS


def test_a_task_that_a_newer_version_wrote_is_left_alone_and_holds_up_no_other(lab: Laboratory) -> None:
    newer, other = lab.create("hi", agent="mayfly").task.id, lab.create(agent="mayfly").task.id
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(newer)),
        UpdateExpression="SET #schema = :next",
        ExpressionAttributeNames={"#schema": "schema"},
        ExpressionAttributeValues=item_to_wire({":next": SCHEMA + 1}),
    )
    before = lab.raw(newer)
    lab.clock.forward(days=100)

    for act in (lambda: lab.poll(newer), lambda: lab.send(newer, "x"), lambda: lab.page(newer)):
        with pytest.raises(StoreIsUnavailable):
            act()
    swept = lab.sweep()

    assert (swept.failed, lab.stored(other).is_terminal) == (1, True)
    assert lab.raw(newer) == before
