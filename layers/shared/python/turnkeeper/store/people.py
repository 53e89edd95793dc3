"""What concerns a person over all tasks: calls to act, reviews to decide, and the providers they authorised."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime

from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.reviews import Review
from turnkeeper.domain.task import Task
from turnkeeper.store.items import person_key, review_key, task_from_item
from turnkeeper.store.parts import Attributes
from turnkeeper.store.pointers import CALL, REVIEW
from turnkeeper.store.reviews import review_from_item
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import BATCH, Table
from turnkeeper.store.wire import item_to_wire

NEXT, LAST = "!", "~"
"""What sorts right after a pointer, since all of a kind are equally long, and after every pointer of a kind."""
NAME = 16


def calls(table: Table, person: str, *, after: str | None, limit: int) -> tuple[list[Task], str | None]:
    """Up to *limit* tasks that call for *person*, the longest first, and where to go on; None at the end."""
    rows, position = _page(table, person, CALL, after=after, limit=limit)
    found = table.get_all([task_key(row["task_id"]) for row in rows]) if rows else {}
    return [task_from_item(item) for row in rows if (item := _at(found, task_key(row["task_id"])))], position


def reviews(table: Table, person: str, *, after: str | None, limit: int) -> tuple[list[Review], str | None]:
    """Up to *limit* reviews that wait for *person*, the longest first, and where to go on; None at the end."""
    rows, position = _page(table, person, REVIEW, after=after, limit=limit)
    keys = [review_key(row["task_id"], row["sk"][-NAME:]) for row in rows]
    found = table.get_all(keys) if rows else {}
    return [review_from_item(item) for key in keys if (item := _at(found, key))], position


def grant_key(owner: str, person: str, provider: str) -> Attributes:
    """Since when *person* authorised *provider* for the host *owner*."""
    named = hashlib.sha256(f"{len(owner)}:{owner}{provider}".encode()).hexdigest()
    return person_key(person, f"GRANT#{named}")


def keep_grant(table: Table, *, owner: str, person: str, provider: str, at: datetime) -> datetime:
    """The time of the newest authorisation there is, *at* included; repeating it changes nothing."""
    key = grant_key(owner, person, provider)
    is_newest = table.write(
        table.client.update_item,
        TableName=table.name,
        Key=item_to_wire(key),
        UpdateExpression="SET #owner = :owner, provider = :provider, granted_at = :at",
        ConditionExpression="attribute_not_exists(pk) OR granted_at <= :at",
        ExpressionAttributeNames={"#owner": "owner"},
        ExpressionAttributeValues=item_to_wire({":owner": owner, ":provider": provider, ":at": to_text(at)}),
    )
    kept = None if is_newest else table.get(key)
    return from_text(kept["granted_at"]) if kept else at


def answers(
    table: Table, grants: Iterable[Attributes], children: Iterable[str]
) -> tuple[dict[str, datetime], dict[str, Task]]:
    """Of what waits may wait for, what there is: authorisations by sort key, and child tasks by id; in one call."""
    wanted = [*grants, *map(task_key, children)]
    found = table.get_all(wanted[:BATCH]) if wanted else {}
    granted = {sk: from_text(item["granted_at"]) for (_, sk), item in found.items() if "granted_at" in item}
    tasks = [task_from_item(item) for item in found.values() if "granted_at" not in item]
    return granted, {task.id: task for task in tasks}


def _page(
    table: Table, person: str, kind: str, *, after: str | None, limit: int
) -> tuple[list[Attributes], str | None]:
    first = kind if after is None else kind + after + NEXT
    rows, position = table.query_page(
        ConsistentRead=True,
        KeyConditionExpression="pk = :pk AND sk BETWEEN :first AND :last",
        ExpressionAttributeValues=item_to_wire(
            {":pk": person_key(person, kind)["pk"], ":first": first, ":last": kind + LAST}
        ),
        Limit=limit,
    )
    return rows, position["sk"].removeprefix(kind) if position else None


def _at(found: Mapping[tuple[str, str], Attributes], key: Attributes) -> Attributes | None:
    return found.get((key["pk"], key["sk"]))
