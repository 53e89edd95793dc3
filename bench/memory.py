"""A table in this process for the calls that the product makes, since the engines are too slow with 100,000 tasks.

moto copies the table for each transaction and walks all of it for each Query of an index. This one knows only the forms
of expressions that the store writes and refuses all others; tests have every use case cost on it what it costs on moto.
"""

import re
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from tests.support.capacity import item_size
from tests.support.schema import INDEXES, KEY

type Wire = dict[str, Any]
type Place = tuple[str, ...]

PAGE_BYTES = 1_000_000
"""A Query ends its page there."""
CLAUSE = re.compile(
    r"(?P<name>#?\w+) (?P<is>=|<>) (?P<value>:\w+)|attribute_(?P<not>not_)?exists\((?P<there>#?\w+)\)"
)
KEYS = re.compile(
    r"(?P<partition>\w+) = (?P<is>:\w+)"
    r"(?: AND \w+ (?:BETWEEN (?P<first>:\w+) AND (?P<last>:\w+)|<= (?P<until>:\w+)))?"
)
BEYOND = "\U0010ffff"


class NotSpoken(NotImplementedError):
    """An expression of a form that the store did not write when this was made."""


@dataclass(slots=True)
class Sorted:
    """One partition, or one of an index: its places in order, each with the key of its item."""

    places: list[Place] = field(default_factory=list)

    def add(self, place: Place) -> None:
        """It is in its order."""
        insort(self.places, place)

    def remove(self, place: Place) -> None:
        """It is there no more."""
        del self.places[bisect_left(self.places, place)]


@dataclass(slots=True)
class Memory:
    """A client of DynamoDB whose one table, of whatever name, is this."""

    items: dict[Place, Wire] = field(default_factory=dict)
    partitions: dict[Place, Sorted] = field(default_factory=lambda: defaultdict(Sorted))
    """By index (none has the name ``) and partition."""

    def get_item(self, **request: Any) -> Wire:
        """The item, if there is one."""
        found = self.items.get(_key(request["Key"]))
        return {"Item": _part(found, request)} if found else {}

    def batch_get_item(self, **request: Any) -> Wire:
        """Those of the items that are there."""
        ((table, asked),) = request["RequestItems"].items()
        found = [self.items[key] for key in map(_key, asked["Keys"]) if key in self.items]
        return {"Responses": {table: [dict(item) for item in found]}, "UnprocessedKeys": {}}

    def query(self, **request: Any) -> Wire:
        """One page of a partition, or of one of an index."""
        asked = KEYS.fullmatch(request["KeyConditionExpression"])
        if asked is None:
            raise NotSpoken(request["KeyConditionExpression"])
        index, values = request.get("IndexName", ""), request["ExpressionAttributeValues"]
        places = self.partitions[index, values[asked["is"]]["S"]].places
        first = values[asked["first"]]["S"] if asked["first"] else ""
        last = values[asked["last"] or asked["until"]]["S"] if asked["last"] or asked["until"] else BEYOND
        from_, to = bisect_left(places, (first,)), bisect_right(places, (last, BEYOND))
        is_forward = request.get("ScanIndexForward", True)
        if start := request.get("ExclusiveStartKey"):
            at = _place(index, start)
            from_, to = (bisect_right(places, at), to) if is_forward else (from_, bisect_left(places, at))
        found = range(from_, to) if is_forward else range(to - 1, from_ - 1, -1)
        return self._page(request, index, [places[position] for position in found])

    def put_item(self, **request: Any) -> Wire:
        """The item is there, if its condition held."""
        return self._alone("Put", request)

    def update_item(self, **request: Any) -> Wire:
        """The item is changed, if its condition held."""
        return self._alone("Update", request)

    def delete_item(self, **request: Any) -> Wire:
        """The item is gone, if its condition held."""
        return self._alone("Delete", request)

    def transact_write_items(self, **request: Any) -> Wire:
        """All of it is written, or none where a condition failed."""
        writes = [next(iter(one.items())) for one in request["TransactItems"]]
        refused = [not self._holds(what) for _, what in writes]
        if any(refused):
            reasons = [
                {"Code": "ConditionalCheckFailed", "Item": self.items.get(_key_of(what), {})}
                if no
                else {"Code": "None"}
                for no, (_, what) in zip(refused, writes, strict=True)
            ]
            raise _error("TransactionCanceledException", "TransactWriteItems", CancellationReasons=reasons)
        for kind, what in writes:
            self._write(kind, what)
        return {}

    def batch_write_item(self, **request: Any) -> Wire:
        """Each of it is written."""
        ((_, asked),) = request["RequestItems"].items()
        for one in asked:
            ((kind, what),) = one.items()
            self._write(kind.removesuffix("Request"), what)
        return {"UnprocessedItems": {}}

    def put(self, item: Wire) -> None:
        """Have *item* lie there, without a call: to fill the table."""
        key = _key(item)
        self._leave(key)
        self.items[key] = item
        for index in ("", *INDEXES):
            if (partition := _partition(index, item)) is not None:
                self.partitions[index, partition].add(_place(index, item))

    def _alone(self, kind: str, request: Wire) -> Wire:
        if not self._holds(request):
            item = self.items.get(_key_of(request), {})
            raise _error("ConditionalCheckFailedException", f"{kind}Item", Item=item)
        self._write(kind, request)
        return {}

    def _write(self, kind: str, what: Wire) -> None:
        match kind:
            case "Put":
                self.put(dict(what["Item"]))
            case "Update":
                self.put(_updated(self.items.get(_key_of(what), dict(what["Key"])), what))
            case "Delete":
                self._leave(_key_of(what))
                self.items.pop(_key_of(what), None)
            case "ConditionCheck":
                pass
            case _:
                raise NotSpoken(kind)

    def _leave(self, key: Place) -> None:
        if (there := self.items.get(key)) is None:
            return
        for index in ("", *INDEXES):
            if (partition := _partition(index, there)) is not None:
                self.partitions[index, partition].remove(_place(index, there))

    def _holds(self, what: Wire) -> bool:
        item = self.items.get(_key_of(what), {})
        if not (condition := what.get("ConditionExpression")):
            return True
        return any(
            all(_is_so(item, what, clause) for clause in either.split(" AND "))
            for either in condition.split(" OR ")
        )

    def _page(self, request: Wire, index: str, places: Sequence[Place]) -> Wire:
        limit, size = request.get("Limit", len(places)), 0
        found: list[Wire] = []
        for place in places:
            if len(found) >= limit or size >= PAGE_BYTES:
                last = found[-1]
                names = (*KEY, *INDEXES.get(index, ()))
                return {"Items": found, "LastEvaluatedKey": {name: last[name] for name in names}}
            item = self.items[place[-2:]]
            # The indexes hold keys only.
            shown = {name: item[name] for name in (*KEY, *INDEXES[index])} if index else _part(item, request)
            size += item_size(shown)
            found.append(shown)
        return {"Items": found}


