"""The table's stream: what a record says was written, in the wire form of the table itself."""

from collections.abc import Mapping
from typing import Any

from turnkeeper.domain.standing import Glance
from turnkeeper.store.standing import TASK, glance
from turnkeeper.store.wire import item_from_wire

type Record = Mapping[str, Any]


def shown(record: Record) -> Glance | None:
    """The task as *record* says it was written, if that shows something new; None for what shows nothing.

    Something new is another `revision` than before. An item that was deleted shows nothing.
    """
    change = record["dynamodb"]
    new, old = change.get("NewImage"), change.get("OldImage")
    if new is None or change["Keys"]["sk"]["S"] != TASK:
        return None
    if old is not None and old["revision"] == new["revision"]:
        return None
    return glance(item_from_wire(new))


def number(record: Record) -> str:
    """The place of *record* in its shard, by which it is asked for again."""
    found: str = record["dynamodb"]["SequenceNumber"]
    return found


def names(record: Record) -> dict[str, str]:
    """What finds *record*, and what it is about, again; nothing that it says."""
    change = record.get("dynamodb", {})
    found = {
        "event": record.get("eventID"),
        "sequence_number": change.get("SequenceNumber"),
        "item": change.get("Keys", {}).get("pk", {}).get("S"),
    }
    return {name: text for name, text in found.items() if isinstance(text, str)}
