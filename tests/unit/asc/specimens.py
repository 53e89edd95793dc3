"""Reports to try things on: a bare one, and one that says everything there is to say."""

from datetime import UTC, datetime, timedelta
from typing import Any

from turnkeeper.asc.parts import (
    Boundary,
    Composition,
    Confidence,
    Evaluation,
    Fails,
    Message,
    Provenance,
    Reference,
    Remediation,
    Unit,
)
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope, Severity

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

EVALUATION = Evaluation(
    evaluator="grounding", version="3", method="nli", fails=Fails.CLOSED, evidence=("source:4",)
)
CONFIDENCE = Confidence(
    metric="groundedness", value=0.4, range=(0, 1), threshold=0.7, method="nli", evaluator="grounding"
)


def status(code: Code, **changed: Any) -> Status:
    """A status of *code* for a task that it ends, where nothing else is said."""
    said: dict[str, Any] = {"scope": Scope.TASK, "terminal": True} | changed
    return Status.of(code, **said)


def report(code: Code = Code.FATAL_ERROR, **said: Any) -> Report:
    """A report of *code* that says *said* and no more."""
    return Report(status=status(code), occurred_at=NOW, **said)


def event(code: Code, *, after: timedelta = timedelta()) -> Report:
    """An event of *code*."""
    return Report(status=status(code, kind=Kind.EVENT, terminal=False), occurred_at=NOW + after)


def condition(code: Code) -> Report:
    """A condition of *code*."""
    return Report(status=status(code, kind=Kind.CONDITION, terminal=False), occurred_at=NOW)


def everything() -> Report:
    """A report with every field that a report can have."""
    return Report(
        status=status(Code.DEPENDENCY_UNAVAILABLE, phase=Phase.FINISHED, severity=Severity.CRITICAL),
        occurred_at=NOW,
        message=Message(user="Try again later.", developer="The index did not answer.", locale="en"),
        retry=Contract(
            retryable=True,
            safe=True,
            after_ms=1500,
            strategy="exponential_backoff",
            attempt=1,
            max_attempts=3,
            deadline=NOW + timedelta(hours=1),
            idempotency_key="k-1",
            side_effect_state=SideEffects.NONE,
            reconciliation_action="look_up",
        ),
        remediation=(Remediation(action="try_later", detail="The index is rebuilt at night."),),
        provenance=Provenance(
            report_id="r-1",
            correlation_id="c-1",
            provider="search",
            dependency="search-index-eu",
            resource_state="degraded",
            trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
            span_id="00f067aa0ba902b7",
            policy_version="p-7",
            approver="alice",
            history="sha256:abc",
            evaluation=EVALUATION,
            composition=Composition(
                rule="every_unit",
                units=(
                    Unit(
                        unit="search",
                        code=5003,
                        name="DEPENDENCY_UNAVAILABLE",
                        terminal=True,
                        side_effect_state=SideEffects.NONE,
                        report_id="r-2",
                    ),
                ),
            ),
        ),
        causes=(report(Code.RATE_LIMITED), Reference(ref="r-2", code=5003, name="DEPENDENCY_UNAVAILABLE")),
        conditions=(condition(Code.PROVENANCE_INCOMPLETE),),
        events=(event(Code.RETRY_ATTEMPTED), event(Code.FALLBACK_USED, after=timedelta(seconds=1))),
        confidence=CONFIDENCE,
        details={"org.example.queue_depth": 12},
        boundary=Boundary(
            issuer="acme", observed_by="us", authority="may_report_on:task", integrity="signed"
        ),
    )