def _part(item: Wire, request: Wire) -> Wire:
    """What the request asks for of *item*: some attributes, or one level below them, or all."""
    if not (expression := request.get("ProjectionExpression")):
        return dict(item)
    names = request.get("ExpressionAttributeNames", {})
    part: Wire = {}
    for path in expression.split(", "):
        name, *below = (names.get(step, step) for step in path.split("."))
        if name not in item:
            continue
        if not below:
            part[name] = item[name]
        elif len(below) == 1 and below[0] in item[name].get("M", {}):
            part.setdefault(name, {"M": {}})["M"][below[0]] = item[name]["M"][below[0]]
        elif len(below) > 1:
            raise NotSpoken(expression)
    return part


def _updated(item: Wire, what: Wire) -> Wire:
    sets, _, removes = what["UpdateExpression"].partition(" REMOVE ")
    names, values = what.get("ExpressionAttributeNames", {}), what["ExpressionAttributeValues"]
    updated = dict(item)
    for one in sets.removeprefix("SET ").split(", "):
        name, _, value = one.partition(" = ")
        if not re.fullmatch(r":\w+", value):
            raise NotSpoken(what["UpdateExpression"])
        updated[names.get(name, name)] = values[value]
    for name in filter(None, removes.split(", ")):
        updated.pop(names.get(name, name), None)
    return updated


def _is_so(item: Mapping[str, Any], what: Wire, clause: str) -> bool:
    said = CLAUSE.fullmatch(clause)
    if said is None:
        raise NotSpoken(what["ConditionExpression"])
    names = what.get("ExpressionAttributeNames", {})
    if there := said["there"]:
        return (names.get(there, there) in item) is not bool(said["not"])
    name = names.get(said["name"], said["name"])
    is_equal: bool = item.get(name) == what["ExpressionAttributeValues"][said["value"]]
    return is_equal is (said["is"] == "=")


def _key(item: Mapping[str, Any]) -> Place:
    return tuple(item[name]["S"] for name in KEY)


def _key_of(what: Mapping[str, Any]) -> Place:
    return _key(what.get("Item") or what["Key"])


def _partition(index: str, item: Mapping[str, Any]) -> str | None:
    names = INDEXES[index] if index else KEY
    if any(name not in item for name in names):
        return None
    partition: str = item[names[0]]["S"]
    return partition


def _place(index: str, item: Mapping[str, Any]) -> Place:
    """Where *item* stands in its partition, its key last."""
    sort = (INDEXES[index] if index else KEY)[1]
    return (item[sort]["S"], *_key(item))


def _error(code: str, operation: str, **more: Any) -> ClientError:
    answer: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"RetryAttempts": 0}, **more}
    return ClientError(answer, operation)
