"""The journal: one entry per transition, each holding the hash of the one before.

An entry carries no content, only a keyed hash of it whose key (a nonce) lies beside the content, so that the hash of
"yes" tells nothing. It also carries the `write_revision` of its transaction: by it a writer knows its own write.
"""

import hashlib
import hmac
import json
from datetime import datetime
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.messages import Commit
from turnkeeper.domain.primary import primary_code
from turnkeeper.domain.transitions import Change
from turnkeeper.store.items import Attributes, log_key


def entry(change: Change, *, actor: str, at: datetime, write_revision: str, nonce: str) -> Attributes:
    """The entry that *change* adds, as an item."""
    before, after = change.before, change.after
    turn = after.turn or (before.turn if before else None)
    number = (before.log_number if before else 0) + 1
    content = content_of(change)
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
        "content_hmac": keyed_hash(nonce, content) if content is not None else None,
        "write_revision": write_revision,
        "previous": before.log_head if before else "",
    }


def content_of(change: Change) -> str | None:
    """The one piece of content that a transition stores, if any."""
    if change.input:
        return change.input.content
    if change.reply:
        return change.reply.content
    if change.entry and not isinstance(change.entry, Commit):
        return change.entry.content
    return change.memo if change.held_output is None else change.held_output


def head(item: Attributes) -> str:
    """The hash of an entry, over everything in it that is present."""
    present = {name: value for name, value in item.items() if value is not None}
    text = json.dumps(present, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def keyed_hash(nonce: str, content: str) -> str:
    """What an entry says of content: nothing to those who lack the nonce."""
    return hmac.new(bytes.fromhex(nonce), content.encode(), hashlib.sha256).hexdigest()
