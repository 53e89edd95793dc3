"""Agents in the table: the current manifest of each name, and every version it ever had, immutable."""

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.manifest import Manifest
from turnkeeper.store.parts import Attributes
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_to_wire


def current_key(name: str) -> Attributes:
    """The manifest that new tasks get."""
    return {"pk": f"AGENT#{name}", "sk": "CURRENT"}


def version_key(name: str, version: str) -> Attributes:
    """One version, which tasks that began with it keep."""
    return {"pk": f"AGENT#{name}", "sk": f"VERSION#{version}"}


def keep(table: Table, manifest: Manifest) -> None:
    """*manifest* is the current one of its name, which is its owner's for good; repeating it changes nothing.

    Raises `TaskNotFound` when the name is another's: to this owner there is no such agent; `CommitUnknown` when a try
    that may still arrive was never answered.
    """
    item = {"version": manifest.version, "document": manifest.document, "owner": manifest.owner}
    puts = [
        _put(table.name, {**key, **item}, manifest.owner)
        for key in (current_key(manifest.name), version_key(manifest.name, manifest.version))
    ]
    if not table.write(table.client.transact_write_items, TransactItems=puts):
        raise TaskNotFound


def _put(table: str, item: Attributes, owner: str) -> dict[str, object]:
    return {
        "Put": {
            "TableName": table,
            "Item": item_to_wire(item),
            "ConditionExpression": "attribute_not_exists(pk) OR #owner = :owner",
            "ExpressionAttributeNames": {"#owner": "owner"},
            "ExpressionAttributeValues": item_to_wire({":owner": owner}),
        }
    }
