"""What expressions see of a task, beside what is being guarded (AG-5)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from turnkeeper.domain.instants import to_text

LARGEST = 256 * 1024
"""Bytes of JSON that the entries of each side may come to."""
MOST = 200
"""How many entries there may be of each side."""


class Side(StrEnum):
    """Which way something flows, as expressions name it."""

    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A task as its expressions see it.

    *inputs* and *outputs* are the committed ones from the first on, as many as `kept` keeps: a refused input is none.
    """

    task_id: str
    agent: str
    user: str
    created_at: datetime
    turn: int
    inputs: tuple[Mapping[str, Any], ...] = ()
    outputs: tuple[Mapping[str, Any], ...] = ()
    numbers: frozenset[str] = frozenset()
    """Parameters of the type number, as the agent's rules know them: doubles, however they were sent."""

    def values(self, side: Side, flow: Mapping[str, Any], now: datetime) -> Mapping[str, Any]:
        """What expressions on *side* see while *flow* passes; it is the last of its side in the context."""
        seen = self._with_doubles(flow) if side is Side.INPUT else flow
        inputs = [self._with_doubles(one) for one in self.inputs]
        outputs = list(self.outputs)
        (inputs if side is Side.INPUT else outputs).append(seen)
        context = {
            "id": self.task_id,
            "agent": {"name": self.agent},
            "user": {"id": self.user},
            "created_at": to_text(self.created_at),
            "turn": self.turn,
            "input": inputs,
            "output": outputs,
        }
        return {"context": context, side.value: seen, "now": to_text(now)}

    def _with_doubles(self, entry: Mapping[str, Any]) -> Mapping[str, Any]:
        whole = {name: float(entry[name]) for name in self.numbers & entry.keys() if type(entry[name]) is int}
        return {**entry, **whole} if whole else entry


def kept(entries: Iterable[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """The first of *entries*, as many as expressions see; no more are taken from it than that, and one."""
    found: list[Mapping[str, Any]] = []
    room = LARGEST
    for entry in entries:
        room -= len(json.dumps(entry, ensure_ascii=False).encode())
        if room < 0 or len(found) == MOST:
            break
        found.append(entry)
    return tuple(found)
