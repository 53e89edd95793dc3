"""What a report may carry beside its status: words, ways out, whom to ask, how sure, and who says so (ENV-3).

No part has room for a prompt, an argument of a tool or a chain of thought (ENV-8, SEC-5).
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite

from turnkeeper.asc.assignments import check_pair
from turnkeeper.asc.refusals import Rule, hold
from turnkeeper.asc.retry import SideEffects

LONGEST_MESSAGE = 2_000
_STACK_TRACE = re.compile(r"Traceback \(most recent|^\s+(?:File \"|at \S+\()", re.MULTILINE)
_TRACE_ID = re.compile(r"(?!0{32})[0-9a-f]{32}", re.ASCII)
_SPAN_ID = re.compile(r"(?!0{16})[0-9a-f]{16}", re.ASCII)


class Fails(StrEnum):
    """What an evaluator's own failure means: the thing passes, or it is stopped (SEC-6)."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Words for people; nobody decides by them. *developer* is a summary and no stack trace (ENV-4)."""

    user: str | None = None
    developer: str | None = None
    locale: str | None = None

    def __post_init__(self) -> None:
        hold(self, _MESSAGE_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remediation:
    """One way out: *action* in broad terms that anyone may see, *detail* for those who build on it."""

    action: str
    detail: str | None = None

    def __post_init__(self) -> None:
        hold(self, _REMEDIATION_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """How sure somebody was, by which measure; it never authorises anything (ENV-7)."""

    metric: str
    value: float
    range: tuple[float, float]
    threshold: float
    method: str
    evaluator: str

    def __post_init__(self) -> None:
        hold(self, _CONFIDENCE_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Who judged, how, on what, and what their own failure would have meant (SEC-6)."""

    evaluator: str
    version: str
    method: str
    fails: Fails
    evidence: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        hold(self, _EVALUATION_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """What one child came to, as its parent keeps it (MOD-4); *report_id* is the causal link."""

    unit: str
    code: int
    name: str
    terminal: bool
    side_effect_state: SideEffects
    requested: bool = True
    report_id: str | None = None

    def __post_init__(self) -> None:
        check_pair(self.code, self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composition:
    """Which rule chose the parent's status, and every unit that it looked at (MOD-4)."""

    rule: str
    units: tuple[Unit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a report comes from: ids to find it by, what it depended on, who judged and who approved."""

    report_id: str | None = None
    correlation_id: str | None = None
    provider: str | None = None
    dependency: str | None = None
    resource_state: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    policy_version: str | None = None
    approver: str | None = None
    history: str | None = None
    evaluation: Evaluation | None = None
    composition: Composition | None = None

    def __post_init__(self) -> None:
        hold(self, _PROVENANCE_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Boundary:
    """A report that crossed between systems: who says it, who saw it, by what right, how it was checked (SEC-4)."""

    issuer: str
    observed_by: str
    authority: str
    integrity: str

    def __post_init__(self) -> None:
        hold(self, _BOUNDARY_RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A cause that is only pointed at, by the `report_id` it has elsewhere (ENV-5)."""

    ref: str
    code: int
    name: str

    def __post_init__(self) -> None:
        check_pair(self.code, self.name)


def _is_too_long(text: str | None) -> bool:
    return text is not None and len(text) > LONGEST_MESSAGE


def _numbers(it: Confidence) -> tuple[float, ...]:
    return (it.value, it.threshold, *it.range)


_MESSAGE_RULES: tuple[Rule[Message], ...] = (
    ("message.user", "is too long", lambda it: _is_too_long(it.user)),
    ("message.developer", "is too long for a summary", lambda it: _is_too_long(it.developer)),
    (
        "message.developer",
        "is a stack trace",
        lambda it: it.developer is not None and _STACK_TRACE.search(it.developer) is not None,
    ),
    (
        "message.user",
        "is a stack trace",
        lambda it: bool(it.user) and bool(_STACK_TRACE.search(it.user or "")),
    ),
)
_REMEDIATION_RULES: tuple[Rule[Remediation], ...] = (
    ("remediation.action", "is empty", lambda it: not it.action),
)
_CONFIDENCE_RULES: tuple[Rule[Confidence], ...] = (
    (
        "confidence",
        "does not name its metric, method and evaluator",
        lambda it: not all((it.metric, it.method, it.evaluator)),
    ),
    ("confidence", "is not finite", lambda it: not all(map(isfinite, _numbers(it)))),
    ("confidence.range", "is empty", lambda it: not it.range[0] < it.range[1]),
    ("confidence.value", "lies outside its range", lambda it: not it.range[0] <= it.value <= it.range[1]),
    (
        "confidence.threshold",
        "lies outside its range",
        lambda it: not it.range[0] <= it.threshold <= it.range[1],
    ),
)
_EVALUATION_RULES: tuple[Rule[Evaluation], ...] = (
    (
        "provenance.evaluation",
        "does not name its evaluator, version and method",
        lambda it: not all((it.evaluator, it.version, it.method)),
    ),
)
_PROVENANCE_RULES: tuple[Rule[Provenance], ...] = (
    (
        "provenance.trace_id",
        "is no trace id",
        lambda it: it.trace_id is not None and not _TRACE_ID.fullmatch(it.trace_id),
    ),
    (
        "provenance.span_id",
        "is no span id",
        lambda it: it.span_id is not None and not _SPAN_ID.fullmatch(it.span_id),
    ),
)
_BOUNDARY_RULES: tuple[Rule[Boundary], ...] = (
    (
        "issuer",
        "and the other three go together",
        lambda it: not all((it.issuer, it.observed_by, it.authority, it.integrity)),
    ),
)
