"""Clients that record what they were asked: which calls, of which sizes, and nothing of it in between lost."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.capacity import item_size, query_units, read_units

type Hook = Callable[[str, dict[str, Any]], None]
type Count = Callable[[], AbstractContextManager[Tally]]


@dataclass(frozen=True, slots=True)
class Call:
    """One call as it was made, and its answer; no answer where it was refused."""

    operation: str
    request: dict[str, Any]
    answer: dict[str, Any] | None
    before: tuple[Any, ...] = ()
    """The written items as they were, where the client looks; of an item that was read in part, the whole."""
    after: tuple[Any, ...] = ()

    @property
    def items_written(self) -> int:
        """How many items a transaction names."""
        return len(self.request["TransactItems"])

    @property
    def read_units(self) -> float:
        """What a read costs by AWS's rules, from the sizes of what came back."""
        answer = self.answer or {}
        match self.operation:
            case "get_item":
                consistent = self.request.get("ConsistentRead", False)
                read = self.before or [answer.get("Item", {})]
                return read_units([item_size(item) for item in read], consistent=consistent)
            case "query":
                consistent = self.request.get("ConsistentRead", False)
                return query_units(sum(map(item_size, answer["Items"])), consistent=consistent)
            case _:
                raise ValueError(f"{self.operation} is no read of one kind")


@dataclass
class Counting:
    """*client* with a memory; *before* hears of each call before it is made."""

    client: Any
    calls: list[Call] = field(default_factory=list)
    before: Hook | None = None

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.client, name)
        if not callable(attribute) or name.startswith("_"):
            return attribute

        def call(**request: Any) -> Any:
            if self.before:
                self.before(name, request)
            answer, were = None, self.made(name, request)
            try:
                answer = attribute(**request)
            finally:
                self.calls.append(Call(name, request, answer, were, self.made(name, request)))
            return answer

        return call

    def made(self, name: str, request: dict[str, Any]) -> tuple[Any, ...]:
        """What a call is about as it is now, as far as it is metered by more than its answer.

        An item that is read in part is paid for whole; who only counts looks at nothing else.
        """
        if name != "get_item" or "ProjectionExpression" not in request:
            return ()
        whole = {part: request[part] for part in ("TableName", "Key", "ConsistentRead")}
        return (self.client.get_item(**whole).get("Item", {}),)


@dataclass
class Tally:
    """What was called while it was open: DynamoDB's calls and SQS's, each in their order."""

    dynamodb: list[Call] = field(default_factory=list)
    sqs: list[Call] = field(default_factory=list)

    @property
    def operations(self) -> list[str]:
        """The names of the calls, DynamoDB's first."""
        return [call.operation for call in (*self.dynamodb, *self.sqs)]

    def of(self, operation: str) -> list[Call]:
        """The calls of one operation."""
        return [call for call in (*self.dynamodb, *self.sqs) if call.operation == operation]

    @property
    def transactions(self) -> list[int]:
        """How many items each transaction named."""
        return [call.items_written for call in self.of("transact_write_items")]


@contextmanager
def counted(dynamodb: Counting, sqs: Counting) -> Iterator[Tally]:
    """The calls that the block makes."""
    tally, start, sqs_start = Tally(), len(dynamodb.calls), len(sqs.calls)
    try:
        yield tally
    finally:
        tally.dynamodb += dynamodb.calls[start:]
        tally.sqs += sqs.calls[sqs_start:]
