"""A status: what happened to one scope, code and name together, and what some readers are told in its place."""

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Self

from turnkeeper.asc.assignments import CODES, Range, check_pair, range_of
from turnkeeper.asc.refusals import Rule, hold
from turnkeeper.asc.registry import Code, class_of, registered
from turnkeeper.asc.vocabulary import Kind, Phase, Severity, is_name, is_scope


class Profile(IntEnum):
    """Who reads; each sees what those before it see, and more (SEC-1)."""

    PUBLIC = 0
    DEVELOPER = 1
    OPERATOR = 2
    AUDIT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What happened to one scope: code and name together, and whether that ends the scope (REG-1, MOD-5)."""

    code: int
    name: str
    scope: str
    terminal: bool
    kind: Kind = Kind.STATUS
    phase: Phase | None = None
    severity: Severity | None = None

    def __post_init__(self) -> None:
        hold(self, _NUMBER_RULES)
        check_pair(self.code, self.name)
        hold(self, _STATUS_RULES)

    @classmethod
    def of(
        cls,
        code: Code,
        *,
        scope: str,
        terminal: bool,
        kind: Kind = Kind.STATUS,
        phase: Phase | None = None,
        severity: Severity | None = None,
    ) -> Self:
        """The status of a registered code, its name with it; *severity* only where the deployment differs."""
        return cls(
            code=code.value,
            name=code.name,
            scope=scope,
            terminal=terminal,
            kind=kind,
            phase=phase,
            severity=severity,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """What readers before *below* are told in place of the status, and then nothing that would explain it.

    It hides a wait that is none of the public's business, or that a resource exists at all (SEC-2). *occurred_at* is
    theirs too, where the report's own instant would give it away.
    """

    status: Status
    below: Profile
    occurred_at: datetime | None = None


def _is_unassigned(it: Status) -> bool:
    return registered(it.code) is None and range_of(it.code) is None


_NUMBER_RULES: tuple[Rule[Status], ...] = (
    (
        "status.code",
        "is no four-digit code",
        lambda it: type(it.code) not in (int, Code) or it.code not in CODES,
    ),
    ("status.terminal", "is neither true nor false", lambda it: not isinstance(it.terminal, bool)),
)
_STATUS_RULES: tuple[Rule[Status], ...] = (
    ("status.name", "is not upper SNAKE_CASE", lambda it: not is_name(it.name)),
    ("status.code", "is not assigned; extensions begin at 9000", _is_unassigned),
    ("status.code", "is reserved and never emitted", lambda it: range_of(it.code) is Range.RESERVED),
    ("status.scope", "is no scope and not namespaced", lambda it: not is_scope(it.scope)),
    (
        "status.kind",
        "must be event: an 8xxx code is never an outcome",
        lambda it: class_of(it.code) == "event" and it.kind is not Kind.EVENT,
    ),
    (
        "status.terminal",
        "is true of an event, which ends nothing",
        lambda it: it.terminal and it.kind is Kind.EVENT,
    ),
    (
        "status.phase",
        "contradicts terminal",
        lambda it: it.phase not in (None, Phase.UNKNOWN) and it.terminal is not (it.phase is Phase.FINISHED),
    ),
)
