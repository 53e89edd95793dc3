"""The layout of a task's own item, and the keys of everything that lies beside it.

The task is written attribute by attribute, so a rolling deploy drops nothing; its parts are nested maps.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.task import Task
from turnkeeper.store import parts
from turnkeeper.store.parts import Attributes
from turnkeeper.store.standing import SCHEMA, shown, task_key
from turnkeeper.store.waits import text, wait_from_map, wait_to_map

SHARDS = "0123456789abcdef"
LIVE, ENDED = "due", "ended"


def input_key(task_id: str, number: int) -> Attributes:
    """The *number*-th input, written once."""
    return {"pk": f"TASK#{task_id}", "sk": f"IN#{number:010d}"}


def entry_key(task_id: str, at: datetime) -> Attributes:
    """A transcript entry, by its first `committed_at`."""
    return {"pk": f"TASK#{task_id}", "sk": f"MSG#{to_text(at)}"}


def log_key(task_id: str, number: int) -> Attributes:
    """The *number*-th journal entry."""
    return {"pk": f"TASK#{task_id}", "sk": f"LOG#{number:010d}"}


def made_key(task_id: str, token: str, number: int) -> Attributes:
    """What a guardrail made of the *number*-th input; it counts where a commit names *token*."""
    return {"pk": f"TASK#{task_id}", "sk": f"TX#{token}#{number:010d}"}


def held_output_key(task_id: str, fence: int, ordinal: int) -> Attributes:
    """What the turn under *fence* is about to say as its *ordinal*-th output, once it is approved."""
    return {"pk": f"TASK#{task_id}", "sk": f"OUT#{fence:010d}#{ordinal:010d}"}


def memo_key(task_id: str, fence: int) -> Attributes:
    """What the agent noted for itself when it suspended its turn under *fence*."""
    return {"pk": f"TASK#{task_id}", "sk": f"MEMO#{fence:010d}"}


def outcome_key(task_id: str) -> Attributes:
    """What was declared with the task's end."""
    return {"pk": f"TASK#{task_id}", "sk": "OUTCOME"}


def report_key(task_id: str, number: int) -> Attributes:
    """The *number*-th report of somebody else."""
    return {"pk": f"TASK#{task_id}", "sk": f"REPORT#{number:010d}"}


def review_key(task_id: str, name: str) -> Attributes:
    """What a reviewer is asked, and what was answered."""
    return {"pk": f"TASK#{task_id}", "sk": f"REVIEW#{name}"}


def file_key(task_id: str, uri: str, named: str = "") -> Attributes:
    """The file *uri* as the entry *named* it; a URI is longer than a key may be."""
    hashed = hashlib.sha256(uri.encode()).hexdigest()[:32]
    return {"pk": f"TASK#{task_id}", "sk": f"FILE#{hashed}#{named}"}


def child_key(task_id: str, turn: int, call: str) -> Attributes:
    """The child that a call of the task's *turn*-th turn made; a call may have any name."""
    named = hashlib.sha256(call.encode()).hexdigest()[:32]
    return {"pk": f"TASK#{task_id}", "sk": f"CHILD#{turn:010d}#{named}"}


def person_key(person: str, sk: str) -> Attributes:
    """Something that concerns a person, whosever task it is about."""
    return {"pk": f"PERSON#{person}", "sk": sk}


def due_shard(task_id: str, *, ended: bool) -> str:
    """Where the due index keeps a task; ended ones have shards of their own, and only their retention is due."""
    return f"{ENDED if ended else LIVE}#{task_id[0]}"


def due_shards(start: int, *, ended: bool) -> Iterator[str]:
    """Every shard of one kind, beginning with the *start*-th."""
    first = start % len(SHARDS)
    for shard in SHARDS[first:] + SHARDS[:first]:
        yield due_shard(shard, ended=ended)


def created_key(created_at: datetime, task_id: str) -> str:
    """A task's place in its user's list."""
    return f"{to_text(created_at)}#{task_id}"


def task_to_item(task: Task) -> Attributes:
    """Every attribute of the task item; None means absent."""
    return {
        **task_key(task.id),
        "schema": SCHEMA,
        "agent": task.agent,
        "agent_version": task.agent_version,
        "terms": parts.terms_to_map(task.terms),
        "responsible_user": task.responsible_user,
        "created_key": created_key(task.created_at, task.id),
        "parent": task.parent,
        "depth": task.depth or None,
        "phase": task.phase.value,
        "terminal_reason": task.terminal_reason.value if task.terminal_reason else None,
        "outcome": task.outcome.value if task.outcome else None,
        "idle_expires_at": text(task.idle_expires_at),
        "since": text(task.since),
        "turn": parts.turn_to_map(task.turn) if task.turn else None,
        "waits": [wait_to_map(wait) for wait in task.waits] or None,
        "held": [parts.held_to_map(one) for one in task.held] or None,
        "turns": task.turns,
        "fence": task.fence,
        "received": task.received,
        "committed": task.committed,
        "outputs": task.outputs,
        **parts.usage_to_attributes("used", task.usage),
        "trace": task.trace,
        "reports": task.reports or None,
        "unreached": task.unreached or None,
        "looks": task.looks,
        "last_received_at": text(task.last_received_at),
        "last_committed_at": text(task.last_committed_at),
        "revision": task.revision,
        "write_revision": task.write_revision,
        "expiry_revision": task.expiry_revision,
        "log_number": task.log_number,
        "log_head": task.log_head,
        "due_at": to_text(task.due_at),
        "due_shard": due_shard(task.id, ended=task.is_terminal),
    }


def task_from_item(item: Attributes) -> Task:
    """The task that *item* holds; `StoreIsUnavailable` for one that a newer version wrote."""
    turn = item.get("turn")
    return Task(
        **shown(item),
        agent_version=item["agent_version"],
        terms=parts.terms_from_map(item["terms"]),
        parent=item.get("parent"),
        depth=item.get("depth") or 0,
        turn=parts.turn_from_map(turn, number=item["turns"], fence=item["fence"]) if turn else None,
        waits=tuple(wait_from_map(wait) for wait in item.get("waits", ())),
        held=tuple(parts.held_from_map(one) for one in item.get("held") or ()),
        turns=item["turns"],
        fence=item["fence"],
        received=item["received"],
        committed=item["committed"],
        outputs=item["outputs"],
        usage=parts.usage_from_attributes("used", item),
        trace=item.get("trace"),
        reports=item.get("reports") or 0,
        unreached=item.get("unreached") or 0,
        looks=item["looks"],
        write_revision=item["write_revision"],
        expiry_revision=item.get("expiry_revision"),
        log_number=item["log_number"],
        log_head=item["log_head"],
    )
