"""What calls use, by AWS's rules: units, places in indexes, requests of queues and buckets, events of the bus.

A write is metered by the item before and after it, which is looked up beside the call; no engine meters right.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.capacity import item_size, query_units, read_units, write_units
from tests.support.counting import Call, Counting
from tests.support.schema import INDEXES, KEY

type Used = Counter[str]
type Wire = Mapping[str, Any]

PARTS = {"ProjectionExpression", "ExpressionAttributeNames"}
"""What has a read tell a part of each item. AWS meters the whole all the same."""
REQUESTS = {
    **dict.fromkeys(
        ("send_message", "receive_message", "delete_message", "change_message_visibility"), "sqs_fifo_request"
    ),
    "list_object_versions": "s3_list",
    "delete_objects": "s3_free",
}
"""What one call of a service without units is, by the names of prices."""


def use(**amounts: float) -> Used:
    """So much of each; Counter's type knows whole numbers alone."""
    return Counter(amounts)


def together(many: Iterable[Used]) -> Used:
    """All of them."""
    return sum(many, use())


@dataclass
class Metering(Counting):
    """A client of DynamoDB that also remembers what each written item was before and after."""

    def made(self, name: str, request: dict[str, Any]) -> tuple[Wire, ...]:
        """The items that a write is about, as they lie in the table now; whole, what a read tells a part of."""
        if "ProjectionExpression" in request:
            whole = {part: value for part, value in request.items() if part not in PARTS}
            answer = getattr(self.client, name)(**whole)
            return tuple(answer["Items"]) if name == "query" else (answer.get("Item", {}),)
        return tuple(
            self.client.get_item(TableName=table, Key=key, ConsistentRead=True).get("Item", {})
            for table, key in written_keys(name, request)
        )


def written_keys(name: str, request: Mapping[str, Any]) -> Iterator[tuple[str, Wire]]:
    """Table and key of each item that the call *name* writes, in the order of its request."""
    for table, what in _writes(name, request):
        item = what.get("Item") or what["Key"]
        yield table, {attribute: item[attribute] for attribute in KEY}


def used(call: Call) -> Used:
    """What one call uses, by the names of prices."""
    request, answer = call.request, call.answer or {}
    match call.operation:
        case "get_item" | "query" if call.before:
            return use(
                read_unit=query_units(sum(map(item_size, call.before)), consistent=_is_consistent(request))
            )
        case "get_item" | "query":
            return use(read_unit=call.read_units)
        case "batch_get_item":
            return together(
                use(read_unit=_batch(asked, answer.get("Responses", {}).get(table, ())))
                for table, asked in request["RequestItems"].items()
            )
        case "put_item" | "update_item" | "delete_item" | "batch_write_item" | "transact_write_items":
            return _written(call)
        case "put_events":
            return use(event=len(request["Entries"]))
        case operation:
            return use(**{REQUESTS[operation]: 1})


def bytes_of(call: Call) -> tuple[int, int]:
    """How many bytes of items a call of DynamoDB read, and wrote."""
    answer = call.answer or {}
    match call.operation:
        case "get_item":
            return item_size(answer.get("Item", {})), 0
        case "query":
            return sum(map(item_size, answer["Items"])), 0
        case "batch_get_item":
            return sum(item_size(item) for items in answer["Responses"].values() for item in items), 0
        case _:
            return 0, sum(map(item_size, call.after))


def _batch(asked: Mapping[str, Any], items: Iterable[Wire]) -> float:
    found = [item_size(item) for item in items]
    missing = [0] * (len(asked["Keys"]) - len(found))
    return read_units([*found, *missing], consistent=_is_consistent(asked))


def _written(call: Call) -> Used:
    in_transaction = call.operation == "transact_write_items"
    pairs = list(zip(call.before, call.after, strict=True))
    sizes = [max(item_size(before), item_size(after)) for before, after in pairs]
    places = sum(_moved(before, after) for before, after in pairs)
    return use(write_unit=write_units(sizes, transaction=in_transaction) + places, index_unit=places)


def _moved(before: Wire, after: Wire) -> int:
    """The units of the indexes: one for each place that is taken or left, none where nothing of it changed."""
    units = 0
    for keys in INDEXES.values():
        left, taken = _place(before, keys), _place(after, keys)
        if left != taken:
            units += write_units([item_size(place) for place in (left, taken) if place], transaction=False)
    return units


def _place(item: Wire, keys: tuple[str, str]) -> Wire | None:
    if any(name not in item for name in keys):
        return None
    return {name: item[name] for name in (*KEY, *keys)}


def _writes(name: str, request: Mapping[str, Any]) -> Iterator[tuple[str, Wire]]:
    match name:
        case "put_item" | "update_item" | "delete_item":
            yield request["TableName"], request
        case "transact_write_items":
            for one in request["TransactItems"]:
                ((_, what),) = one.items()
                yield what["TableName"], what
        case "batch_write_item":
            for table, asked in request["RequestItems"].items():
                for one in asked:
                    ((_, what),) = one.items()
                    yield table, what


def _is_consistent(request: Mapping[str, Any]) -> bool:
    return bool(request.get("ConsistentRead", False))
