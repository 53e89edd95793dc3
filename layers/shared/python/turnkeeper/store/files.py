"""References to files: each is an item of its own, so one Query finds it however long the conversation is."""

from turnkeeper.domain.messages import Pin
from turnkeeper.store.items import file_key
from turnkeeper.store.keys import Claim
from turnkeeper.store.pins import pin_from_map
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_to_wire


def reference(table: Table, task_id: str, uri: str, *, at: str | None) -> Pin | None:
    """What *uri* named in the task's entry of the instant *at*, or in the last entry that names it."""
    key = file_key(task_id, uri, at or "")
    found, _ = table.query_page(
        ConsistentRead=True,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :sk)",
        ExpressionAttributeValues=item_to_wire({":pk": key["pk"], ":sk": key["sk"]}),
        ScanIndexForward=False,
        Limit=1,
    )
    if not found:
        return None
    (item,) = found
    return pin_from_map(item)


def keep_folder(table: Table, claim: Claim, folder: str) -> bool:
    """Whether *claim* was the first with its key; then it is remembered for *folder*."""
    item = {
        **claim.key,
        "folder": folder,
        "body_hash": claim.body_hash,
        "expires_at": int((claim.now + claim.lasts).timestamp()),
    }
    condition = claim.condition()
    put = {
        "TableName": table.name,
        "Item": item_to_wire(item),
        "ConditionExpression": condition["condition"],
        "ExpressionAttributeValues": item_to_wire(condition["values"]),
    }
    return table.write(table.client.transact_write_items, TransactItems=[{"Put": put}])
