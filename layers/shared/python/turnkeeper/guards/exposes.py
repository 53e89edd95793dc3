"""What an agent exposes on each of its outputs: a value for every key, whatever happens (IO-7)."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from turnkeeper.guards.evaluator import Evaluator, Is
from turnkeeper.guards.scene import Scene, Side

LARGEST = 8 * 1024
"""Bytes of JSON of one value."""


def exposed(
    exposes: Mapping[str, str | None],
    output: Mapping[str, Any],
    *,
    scene: Scene,
    now: datetime,
    evaluator: Evaluator,
) -> dict[str, Any]:
    """*output* with every key of *exposes*: null where its expression has no value, or too large a one."""
    if not exposes:
        return dict(output)
    values = scene.values(Side.OUTPUT, output, now)

    def value_of(expression: str | None) -> Any:
        found = evaluator.evaluate(expression, values) if expression is not None else None
        return found.value if isinstance(found, Is) and _is_small(found.value) else None

    return {**output, **{key: value_of(expression) for key, expression in exposes.items()}}


def _is_small(value: Any) -> bool:
    return len(json.dumps(value, ensure_ascii=False).encode()) <= LARGEST
