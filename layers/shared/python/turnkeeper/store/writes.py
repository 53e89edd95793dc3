"""A change made ready to be sent: the items of its transaction, its revisions, and how to recognise it afterwards."""

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.messages import Commit, Output
from turnkeeper.domain.reviews import review_of
from turnkeeper.domain.status import looks_the_same
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.store import journal
from turnkeeper.store.items import (
    child_key,
    entry_key,
    file_key,
    held_output_key,
    input_key,
    memo_key,
    outcome_key,
    report_key,
    review_key,
    task_to_item,
)
from turnkeeper.store.keys import Claim, body_hash
from turnkeeper.store.parts import Attributes
from turnkeeper.store.pins import pin_to_map
from turnkeeper.store.pointers import pointers
from turnkeeper.store.reviews import review_item
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_to_wire, to_wire

unchanged_since_read = "attribute_exists(pk) AND write_revision = :read AND phase <> :terminal"
never_written = "attribute_not_exists(pk)"


@dataclass(frozen=True, slots=True)
class Write:
    """A change made ready: what to send, and how to recognise it afterwards."""

    after: Task
    untouched: str | None
    """The `write_revision` that lies where this one leaves its own, as long as nobody was there."""
    journalled: bool
    puts: tuple[Attributes, ...]
    update: dict[str, Any]
    beside: tuple[dict[str, Any], ...]
    """Operations whose condition is the task's: pointers that come and go, a review's decision."""
    claim: Claim | None
    claimed: Attributes | None


def prepared(table: Table, change: Change, *, actor: str, at: datetime, claim: Claim | None) -> Write:
    """*change* with fresh revisions, its journal entry and what it adds, ready to be sent as one transaction."""
    after = minted(change)
    puts: tuple[Attributes, ...] = ()
    decided: Attributes = {}
    if change.is_journalled:
        content = [journal.sealed(item) for item in (*_content(change), *_reviews(change))]
        decided = _decision(change)
        contents = {**journal.seals(content), **change.seals, **_sealed_decision(change, decided)}
        entry = journal.entry(change, actor=actor, at=at, written=after, contents=contents)
        after = replace(after, log_number=entry["n"], log_head=journal.head(entry))
        puts = (entry, *content, *_child(change, actor=actor, at=at))
    claimed = (
        claim.item(task=after, received_at=change.input.received_at if change.input else None)
        if claim
        else None
    )
    return Write(
        after=after,
        untouched=None if change.is_journalled or change.before is None else change.before.write_revision,
        journalled=change.is_journalled,
        puts=puts,
        update=_task_write(table.name, change.before, after),
        beside=(*_pointers(table.name, change.before, after), *_decided(table.name, change, decided)),
        claim=claim,
        claimed=claimed,
    )


def minted(change: Change) -> Task:
    """The next task with its revisions: `revision` is new if and only if the status or the messages differ (TS-6)."""
    before, after = change.before, change.after
    revision, expiry = after.revision, after.expiry_revision
    says_more = change.input is not None or change.entry is not None
    announced = revision if before is None else before.revision
    if before is None or (revision == announced and (says_more or not looks_the_same(before, after))):
        revision = secrets.token_urlsafe(12)
    if after.idle_expires_at is not None and (
        before is None or before.idle_expires_at != after.idle_expires_at
    ):
        expiry = secrets.token_urlsafe(12)
    return replace(after, revision=revision, expiry_revision=expiry, write_revision=secrets.token_hex(16))


def _content(change: Change) -> list[Attributes]:
    items: list[Attributes] = []
    task_id = change.after.id
    if change.input:
        items.append(
            {
                **input_key(task_id, change.input.number),
                "received_at": to_text(change.input.received_at),
                "content": change.input.content,
            }
        )
    if isinstance(change.entry, Commit):
        ranges = [list(numbers) for numbers in change.entry.ranges]
        judged = {"refused": sorted(change.entry.refused) or None, "token": change.entry.token}
        commit = {**entry_key(task_id, change.entry.at), "kind": "commit", "ranges": ranges, **judged}
        items.append(commit)
    elif change.entry:
        items.append(_output(task_id, change.entry))
    if change.reply:
        items.append(_output(task_id, change.reply))
    if change.held_output is not None and change.after.turn and (held := change.after.turn.output):
        key = held_output_key(task_id, held.fence, held.ordinal)
        files = [pin_to_map(pin) for pin in change.files] or None
        items.append({**key, "content": change.held_output, "files": files})
    if change.declared is not None:
        items.append({**outcome_key(task_id), "declared": change.declared})
    if change.report is not None:
        items.append({**report_key(task_id, change.after.reports), "report": change.report})
    if change.memo is not None and change.after.turn:
        items.append({**memo_key(task_id, change.after.turn.fence), "content": change.memo})
    items += _files(change)
    return items


