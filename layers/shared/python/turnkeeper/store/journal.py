"""The journal: one entry per transition, each holding the hash of the one before.

An entry carries no content, only a keyed hash of each item that its transition wrote, whose key (a nonce) lies in that
item, so that the hash of "yes" tells nothing; and a hash of the task's own item as it was written. It also carries the
`write_revision` of its transaction: by it a writer knows its own write. `service.verify` replays it.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.messages import Commit
from turnkeeper.domain.primary import primary_code
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.store.items import log_key, task_to_item
from turnkeeper.store.parts import Attributes
from turnkeeper.store.table import Table

DECIDED = ("verdict", "decided_at", "comment")
"""What is written into a review when it is decided."""
DECISION = "!"
"""Ends the key of a decision's hash, beside that of its review."""

_NOT_SEALED = frozenset({"pk", "nonce", "decided_nonce", *DECIDED})
# How an item is written is no part of what it says: what an older version sealed stays so under a newer one.
_NOT_OF_THE_STATE = frozenset({"log_number", "log_head", "schema"})
_MOVING = frozenset({"due_at", "looks", "write_revision"})


def entry(
    change: Change, *, actor: str, at: datetime, written: Task, contents: Mapping[str, str]
) -> Attributes:
    """The entry that *change* adds, as an item; *written* is the task with its revisions."""
    before, after = change.before, change.after
    turn = after.turn or (before.turn if before else None)
    number = (before.log_number if before else 0) + 1
    ranges: Any = None
    if isinstance(change.entry, Commit):
        ranges = [list(numbers) for numbers in change.entry.ranges]
    elif change.input:
        ranges = [[change.input.number, change.input.number]]
    return {
        **log_key(after.id, number),
        "n": number,
        "at": to_text(at),
        "actor": actor,
        "transition": change.transition.value,
        "from": before.phase.value if before else None,
        "to": after.phase.value,
        "code": primary_code(after).value,
        "turn": turn.number if turn else None,
        "fence": turn.fence if turn else None,
        "attempt": turn.attempt if turn else None,
        "ranges": ranges,
        "refused": sorted(change.entry.refused) or None if isinstance(change.entry, Commit) else None,
        "review": change.decision.review if change.decision else None,
        "verdict": change.decision.verdict.value if change.decision else None,
        "child": change.delegation.child.after.id if change.delegation else None,
        "contents": dict(contents) or None,
        "state": state(written),
        "write_revision": written.write_revision,
        "previous": before.log_head if before else "",
    }


def entries(
    table: Table, task_id: str, *, first: int, last: int, limit: int | None = None
) -> Iterator[Attributes]:
    """The entries numbered *first* to *last*, both included, in order; *limit* is a page's size, no end."""
    if first > last:
        return
    start, end = log_key(task_id, first), log_key(task_id, last)
    yield from table.range(start["pk"], start["sk"], end["sk"], limit=limit)


def sealed(item: Attributes) -> Attributes:
    """*item* with the nonce that its keyed hash needs; without it the hash tells nothing."""
    return {**item, "nonce": secrets.token_hex(16)}


def seals(items: Iterable[Attributes]) -> dict[str, str]:
    """The keyed hash of each of *items*, by its sort key."""
    return {item["sk"]: seal(item) for item in items}


def seal(item: Attributes) -> str:
    """The keyed hash of all that *item* says and where it lies; of a review, what was asked."""
    said = {name: value for name, value in item.items() if name not in _NOT_SEALED and value is not None}
    return _keyed(item["nonce"], said)


def seal_of_decision(review: Attributes) -> tuple[str, str] | None:
    """What a *review* was decided, by a key of its own, since it was written later than what was asked."""
    if "decided_nonce" not in review:
        return None
    said = {name: review[name] for name in DECIDED if review.get(name) is not None}
    return f"{review['sk']}{DECISION}", _keyed(review["decided_nonce"], {"sk": review["sk"], **said})


def state(task: Task) -> str:
    """A hash of the task's item as it was written, its place in the journal aside.

    While a task goes on, its lease and its due time move without a transition and are left out; once it has ended,
    nothing is.
    """
    item = task_to_item(task)
    moving = _MOVING if not task.is_terminal else frozenset()
    kept = {name: value for name, value in item.items() if name not in {*_NOT_OF_THE_STATE, *moving}}
    if isinstance(kept["turn"], dict):
        kept["turn"] = {name: value for name, value in kept["turn"].items() if name != "lease_until"}
    return head(kept)


def head(item: Attributes) -> str:
    """The hash of an entry, over everything in it that is present."""
    return hashlib.sha256(_text(item).encode()).hexdigest()


def _keyed(nonce: str, said: Attributes) -> str:
    return hmac.new(bytes.fromhex(nonce), _text(said).encode(), hashlib.sha256).hexdigest()


def _text(item: Attributes) -> str:
    present = {name: value for name, value in item.items() if value is not None}
    return json.dumps(present, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
