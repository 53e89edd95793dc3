"""The table as plain values: reads are strongly consistent, and a read that fails says so in our words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from turnkeeper.domain.errors import CommitUnknown, StoreIsUnavailable
from turnkeeper.faults import FAILED_CALLS, MAY_BE_DONE, Fault, fault_of
from turnkeeper.store.patience import Patience
from turnkeeper.store.wire import Item, item_from_wire, item_to_wire

BATCH = 100
"""The most items that one call reads."""
DELETES = 25
"""The most items that one call deletes."""
WHOLE: Mapping[str, Any] = MappingProxyType({})
"""Of an item, all of it."""


if TYPE_CHECKING:
    # Made for types alone: a class of eight methods is a part of each cold start.
    class DynamoDB(Protocol):
        """The calls of botocore's client that are used here, and no others."""

        def get_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def batch_get_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def query(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def put_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def update_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def transact_write_items(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def delete_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...

        def batch_write_item(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
            ...


@dataclass(frozen=True, slots=True)
class Table:
    """One DynamoDB table behind a plain botocore client, which tries once: trying again is done here, and counted."""

    client: "DynamoDB"
    name: str
    patience: Callable[[], Patience] = Patience

    def get(
        self, key: Mapping[str, Any], *, patience: Patience | None = None, only: Mapping[str, Any] = WHOLE
    ) -> Item | None:
        """The item at *key*, or *only* a part of it, as it is now: one strongly consistent read, within *patience*."""
        item = self.get_wire(key, patience=patience, only=only)
        return item_from_wire(item) if item is not None else None

    def get_wire(
        self, key: Mapping[str, Any], *, patience: Patience | None = None, only: Mapping[str, Any] = WHOLE
    ) -> Item | None:
        """The item at *key* in its wire form, for who must not depend on being able to read it."""
        answer = self._until_answered(
            self.client.get_item,
            patience,
            TableName=self.name,
            Key=item_to_wire(key),
            ConsistentRead=True,
            **only,
        )
        return answer.get("Item")

    def get_all(self, keys: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], Item]:
        """The items at *keys* (at most `BATCH`) that exist, by (pk, sk): one strongly consistent call as a rule."""
        found: dict[tuple[str, str], Item] = {}
        asked: Any = {self.name: {"Keys": [item_to_wire(key) for key in keys], "ConsistentRead": True}}
        patience = self.patience()
        while asked:
            answer = self._until_answered(self.client.batch_get_item, patience, RequestItems=asked)
            for wire in answer.get("Responses", {}).get(self.name, ()):
                item = item_from_wire(wire)
                found[item["pk"], item["sk"]] = item
            asked = answer.get("UnprocessedKeys")
            if asked and not patience.pause():
                raise StoreIsUnavailable
        return found

    def query(self, **request: Any) -> Iterator[Item]:
        """Every item of a Query, page after page, fetched as they are asked for."""
        pages = dict(request)
        while True:
            answer = self._until_answered(self.client.query, None, TableName=self.name, **pages)
            for wire in answer["Items"]:
                yield item_from_wire(wire)
            if not (position := answer.get("LastEvaluatedKey")):
                return
            pages["ExclusiveStartKey"] = position

    def query_page(self, **request: Any) -> tuple[list[Item], Item | None]:
        """One page of a Query and the position after it, None when there is nothing beyond."""
        answer = self._until_answered(self.client.query, None, TableName=self.name, **request)
        position = answer.get("LastEvaluatedKey")
        return [item_from_wire(wire) for wire in answer["Items"]], item_from_wire(
            position
        ) if position else None

    def range(self, pk: str, first: str, last: str, *, limit: int | None = None) -> Iterator[Item]:
        """The items of partition *pk* from sort key *first* to *last*, both included, in order."""
        request: dict[str, Any] = {
            "ConsistentRead": True,
            "KeyConditionExpression": "pk = :pk AND sk BETWEEN :first AND :last",
            "ExpressionAttributeValues": item_to_wire({":pk": pk, ":first": first, ":last": last}),
        }
        if limit is not None:
            request["Limit"] = limit
        return self.query(**request)

    def write(self, call: Callable[..., dict[str, Any]], **request: Any) -> bool:
        """Whether the condition of a write that may be repeated held; tried again within our patience.

        `CommitUnknown` when a try that may still arrive was never answered, else `StoreIsUnavailable`.
        """
        patience, in_doubt = self.patience(), False
        while True:
            try:
                call(**request)
            except FAILED_CALLS as error:
                fault = fault_of(error)
                if fault is Fault.CONDITION:
                    return False
                in_doubt = in_doubt or fault in MAY_BE_DONE
                if not patience.pause():
                    raise (CommitUnknown() if in_doubt else StoreIsUnavailable()) from error
            else:
                return True

    def delete_all(self, keys: Sequence[Mapping[str, Any]]) -> None:
        """Nothing lies at *keys* (at most `DELETES`) any more: one call as a rule, and what it left undone again."""
        patience = self.patience()
        asked: Any = {self.name: [{"DeleteRequest": {"Key": item_to_wire(key)}} for key in keys]}
        while asked:
            answer = self._until_answered(self.client.batch_write_item, patience, RequestItems=asked)
            asked = answer.get("UnprocessedItems")
            if asked and not patience.pause():
                raise StoreIsUnavailable

    def _until_answered(
        self, call: Callable[..., dict[str, Any]], patience: Patience | None, **request: Any
    ) -> dict[str, Any]:
        """The answer of what may be repeated; throttled and failed calls are, within *patience* or ours."""
        patience = patience or self.patience()
        while True:
            try:
                return call(**request)
            except FAILED_CALLS as error:
                if fault_of(error) is Fault.CONDITION or not patience.pause():
                    raise StoreIsUnavailable from error
