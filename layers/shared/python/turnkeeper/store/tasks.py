"""Reading tasks: one by its id, with a key's past, a user's own, and what is due."""

import logging
import secrets
from collections.abc import Iterable
from datetime import datetime

from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.instants import to_text
from turnkeeper.domain.task import Pace, Task
from turnkeeper.faults import FAILED_CALLS
from turnkeeper.store.items import created_key, task_from_item
from turnkeeper.store.parts import Attributes
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import Table
from turnkeeper.store.wire import Item, item_to_wire

log = logging.getLogger(__name__)

type Position = tuple[datetime, str]
"""A task's place in its user's list: when it was created, and its id."""


def read(table: Table, task_id: str) -> Task | None:
    """The task as it is now: one small strongly consistent read."""
    item = table.get(task_key(task_id))
    return task_from_item(item) if item else None


def read_beside(table: Table, task_id: str, other: Attributes) -> tuple[Task | None, Attributes | None]:
    """The task and one other item, in one call."""
    found = table.get_all([task_key(task_id), other])
    item = found.get((f"TASK#{task_id}", "TASK"))
    return (task_from_item(item) if item else None), found.get((other["pk"], other["sk"]))


def created_by(
    table: Table, user: str, *, before: Position | None, limit: int
) -> tuple[list[Task], Position | None]:
    """Up to *limit* of the user's tasks, newest first, and where to go on; None when there are no more.

    The index is eventually consistent; each task is then read as it is now.
    """
    request = {
        "IndexName": "mine",
        "KeyConditionExpression": "responsible_user = :user",
        "ExpressionAttributeValues": item_to_wire({":user": user}),
        "ScanIndexForward": False,
        "Limit": limit,
    }
    if before:
        place = {"responsible_user": user, "created_key": created_key(*before), **task_key(before[1])}
        request["ExclusiveStartKey"] = item_to_wire(place)
    rows, position = table.query_page(**request)
    found = table.get_all([{"pk": row["pk"], "sk": row["sk"]} for row in rows]) if rows else {}
    tasks = [task_from_item(found[row["pk"], row["sk"]]) for row in rows if (row["pk"], row["sk"]) in found]
    if position is None:
        return tasks, None
    last = tasks[-1] if tasks and tasks[-1].id == _task_id(position) else None
    created_at = (
        last.created_at if last else datetime.fromisoformat(position["created_key"].partition("#")[0])
    )
    return tasks, (created_at, _task_id(position))


def due(table: Table, shard: str, *, now: datetime) -> Iterable[str]:
    """The ids of the tasks that *shard* has due by *now*, the longest overdue first; the index may be stale."""
    rows = table.query(
        IndexName="due",
        KeyConditionExpression="due_shard = :shard AND due_at <= :now",
        ExpressionAttributeValues=item_to_wire({":shard": shard, ":now": to_text(now)}),
    )
    return (_task_id(row) for row in rows)


def put_off(table: Table, task_id: str, *, pace: Pace, now: datetime) -> None:
    """Look at a task later, because a look at it failed; nothing of the item need be readable.

    Where that fails too, it is only logged, and the next sweep looks at the task again.
    """
    try:
        item = table.get_wire(task_key(task_id))
        if item is None:
            return
        looks = _looks(item) + 1
        read = item.get("write_revision")
        unchanged_since_read = "write_revision = :read" if read else "attribute_not_exists(write_revision)"
        values = {
            ":due": to_text(now + pace.grace(looks)),
            ":looks": looks,
            ":fresh": secrets.token_hex(16),
            ":terminal": "terminal",
        }
        table.client.update_item(
            TableName=table.name,
            Key=item_to_wire(task_key(task_id)),
            UpdateExpression="SET due_at = :due, looks = :looks, write_revision = :fresh",
            ConditionExpression=f"attribute_exists(pk) AND {unchanged_since_read} AND phase <> :terminal",
            ExpressionAttributeValues=item_to_wire(values) | ({":read": read} if read else {}),
        )
    except (StoreIsUnavailable, *FAILED_CALLS) as error:
        log.warning("a failing task could not be put off (%s)", type(error).__name__)


def _looks(item: Item) -> int:
    try:
        return int(item["looks"]["N"])
    except (KeyError, TypeError, ValueError):
        return 0


def _task_id(row: Attributes) -> str:
    task_id: str = row["pk"].removeprefix("TASK#")
    return task_id
