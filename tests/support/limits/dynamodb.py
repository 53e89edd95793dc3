"""DynamoDB's rules for a whole call: how many, how large, and what a Query may ask."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.capacity import item_size, value_size
from tests.support.limits import values
from tests.support.limits.expressions import Expression, expressions_of
from tests.support.limits.refusal import refuse, refuse_unless
from tests.support.schema import INDEXES, KEY

MOST_IN_TRANSACTION = 100
LARGEST_TRANSACTION = 4 * 1024 * 1024
MOST_READ, MOST_WRITTEN = 100, 25
LARGEST_CALL = 16 * 1024 * 1024
LONGEST_TOKEN = 36

type Request = Mapping[str, Any]


def check(operation: str, request: Request) -> None:
    """Raise `AwsWouldRefuse` for what DynamoDB does not take; tables and scans are not the product's to call."""
    match operation:
        case "GetItem":
            values.check_key(request["Key"])
            expressions_of(request)
        case "PutItem" | "UpdateItem" | "DeleteItem":
            _check_write(operation.removesuffix("Item"), request)
        case "TransactWriteItems":
            _check_transaction(request)
        case "BatchGetItem":
            _check_batch_get(request["RequestItems"])
        case "BatchWriteItem":
            _check_batch_write(request["RequestItems"])
        case "Query":
            _check_query(request)
        case _:
            pass


def check_answer(parsed: Request) -> None:
    """No item has grown too large by updates, whose result nobody can tell beforehand."""
    read = [parsed["Item"]] if isinstance(parsed.get("Item"), Mapping) else parsed.get("Items", ())
    for item in read if isinstance(read, Sequence) else ():
        size = item_size(item)
        refuse_unless(
            size <= values.LARGEST_ITEM, f"an item has grown to {size} bytes; updates of it are refused"
        )


def _check_write(kind: str, request: Request) -> int:
    """Check one write and return the bytes that it counts for."""
    expressions = expressions_of(request)
    for value in request.get("ExpressionAttributeValues", {}).values():
        values.check_value(value)
    match kind:
        case "Put":
            values.check_item(request["Item"])
            return item_size(request["Item"])
        case "Update":
            values.check_key(request["Key"])
            return _check_update(request, expressions)
        case _:
            values.check_key(request["Key"])
            return item_size(request["Key"])


def _check_update(request: Request, expressions: Sequence[Expression]) -> int:
    size = item_size(request["Key"])
    for expression in expressions:
        if expression.kind != "UpdateExpression":
            continue
        for name in {expression.name_of(token) for token in expression.tokens}:
            refuse_unless(name not in KEY, f"{name} is the table's key, so no update changes it")
        for name, _, (value,) in expression.compared():
            if value is not None:
                values.check_attributes({name: value})
                size += len(name.encode()) + value_size(value)
    refuse_unless(size <= values.LARGEST_ITEM, f"an update makes an item of at least {size} bytes")
    return size


def _check_transaction(request: Request) -> None:
    operations = [(kind, one) for item in request["TransactItems"] for kind, one in item.items()]
    refuse_unless(
        0 < len(operations) <= MOST_IN_TRANSACTION,
        f"a transaction has 1 to {MOST_IN_TRANSACTION} operations, not {len(operations)}",
    )
    token = request.get("ClientRequestToken", "one of botocore's")
    refuse_unless(0 < len(token) <= LONGEST_TOKEN, f"a token has 1 to {LONGEST_TOKEN} characters")
    size = sum(_check_write(kind, one) for kind, one in operations)
    refuse_unless(
        size <= LARGEST_TRANSACTION, f"a transaction is at most {LARGEST_TRANSACTION} bytes; this is {size}"
    )
    _refuse_twice([(one["TableName"], _key(one.get("Key") or one["Item"])) for _, one in operations])


def _check_batch_get(asked: Request) -> None:
    keys = [(table, _key(key)) for table, one in asked.items() for key in one["Keys"]]
    refuse_unless(0 < len(keys) <= MOST_READ, f"a batch reads 1 to {MOST_READ} items, not {len(keys)}")
    for one in asked.values():
        expressions_of(one)
        for key in one["Keys"]:
            values.check_key(key)
    _refuse_twice(keys)


