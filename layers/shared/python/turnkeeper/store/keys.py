"""Idempotency keys: what a caller's key made, remembered for a day and then free again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from turnkeeper.domain.errors import KeyReused
from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.task import Task
from turnkeeper.store.parts import Attributes

absent_or_expired = "attribute_not_exists(pk) OR expires_at <= :now"


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What the first request with a key made."""

    task_id: str
    log_number: int
    received_at: datetime | None
    fence: int | None
    """The fence of the turn that it began or wrote in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A request's claim on its key, for one caller, one route and one task."""

    scope: str
    body_hash: str
    now: datetime
    lasts: timedelta

    @property
    def key(self) -> Attributes:
        """Where the claim lies."""
        return {"pk": f"KEY#{self.scope}", "sk": "KEY"}

    def item(self, *, task: Task, received_at: datetime | None) -> Attributes:
        """The claim as stored, in the same transaction as what it made."""
        return {
            **self.key,
            "task_id": task.id,
            "log_number": task.log_number,
            "received_at": to_text(received_at) if received_at else None,
            "fence": task.turn.fence if task.turn else None,
            "body_hash": self.body_hash,
            "expires_at": int((self.now + self.lasts).timestamp()),
        }

    def condition(self) -> Mapping[str, Any]:
        """Nobody holds the key, or its time is over."""
        return {"condition": absent_or_expired, "values": {":now": int(self.now.timestamp())}}

    def repeats(self, stored: Attributes | None) -> bool:
        """The key came before and holds still; raises `KeyReused` when that was with another body."""
        if stored is None or stored["expires_at"] <= int(self.now.timestamp()):
            return False
        if stored["body_hash"] != self.body_hash:
            raise KeyReused
        return True

    def made(self, stored: Attributes | None) -> Made | None:
        """What the key made before; raises `KeyReused` when that was with another body."""
        if stored is None or not self.repeats(stored):
            return None
        received_at = stored.get("received_at")
        return Made(
            task_id=stored["task_id"],
            log_number=stored["log_number"],
            received_at=from_text(received_at) if received_at else None,
            fence=stored.get("fence"),
        )


def claim(
    key: str, *, caller: str, route: str, task_id: str, body: str, now: datetime, lasts: timedelta
) -> Claim:
    """The claim of one request; *body* is JSON, and the order of its names makes no other request of it."""
    return Claim(scope=_hash(caller, route, task_id, key), body_hash=body_hash(body), now=now, lasts=lasts)


def body_hash(body: str) -> str:
    """What tells one request's *body* (JSON) from another's."""
    return _hash(json.dumps(json.loads(body), sort_keys=True, separators=(",", ":")))


def _hash(*parts: str) -> str:
    framed = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(framed.encode()).hexdigest()
