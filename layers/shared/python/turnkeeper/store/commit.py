"""One conditional transaction per transition, and the truth about whether it was ours that committed.

The condition is that nobody wrote since we read and that the task has not ended. A write whose answer was lost is sent
again and fails its own condition, so the refused journal entry is looked at: it holds the `write_revision` of whoever
wrote it, and a writer recognises its own write whatever came since.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum, auto
from typing import Any

from botocore.exceptions import ClientError

from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.faults import (
    CONDITION_FAILED,
    FAILED_CALLS,
    MAY_BE_DONE,
    Fault,
    cancellation_reasons,
    fault_of,
)
from turnkeeper.store.items import task_from_item
from turnkeeper.store.keys import Claim
from turnkeeper.store.parts import Attributes
from turnkeeper.store.patience import AMONG_WRITERS, LONGEST_PAUSE, Patience
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_from_wire, item_to_wire
from turnkeeper.store.writes import Write, never_written, prepared

LAST_LOOK_S = 2.0
"""How long to try, after the deadline, to learn what became of a write."""


class Moved(Exception):
    """Somebody else wrote first; *current* is the task as it is now, where the refusal told."""

    def __init__(self, current: Task | None) -> None:
        super().__init__("the task moved on")
        self.current = current


class KeyTaken(Exception):
    """The idempotency key was claimed by another request meanwhile."""


class _Found(Enum):
    """What lies where a write leaves its mark: the journal, or for what is no transition the task itself."""

    OURS = auto()
    ANOTHERS = auto()
    """Somebody else was there first: whatever we sent can never commit."""
    NOTHING = auto()
    """What we sent did not commit yet; it may still be on its way."""
    UNREADABLE = auto()


def commit(
    table: Table, change: Change, *, actor: str, at: datetime, claim: Claim | None = None, patience: Patience
) -> Task:
    """Write *change* and return the task as written, or raise `Moved`, `KeyTaken` or what the caller is told.

    `StoreIsBusy` and `StoreIsUnavailable` mean that nothing was stored, `CommitUnknown` that nobody knows.
    """
    write = prepared(table, change, actor=actor, at=at, claim=claim)
    met: set[Fault] = set()
    while True:
        try:
            _send(table, write)
        except FAILED_CALLS as error:
            fault = fault_of(error)
            met.add(fault)
            if fault is Fault.CONDITION:
                return _refused(table, write, error, met=met, patience=patience)
            if fault in MAY_BE_DONE:
                match _whose(table, write, patience.once_more(0)):
                    case _Found.OURS:
                        return write.after
                    case _Found.ANOTHERS:
                        raise Moved(None) from error
            if not patience.pause(AMONG_WRITERS if fault is Fault.CONFLICT else LONGEST_PAUSE):
                return _gave_up(table, write, error, met=met, patience=patience)
        else:
            return write.after


def _send(table: Table, write: Write) -> None:
    if not write.journalled:
        table.client.update_item(**write.update["Update"])
        return
    puts = [_put(table.name, item, condition=never_written) for item in write.puts]
    puts += write.beside
    if write.claim and write.claimed:
        puts.append(_put(table.name, write.claimed, **write.claim.condition()))
    table.client.transact_write_items(
        TransactItems=[write.update, *puts], ClientRequestToken=write.after.write_revision
    )


def _put(
    table: str, item: Attributes, *, condition: str, values: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    put: dict[str, Any] = {
        "TableName": table,
        "Item": item_to_wire(item),
        "ConditionExpression": condition,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if values:
        put["ExpressionAttributeValues"] = item_to_wire(values)
    return {"Put": put}


def _refused(table: Table, write: Write, error: Exception, *, met: set[Fault], patience: Patience) -> Task:
    """Ours after all, or the refusal in our words; items in the order of `_send`: task, journal, …, claim."""
    if not isinstance(error, ClientError):
        raise error
    if not write.journalled:
        held: Any = error.response.get("Item")
        current = item_from_wire(held) if held else None
        if current and current["write_revision"] == write.after.write_revision:
            return write.after
        raise Moved(task_from_item(current) if current else None) from error
    reasons = cancellation_reasons(error)
    refused = [item_from_wire(reason.get("Item", {})) for reason in reasons]
    if refused[1].get("write_revision") == write.after.write_revision:
        return write.after
    if not refused[1] and _may_be_done(met, error):
        match _whose(table, write, patience.once_more(LAST_LOOK_S)):
            case _Found.OURS:
                return write.after
            case _Found.UNREADABLE:
                raise CommitUnknown from error
    if write.claim and reasons[-1].get("Code") == CONDITION_FAILED:
        raise KeyTaken from error
    raise Moved(task_from_item(refused[0]) if refused[0] else None) from error


def _gave_up(table: Table, write: Write, error: Exception, *, met: set[Fault], patience: Patience) -> Task:
    """Ours after all, or what the caller is told: that nothing was stored only where that is certain."""
    if _may_be_done(met, error):
        found = _whose(table, write, patience.once_more(LAST_LOOK_S))
        if found is _Found.OURS:
            return write.after
        may_still_come = found is _Found.NOTHING and Fault.NO_ANSWER in met
        if found is _Found.UNREADABLE or may_still_come:
            raise CommitUnknown from error
    raise (StoreIsBusy() if fault_of(error) is Fault.CONFLICT else StoreIsUnavailable()) from error


def _may_be_done(met: set[Fault], error: Exception) -> bool:
    """Whether an attempt so far, ours or one that the SDK made for us, may have committed."""
    metadata = error.response.get("ResponseMetadata", {}) if isinstance(error, ClientError) else {}
    return bool(met & MAY_BE_DONE) or metadata.get("RetryAttempts", 0) > 0


def _whose(table: Table, write: Write, patience: Patience) -> _Found:
    """Who wrote what the write would have written."""
    key = write.puts[0] if write.journalled else task_key(write.after.id)
    try:
        found = table.get({"pk": key["pk"], "sk": key["sk"]}, patience=patience)
    except StoreIsUnavailable:
        return _Found.UNREADABLE
    revision = found["write_revision"] if found else None
    if revision == write.after.write_revision:
        return _Found.OURS
    return _Found.NOTHING if revision == write.untouched else _Found.ANOTHERS
