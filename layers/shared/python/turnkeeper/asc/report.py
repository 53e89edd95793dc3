"""One internal report: everything its producer knows, refused at once if it says what no report may say.

It is strict, because what we say has to be right (ENV-1 to ENV-8); `envelope` is tolerant, because what others say
is theirs. What leaves the house is never this but `disclosure.disclosed(report, profile)`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from turnkeeper.asc.parts import Boundary, Confidence, Message, Provenance, Reference, Remediation
from turnkeeper.asc.refusals import Rule, StatusRefused, hold
from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import AFTER_TRANSITION, UNSETTLED, Contract, has_no_offset
from turnkeeper.asc.status import Mask, Status
from turnkeeper.asc.vocabulary import Kind, is_reverse_domain

DEEPEST = 8
"""How many reports may stand inside one another."""

MOST = 64
"""How many causes, conditions, events or ways out one report may have."""

PRIVATE = frozenset(
    {
        "arguments",
        "chain_of_thought",
        "completion",
        "email",
        "expression",
        "prompt",
        "reasoning",
        "system_prompt",
        "thoughts",
        "tool_arguments",
        "user_id",
        "username",
    }
)
"""What details may not be called at any depth: what has no business in a report (ENV-8, SEC-3, SEC-5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One scope, one primary status (INV-1), and what is known about it."""

    status: Status
    occurred_at: datetime
    message: Message | None = None
    retry: Contract | None = None
    remediation: tuple[Remediation, ...] = ()
    provenance: Provenance | None = None
    causes: tuple["Report | Reference", ...] = ()
    conditions: tuple["Report", ...] = ()
    events: tuple["Report", ...] = ()
    confidence: Confidence | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    boundary: Boundary | None = None
    mask: Mask | None = None

    def __post_init__(self) -> None:
        hold(self, _REPORT_RULES)
        _refuse_cycles(self, frozenset(), 1)
        _refuse_what_is_private(self.details)


def nested(report: Report) -> Iterator[Report]:
    """The reports directly inside *report*."""
    yield from (cause for cause in report.causes if isinstance(cause, Report))
    yield from report.conditions
    yield from report.events


def _refuse_cycles(report: Report, above: frozenset[str], depth: int) -> None:
    if depth > DEEPEST:
        raise StatusRefused("causes", f"are nested deeper than {DEEPEST}")
    own = report.provenance.report_id if report.provenance else None
    refs = {cause.ref for cause in report.causes if isinstance(cause, Reference)}
    path = above | {own} if own else above
    if own in above or refs & path:
        raise StatusRefused("causes", "lead back to where they began")
    for inner in nested(report):
        _refuse_cycles(inner, path, depth + 1)


def _refuse_what_is_private(details: Mapping[str, Any]) -> None:
    for key in details:
        if not is_reverse_domain(key):
            raise StatusRefused(f"details.{key}", "is no reverse-domain name")
    try:
        written = json.dumps(dict(details), allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise StatusRefused("details", f"cannot be written as JSON: {error}") from None
    for key in _keys(json.loads(written)):
        if key.rsplit(".", 1)[-1].lower() in PRIVATE:
            raise StatusRefused(f"details.{key}", "is nothing that a report may carry")


def _keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _keys(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _keys(inner)


def _evidence(it: Report) -> tuple[str, ...]:
    evaluation = it.provenance.evaluation if it.provenance else None
    return evaluation.evidence if evaluation else ()


def _is(code: Code, it: Report) -> bool:
    return it.status.code == code


_REPORT_RULES: tuple[Rule[Report], ...] = (
    ("occurred_at", "has no offset from UTC in whole minutes", lambda it: has_no_offset(it.occurred_at)),
    (
        "causes",
        f"or another list has more than {MOST}",
        lambda it: max(map(len, (it.causes, it.conditions, it.events, it.remediation))) > MOST,
    ),
    (
        "conditions",
        "has one of another kind",
        lambda it: any(c.status.kind is not Kind.CONDITION for c in it.conditions),
    ),
    ("events", "has one of another kind", lambda it: any(e.status.kind is not Kind.EVENT for e in it.events)),
    (
        "events",
        "are not in order of occurrence",
        lambda it: sorted(e.occurred_at for e in it.events) != [e.occurred_at for e in it.events],
    ),
    (
        "status.code",
        "needs declared evidence and a method; without them it is HALLUCINATION_SUSPECTED",
        lambda it: _is(Code.HALLUCINATION_DETECTED, it) and not _evidence(it),
    ),
    (
        "confidence",
        "is missing: LOW_CONFIDENCE says in what",
        lambda it: _is(Code.LOW_CONFIDENCE, it) and it.confidence is None,
    ),
    (
        "provenance.evaluation",
        "is missing: who judged has to be recorded",
        lambda it: it.confidence is not None and (it.provenance is None or it.provenance.evaluation is None),
    ),
    (
        "status.code",
        "is RESULT_STATE_UNKNOWN when side effects are possible",
        lambda it: _is(Code.TIMEOUT, it) and it.retry is not None and it.retry.side_effect_state in UNSETTLED,
    ),
    (
        "retry.reconciliation_action",
        "is missing: an unknown result is reconciled before any repeat",
        lambda it: (
            _is(Code.RESULT_STATE_UNKNOWN, it) and it.retry is not None and not it.retry.reconciliation_action
        ),
    ),
    (
        "retry",
        "promises that waiting helps; a named transition has to come first",
        lambda it: (
            it.status.code in AFTER_TRANSITION
            and it.retry is not None
            and (it.retry.retryable or it.retry.after_ms is not None)
        ),
    ),
)