def _check_batch_write(asked: Request) -> None:
    writes = [(table, one) for table, ones in asked.items() for one in ones]
    refuse_unless(
        0 < len(writes) <= MOST_WRITTEN, f"a batch writes 1 to {MOST_WRITTEN} items, not {len(writes)}"
    )
    keys, size = [], 0
    for table, one in writes:
        if put := one.get("PutRequest"):
            values.check_item(put["Item"])
            keys.append((table, _key(put["Item"])))
            size += item_size(put["Item"])
        else:
            values.check_key(one["DeleteRequest"]["Key"])
            keys.append((table, _key(one["DeleteRequest"]["Key"])))
    refuse_unless(size <= LARGEST_CALL, f"a call is at most {LARGEST_CALL} bytes; this is {size}")
    _refuse_twice(keys)


def _check_query(request: Request) -> None:
    index = request.get("IndexName")
    refuse_unless(index is None or index in INDEXES, f"there is no index {index}")
    refuse_unless(
        not (index and request.get("ConsistentRead")), "an index that spans partitions has no consistent read"
    )
    refuse_unless(request.get("Limit", 1) > 0, "a page has at least one item")
    partition, sort = INDEXES[index] if index else KEY
    conditions: dict[str, tuple[str, list[Any]]] = {}
    for expression in expressions_of(request):
        if expression.kind == "FilterExpression":
            used = {expression.name_of(token) for token in expression.tokens}
            refuse_unless(not used & {partition, sort}, "a filter is not by a key of what is queried")
        if expression.kind == "KeyConditionExpression":
            conditions = _key_conditions(expression)
    refuse_unless(
        conditions.keys() <= {partition, sort} and conditions.get(partition, [""])[0] == "=",
        f"a Query is by one {partition} and perhaps by {sort}, not by {sorted(conditions)}",
    )
    for name, longest in zip((partition, sort), values.LONGEST_KEYS, strict=True):
        for bound in conditions[name][1] if name in conditions else ():
            size = len(bound.get("S", "").encode())
            refuse_unless(0 < size <= longest, f"what {name} is compared with has 1 to {longest} bytes")
    within = conditions.get(sort, ("", []))
    if within[0] == "BETWEEN":
        first, last = (_text(bound) for bound in within[1])
        refuse_unless(
            first <= last, f"BETWEEN goes from the lesser to the greater, not {first!r} to {last!r}"
        )
    if "ExclusiveStartKey" in request:
        _check_start(request["ExclusiveStartKey"], (partition, sort), conditions)


def _key_conditions(expression: Expression) -> dict[str, tuple[str, list[Any]]]:
    refuse_unless(not {"OR", "NOT", "IN", "<>"} & set(expression.tokens), "a key is not asked for that way")
    found: dict[str, tuple[str, list[Any]]] = {}
    for name, operator, bounds in expression.compared():
        refuse_unless(name not in found, f"{name} stands in one condition of a key")
        found[name] = operator, bounds
    return found


def _check_start(start: Request, names: tuple[str, str], conditions: Mapping[str, Any]) -> None:
    wanted = {*KEY, *names}
    refuse_unless(set(start) == wanted, f"a start is {sorted(wanted)}, not {sorted(start)}")
    for name, value in start.items():
        values.check_attributes({name: value})
    partition, sort = names
    at = _text(start[sort])
    is_within = start[partition] == conditions[partition][1][0]
    operator, bounds = conditions.get(sort, ("", []))
    texts = [_text(bound) for bound in bounds]
    match operator:
        case "BETWEEN":
            is_within = is_within and texts[0] <= at <= texts[1]
        case "begins_with":
            is_within = is_within and at.startswith(texts[0])
        case "<" | "<=":
            is_within = is_within and at <= texts[0]
        case ">" | ">=":
            is_within = is_within and at >= texts[0]
        case _:
            pass
    refuse_unless(is_within, f"a start lies within what is queried; {at!r} does not")


def _key(item: Request) -> tuple[bytes, ...]:
    return tuple(_text(item[name]) for name in KEY if name in item)


def _text(value: Request) -> bytes:
    """In the order of the engine: that of UTF-8's bytes."""
    text = value.get("S")
    return text.encode() if isinstance(text, str) else refuse("a key is text")


def _refuse_twice(keys: Sequence[tuple[str, tuple[bytes, ...]]]) -> None:
    twice = {key for key in keys if keys.count(key) > 1}
    refuse_unless(not twice, f"one item stands in one call once; {sorted(twice)} do not")
