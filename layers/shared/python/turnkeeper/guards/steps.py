"""A guardrail step, under the published form's names of either age (AG-2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Act(StrEnum):
    """What a step does with its expression."""

    ASSERT = "assert"
    """A falsy value denies."""
    TRANSFORM = "transform"
    """The value replaces what flows on."""


class Policy(StrEnum):
    """What follows when a step goes wrong."""

    FAIL_CALL = "fail_call"
    """It denies."""
    LOCK_TASK = "lock_task"
    """The task ends, restricted."""
    IGNORE = "ignore"
    """The step is passed over."""


OLDER = {"block": Policy.FAIL_CALL, "lock_task": Policy.LOCK_TASK, "continue": Policy.IGNORE}
"""What the older form's `on_fail` says; it holds for a denial too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step; *condition* falsy skips it."""

    act: Act
    expression: str
    condition: str | None = None
    deny_message: str | None = None
    on_error: Policy = Policy.FAIL_CALL
    """When an expression of it cannot be evaluated (AG-4)."""
    on_denial: Policy = Policy.FAIL_CALL
    """When its expression is falsy; only the older form can say anything but fail_call."""


def read(said: Mapping[str, Any]) -> Step:
    """The step that a checked manifest *said*."""
    act = Act.TRANSFORM if said.get(Act.TRANSFORM) is not None else Act.ASSERT
    older = OLDER.get(said.get("on_fail") or "", Policy.FAIL_CALL)
    return Step(
        act=act,
        expression=said[act],
        condition=said.get("condition"),
        deny_message=said.get("deny_message") or said.get("error_message"),
        on_error=Policy(said.get("on_error") or older),
        on_denial=older,
    )