def _files(change: Change) -> Iterator[Attributes]:
    """One item for each file that the new entry names, by the file and the instant that shows the entry."""
    if change.input:
        named = f"{to_text(change.input.received_at)}#IN"
    elif isinstance(change.entry, Output):
        named = f"{to_text(change.entry.at)}#OUT"
    else:
        return
    for pin in change.files:
        yield {**file_key(change.after.id, pin.uri, named), **pin_to_map(pin)}


def _output(task_id: str, output: Output) -> Attributes:
    return {
        **entry_key(task_id, output.at),
        "kind": "output",
        "turn": output.turn,
        "ordinal": output.ordinal,
        "content": output.content,
    }


def _reviews(change: Change) -> Iterator[Attributes]:
    for wait in change.after.asks:
        if wait.id in change.subjects:
            yield review_item(review_of(change.after, wait, subject=change.subjects[wait.id]))


def _child(change: Change, *, actor: str, at: datetime) -> Iterator[Attributes]:
    """The child with all that is its own, and the call that made it: the same call makes no other."""
    delegation, turn = change.delegation, change.after.turn
    if delegation is None or turn is None:
        return
    birth = delegation.child
    child, content = minted(birth), [journal.sealed(item) for item in _content(birth)]
    entry = journal.entry(birth, actor=actor, at=at, written=child, contents=journal.seals(content))
    yield {
        **child_key(change.after.id, turn.number, delegation.call),
        "child": child.id,
        "body_hash": body_hash(delegation.body),
    }
    yield task_to_item(replace(child, log_number=entry["n"], log_head=journal.head(entry)))
    yield entry
    yield from content


def _pointers(table: str, before: Task | None, after: Task) -> Iterator[dict[str, Any]]:
    old, new = pointers(before), pointers(after)
    for key in old.keys() - new.keys():
        yield {"Delete": {"TableName": table, "Key": item_to_wire({"pk": key[0], "sk": key[1]})}}
    for key in new.keys() - old.keys():
        yield {"Put": {"TableName": table, "Item": item_to_wire(new[key])}}


def _decision(change: Change) -> Attributes:
    """What the change writes into a review, as attributes; nothing where it decides none."""
    if not (decision := change.decision):
        return {}
    said = {
        "verdict": decision.verdict.value,
        "decided_at": to_text(decision.at),
        "comment": decision.comment,
        "decided_nonce": secrets.token_hex(16),
    }
    return {name: value for name, value in said.items() if value is not None}


def _sealed_decision(change: Change, decided: Attributes) -> dict[str, str]:
    if not change.decision:
        return {}
    found = journal.seal_of_decision({**review_key(change.after.id, change.decision.review), **decided})
    return dict([found]) if found else {}


def _decided(table: str, change: Change, present: Attributes) -> Iterator[dict[str, Any]]:
    if not (decision := change.decision):
        return
    yield {
        "Update": {
            "TableName": table,
            "Key": item_to_wire(review_key(change.after.id, decision.review)),
            "UpdateExpression": "SET " + ", ".join(f"#{name} = :{name}" for name in present),
            "ConditionExpression": "attribute_exists(pk)",
            "ExpressionAttributeNames": {f"#{name}": name for name in present},
            "ExpressionAttributeValues": item_to_wire({f":{name}": value for name, value in present.items()}),
        }
    }


def _task_write(table: str, before: Task | None, after: Task) -> dict[str, Any]:
    """A put of a new task, or an update of just what differs: attributes that a newer version wrote stay."""
    if before is None:
        return {
            "Put": {
                "TableName": table,
                "Item": item_to_wire(task_to_item(after)),
                "ConditionExpression": never_written,
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }
    old, new = task_to_item(before), task_to_item(after)
    different = {name: value for name, value in new.items() if value != old[name]}
    # Whoever writes says in which form, also into an item that an older version made.
    different["schema"] = new["schema"]
    names = {f"#{name}": name for name in different}
    values = {f":{name}": value for name, value in different.items() if value is not None}
    sets = ", ".join(f"#{name} = :{name}" for name, value in different.items() if value is not None)
    removes = ", ".join(f"#{name}" for name, value in different.items() if value is None)
    return {
        "Update": {
            "TableName": table,
            "Key": item_to_wire(task_key(after.id)),
            "UpdateExpression": f"SET {sets}" + (f" REMOVE {removes}" if removes else ""),
            "ConditionExpression": unchanged_since_read,
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": {
                **item_to_wire(values),
                ":read": to_wire(before.write_revision),
                ":terminal": to_wire("terminal"),
            },
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
    }
