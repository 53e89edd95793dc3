"""Whether to try again: what the report promises, what the operation is, and what we can still afford.

A code alone never makes a retry right (RET-2). Whatever is not said counts against trying: a report without a
contract, or with half of one, promises nothing.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from turnkeeper.asc.refusals import Rule, hold
from turnkeeper.asc.registry import Code

AFTER_TRANSITION = frozenset(
    {Code.FAILED_PRECONDITION, Code.HUMAN_APPROVAL_REQUIRED, Code.AUTHENTICATION_REQUIRED}
)
"""What no waiting mends; something has to happen, and the contract's strategy names it (RET-5)."""


class SideEffects(StrEnum):
    """What the operation may have changed before it stopped (RET-1)."""

    NONE = "none"
    POSSIBLE = "possible"
    CONFIRMED = "confirmed"
    UNKNOWN = "unknown"


UNSETTLED = frozenset({SideEffects.POSSIBLE, SideEffects.UNKNOWN})
"""The states in which somebody has to look before anything is repeated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """What a report promises about repeating the operation (RET-1); silence promises nothing."""

    retryable: bool = False
    safe: bool = False
    after_ms: int | None = None
    strategy: str | None = None
    attempt: int | None = None
    max_attempts: int | None = None
    deadline: datetime | None = None
    idempotency_key: str | None = None
    side_effect_state: SideEffects = SideEffects.UNKNOWN
    reconciliation_action: str | None = None

    def __post_init__(self) -> None:
        hold(self, _RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What we can still afford: attempts, cost in whatever unit, and time until *deadline*."""

    attempts_left: int
    now: datetime
    deadline: datetime
    cost: float = 0
    cost_left: float = 0


class Verdict(StrEnum):
    """Why the operation is tried again, or is not."""

    RETRY = "retry"
    RECONCILE_FIRST = "reconcile_first"
    TRANSITION_FIRST = "transition_first"
    NOT_RETRYABLE = "not_retryable"
    NOT_SAFE = "not_safe"
    NO_KEY = "neither_idempotent_nor_keyed"
    NO_ATTEMPTS = "no_attempts_left"
    TOO_COSTLY = "cost_exceeds_budget"
    TOO_LATE = "past_the_deadline"


def should_retry(
    contract: Contract | None,
    *,
    code: int,
    name: str,
    budget: Budget,
    idempotent: bool = False,
    happened: AbstractSet[str] = frozenset(),
) -> bool:
    """The same operation may be sent once more (RET-3); `verdict` takes the same and says why."""
    said = verdict(contract, code=code, name=name, budget=budget, idempotent=idempotent, happened=happened)
    return said is Verdict.RETRY


def verdict(
    contract: Contract | None,
    *,
    code: int,
    name: str,
    budget: Budget,
    idempotent: bool = False,
    happened: AbstractSet[str] = frozenset(),
) -> Verdict:
    """The first reason against a retry, or RETRY.

    *idempotent*: repeating the operation changes nothing more, by its nature. *happened*: the named transitions
    that took place since the report, as contracts name them in `strategy`.
    """
    promised = contract or Contract()
    if result_is_unknown(promised, code, name):
        return Verdict.RECONCILE_FIRST
    waits = code in AFTER_TRANSITION or name in _AFTER_TRANSITION_NAMES
    reasons = (
        (waits and promised.strategy not in happened, Verdict.TRANSITION_FIRST),
        (not (promised.retryable or waits), Verdict.NOT_RETRYABLE),
        (not promised.safe, Verdict.NOT_SAFE),
        (not (idempotent or promised.idempotency_key), Verdict.NO_KEY),
        (budget.attempts_left < 1 or _attempts_are_spent(promised), Verdict.NO_ATTEMPTS),
        (budget.cost > budget.cost_left, Verdict.TOO_COSTLY),
        (_is_too_late(promised, budget, after_ms=0 if waits else promised.after_ms or 0), Verdict.TOO_LATE),
    )
    return next((why for against, why in reasons if against), Verdict.RETRY)


def result_is_unknown(contract: Contract, code: int, name: str) -> bool:
    """Somebody has to find out what happened before any repeat, whatever else is promised (RET-4).

    A TIMEOUT whose side effects are not known to be none is the same thing under the wrong name.
    """
    if code == Code.RESULT_STATE_UNKNOWN or name == Code.RESULT_STATE_UNKNOWN.name:
        return True
    is_timeout = code == Code.TIMEOUT or name == Code.TIMEOUT.name
    return is_timeout and contract.side_effect_state in UNSETTLED


def _attempts_are_spent(contract: Contract) -> bool:
    return contract.max_attempts is not None and (contract.attempt or 1) >= contract.max_attempts


def has_no_offset(moment: datetime) -> bool:
    """*moment* cannot be written by RFC 3339: it has no offset, or one with seconds."""
    offset = moment.utcoffset()
    return offset is None or offset % timedelta(minutes=1) != timedelta()


def _is_too_late(contract: Contract, budget: Budget, *, after_ms: int) -> bool:
    ends = budget.deadline if contract.deadline is None else min(budget.deadline, contract.deadline)
    return (ends - budget.now) // timedelta(milliseconds=1) < after_ms


def _is_negative(number: int | None) -> bool:
    return number is not None and number < 0


_AFTER_TRANSITION_NAMES = frozenset(code.name for code in AFTER_TRANSITION)
_RULES: tuple[Rule[Contract], ...] = (
    ("retry.retryable", "is neither true nor false", lambda it: not isinstance(it.retryable, bool)),
    ("retry.safe", "is neither true nor false", lambda it: not isinstance(it.safe, bool)),
    ("retry.after_ms", "is negative", lambda it: _is_negative(it.after_ms)),
    ("retry.attempt", "is negative", lambda it: _is_negative(it.attempt)),
    ("retry.max_attempts", "is negative", lambda it: _is_negative(it.max_attempts)),
    (
        "retry.deadline",
        "has no offset from UTC in whole minutes",
        lambda it: it.deadline is not None and has_no_offset(it.deadline),
    ),
    ("retry.idempotency_key", "is empty", lambda it: it.idempotency_key == ""),
)
