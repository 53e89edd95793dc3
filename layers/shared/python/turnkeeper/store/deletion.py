"""Deleting a task: all that lies beside it first, the task itself last, and every step may be repeated."""

from collections.abc import Iterator
from itertools import batched

from turnkeeper.store.parts import Attributes
from turnkeeper.store.standing import TASK, task_key
from turnkeeper.store.table import DELETES, Table
from turnkeeper.store.wire import item_to_wire


def beside_in_batches(table: Table, task_id: str) -> Iterator[None]:
    """Delete what lies beside the task, as many items at each step as one call takes."""
    for keys in batched(_beside(table, task_id), DELETES, strict=False):
        table.delete_all(keys)
        yield


def the_task_itself(table: Table, task_id: str) -> bool:
    """Whether there was an ended task, which is deleted now; any other stays."""
    return table.write(
        table.client.delete_item,
        TableName=table.name,
        Key=item_to_wire(task_key(task_id)),
        ConditionExpression="phase = :terminal",
        ExpressionAttributeValues=item_to_wire({":terminal": "terminal"}),
    )


def _beside(table: Table, task_id: str) -> Iterator[Attributes]:
    keys = table.query(
        ConsistentRead=True,
        KeyConditionExpression="pk = :pk",
        ProjectionExpression="pk, sk",
        ExpressionAttributeValues=item_to_wire({":pk": task_key(task_id)["pk"]}),
    )
    return (key for key in keys if key["sk"] != TASK)
