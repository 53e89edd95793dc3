"""Clients that testify: of each call about one task, when it was under way, and which revision it saw or wrote."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError

from tests.faults.history import BEGINNING, Seen
from turnkeeper.domain.task import Task

TERMINAL = {"S": "terminal"}
SERVER_ERROR = 500

type Wire = Mapping[str, Any]


@dataclass(slots=True)
class Witness:
    """The history of *task_id*'s register, by whoever is asked to testify."""

    task_id: str
    seen: list[Seen] = field(default_factory=list)

    def client(self, client: Any, who: str) -> "Testifying":
        """*client*, whose calls are written down as *who*'s."""
        return Testifying(client, self, who)

    def saw(self, who: str, began: int, task: Task) -> None:
        """Write down what *who* was told of the task by a use case that began then."""
        self._note(who, began, task.write_revision, is_end=task.is_terminal)

    def hear(self, who: str, began: int, operation: str, request: Wire, answer: Wire | Exception) -> None:
        """Write down a call and its *answer*, or how it failed."""
        for write in self._writes(operation, request):
            values = write.get("ExpressionAttributeValues") or {}
            item = write.get("Item")
            told = item or {name.removeprefix(":"): value for name, value in values.items()}
            if isinstance(answer, ClientError) and not _is_unknown(answer):
                continue
            self._note(
                who,
                began,
                told["write_revision"]["S"],
                replaced=BEGINNING if item else values[":read"]["S"],
                is_end=told.get("phase") == TERMINAL,
                is_known=not isinstance(answer, Exception),
            )
        for item in self._reads(operation, answer):
            self._note(who, began, item["write_revision"]["S"], is_end=item["phase"] == TERMINAL)

    def _writes(self, operation: str, request: Wire) -> Iterator[Wire]:
        if operation == "transact_write_items":
            first = request["TransactItems"][0]
            write = first.get("Update") or first.get("Put") or {}
        else:
            write = request if operation == "update_item" else {}
        if self._is_ours(write.get("Key") or write.get("Item") or {}):
            yield write

    def _reads(self, operation: str, answer: Wire | Exception) -> Iterator[Wire]:
        if isinstance(answer, ClientError):
            found = [reason.get("Item") for reason in answer.response.get("CancellationReasons", ())]
            found.append(answer.response.get("Item"))  # type: ignore[arg-type]
        elif isinstance(answer, Exception):
            return
        elif operation == "get_item":
            found = [answer.get("Item")]
        elif operation == "batch_get_item":
            found = [item for items in answer["Responses"].values() for item in items]
        else:
            return
        yield from (item for item in found if item and self._is_ours(item))

    def _is_ours(self, key: Wire) -> bool:
        return key.get("pk") == {"S": f"TASK#{self.task_id}"} and key.get("sk") == {"S": "TASK"}

    def _note(
        self,
        who: str,
        began: int,
        value: str,
        *,
        replaced: str | None = None,
        is_end: bool = False,
        is_known: bool = True,
    ) -> None:
        ended = time.monotonic_ns() if is_known else None
        self.seen.append(
            Seen(who=who, began=began, ended=ended, value=value, replaced=replaced, is_end=is_end)
        )


def _is_unknown(error: ClientError) -> bool:
    return error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0) >= SERVER_ERROR


@dataclass(slots=True)
class Testifying:
    """*client*, each of whose calls *witness* hears of."""

    __test__ = False

    client: Any
    witness: Witness
    who: str

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self.client, name)
        if not callable(attribute) or name.startswith("_"):
            return attribute

        def call(**request: Any) -> Any:
            began = time.monotonic_ns()
            try:
                answer = attribute(**request)
            except Exception as error:
                self.witness.hear(self.who, began, name, request, error)
                raise
            self.witness.hear(self.who, began, name, request, answer)
            return answer

        return call
