"""Agents in the table: the current manifest of each name, and every version it ever had, immutable.

The names of hosts' agents lie in one list beside, written together with the manifest, so that nobody has to scan for
them. What a deployment ships is in no list: its code knows.
"""

from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.manifest import Manifest
from turnkeeper.store.parts import Attributes
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_to_wire

LIST = "AGENTS"
LISTED = "listed"
"""Says, on a host's current manifest, that its name is in the list; one from before there was a list lacks it."""


def current_key(name: str) -> Attributes:
    """The manifest that new tasks get."""
    return {"pk": f"AGENT#{name}", "sk": "CURRENT"}


def version_key(name: str, version: str) -> Attributes:
    """One version, which tasks that began with it keep."""
    return {"pk": f"AGENT#{name}", "sk": f"VERSION#{version}"}


def listed_key(name: str) -> Attributes:
    """That there is an agent of a host's under *name*."""
    return {"pk": LIST, "sk": name}


def keep(table: Table, manifest: Manifest) -> None:
    """*manifest* is the current one of its name, which is its owner's for good; repeating it changes nothing.

    Raises `TaskNotFound` when the name is another's: to this owner there is no such agent; `CommitUnknown` when a try
    that may still arrive was never answered.
    """
    item = {"version": manifest.version, "document": manifest.document, "owner": manifest.owner}
    mark = {} if manifest.is_built_in else {LISTED: True}
    current = {**current_key(manifest.name), **item, **mark}
    version = {**version_key(manifest.name, manifest.version), **item}
    writes = [_put(table.name, one, manifest.owner) for one in (current, version)]
    if not manifest.is_built_in:
        writes.append(_enlisted(table.name, manifest.name))
    if not table.write(table.client.transact_write_items, TransactItems=writes):
        raise TaskNotFound


def enlist(table: Table, name: str) -> None:
    """The agent *name* of a host's, which is there, is in the list, whatever becomes of its manifest meanwhile.

    Raises `CommitUnknown` when a try that may still arrive was never answered.
    """
    marked = {
        "Update": {
            "TableName": table.name,
            "Key": item_to_wire(current_key(name)),
            "UpdateExpression": "SET #listed = :listed",
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {"#listed": LISTED},
            "ExpressionAttributeValues": item_to_wire({":listed": True}),
        }
    }
    table.write(table.client.transact_write_items, TransactItems=[marked, _enlisted(table.name, name)])


def names(table: Table, *, after: str | None, limit: int) -> tuple[list[str], str | None]:
    """Up to *limit* names of hosts' agents, in their order, and where to go on; None at the end."""
    beyond = " AND sk > :after" if after is not None else ""
    values = {":pk": LIST} | ({":after": after} if after is not None else {})
    rows, position = table.query_page(
        ConsistentRead=True,
        KeyConditionExpression=f"pk = :pk{beyond}",
        ExpressionAttributeValues=item_to_wire(values),
        Limit=limit,
    )
    return [row["sk"] for row in rows], position["sk"] if position else None


def _enlisted(table: str, name: str) -> dict[str, object]:
    """Nobody's condition: a name is in the list for good, as it is its owner's for good."""
    return {"Put": {"TableName": table, "Item": item_to_wire(listed_key(name))}}


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
