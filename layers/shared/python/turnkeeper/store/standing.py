"""The attributes of a task's item that say where it stands: a poll reads them alone, and a whole task has them, too.

How much of an item is read makes no difference to its price, but what is read is parsed, attribute by attribute.
"""

from typing import TYPE_CHECKING, Any, TypedDict

from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import StoreIsUnavailable
from turnkeeper.domain.instants import from_text
from turnkeeper.domain.standing import Glance, Phase, Reason, TurnGlance, TurnState
from turnkeeper.store.table import Table
from turnkeeper.store.waits import instant, resolution_from_map, wait_from_map
from turnkeeper.store.wire import Item

if TYPE_CHECKING:
    from datetime import datetime

    from turnkeeper.domain.waits import Resolution

    class TurnShown(TypedDict):
        """The fields that a turn and a glance at one have in common."""

        state: TurnState
        started_at: datetime
        changed_at: datetime | None
        resolutions: tuple[Resolution, ...]

    class Shown(TypedDict):
        """The fields that a task and a glance at one have in common."""

        id: str
        agent: str
        responsible_user: str
        created_at: datetime
        phase: Phase
        terminal_reason: Reason | None
        outcome: Code | None
        idle_expires_at: datetime | None
        since: datetime | None
        last_received_at: datetime | None
        last_committed_at: datetime | None
        due_at: datetime
        revision: str


SCHEMA = 1
"""Of a task with all that lies beside it; raised only with what an older version would read wrongly."""
TASK = "TASK"
GLANCE = {
    "ProjectionExpression": (
        "#schema, #agent, responsible_user, created_key, phase, terminal_reason, outcome, idle_expires_at, since, "
        "last_received_at, last_committed_at, due_at, revision, received, committed, waits, held, "
        "turn.#state, turn.started_at, turn.committed_at, turn.changed_at, turn.resolutions"
    ),
    # Words of DynamoDB's own.
    "ExpressionAttributeNames": {"#schema": "schema", "#agent": "agent", "#state": "state"},
}
"""What a poll reads of the item: all that `glance` asks for, and no more."""


def task_key(task_id: str) -> Item:
    """The task item, which a poll reads and nothing else."""
    return {"pk": f"TASK#{task_id}", "sk": TASK}


def look(table: Table, task_id: str) -> Glance | None:
    """The task as a poll shows it now: one small strongly consistent read."""
    item = table.get(task_key(task_id), only=GLANCE)
    return glance(item) if item else None


def glance(item: Item) -> Glance:
    """What *item*, or the part of it that a poll reads, shows of its task."""
    known, turn = shown(item), item.get("turn")
    asks = tuple(wait_from_map(wait) for wait in item.get("waits") or ())
    has_ready_input = item["received"] > item["committed"]
    if held := item.get("held"):
        # Hardly ever does an input wait for a review; a poll that meets one loads what that is.
        from turnkeeper.domain import judging  # noqa: PLC0415
        from turnkeeper.store.parts import held_from_map  # noqa: PLC0415

        inputs = [held_from_map(one) for one in held]
        asks += judging.outstanding(inputs)
        has_ready_input = judging.has_ready_input(item["received"], item["committed"], inputs)
    return Glance(
        **known,
        turn=TurnGlance(**turn_shown(turn)) if turn else None,
        asks=asks,
        has_ready_input=has_ready_input,
    )


def shown(item: Item) -> "Shown":
    """What *item* says of where its task stands.

    `StoreIsUnavailable` for one that a newer version wrote: it is left alone until a newer one reads it.
    """
    if item["schema"] > SCHEMA:
        raise StoreIsUnavailable
    created_at, _, task_id = item["created_key"].partition("#")
    reason, outcome = item.get("terminal_reason"), item.get("outcome")
    return {
        "id": task_id,
        "agent": item["agent"],
        "responsible_user": item["responsible_user"],
        "created_at": from_text(created_at),
        "phase": Phase(item["phase"]),
        "terminal_reason": Reason(reason) if reason else None,
        "outcome": Code(outcome) if outcome else None,
        "idle_expires_at": instant(item.get("idle_expires_at")),
        "since": instant(item.get("since")),
        "last_received_at": instant(item.get("last_received_at")),
        "last_committed_at": instant(item.get("last_committed_at")),
        "due_at": from_text(item["due_at"]),
        "revision": item["revision"],
    }


def turn_shown(stored: dict[str, Any]) -> "TurnShown":
    """What *stored*, a turn inside its task's item, says of where it stands."""
    return {
        "state": TurnState(stored["state"]),
        "started_at": from_text(stored.get("started_at") or stored["committed_at"]),
        "changed_at": instant(stored.get("changed_at")),
        "resolutions": tuple(resolution_from_map(one) for one in stored.get("resolutions", ())),
    }
