"""The OpenTelemetry binding as the real SDK takes it: what is exported, and what marks a span as failed."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Span, StatusCode, Tracer

from turnkeeper.asc.bindings import otel
from turnkeeper.asc.parts import Message, Provenance
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RETRY = Contract(retryable=True, safe=True, side_effect_state=SideEffects.NONE)


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def tracer(exporter: InMemorySpanExporter) -> Iterator[Tracer]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer("turnkeeper")
    provider.shutdown()


def tell(span: Span, report: Report, *, scope: str) -> None:
    """*report* on the *span* of its scope, as the binding says."""
    told = otel.attributes(report.status, retry=report.retry, phase=report.status.phase)
    if otel.is_span_event(report.status, span_scope=scope):
        span.add_event(otel.EVENT, told)
    else:
        span.set_attributes(told)
    if otel.marks_error(report.status, span_scope=scope):
        span.set_status(StatusCode.ERROR)


def report(code: Code, *, scope: str = Scope.TASK, terminal: bool, kind: Kind = Kind.STATUS) -> Report:
    return Report(
        status=Status.of(
            code, scope=scope, terminal=terminal, kind=kind, phase=Phase.FINISHED if terminal else None
        ),
        occurred_at=NOW,
        retry=RETRY,
        message=Message(user="the user's words", developer="the developer's words"),
        provenance=Provenance(correlation_id="an-id", dependency="https://index.example"),
    )


def exported(exporter: InMemorySpanExporter, name: str) -> ReadableSpan:
    return next(span for span in exporter.get_finished_spans() if span.name == name)


@pytest.mark.clause("BND-OTEL")
def test_the_attributes_are_exported_as_they_are_and_nothing_is_dropped(
    tracer: Tracer, exporter: InMemorySpanExporter, caplog: pytest.LogCaptureFixture
) -> None:
    with tracer.start_as_current_span("task") as span:
        tell(span, report(Code.DEPENDENCY_UNAVAILABLE, terminal=True), scope=Scope.TASK)

    found = exported(exporter, "task")
    assert dict(found.attributes or {}) == {
        "agent.status.code": 5003,
        "agent.status.name": "DEPENDENCY_UNAVAILABLE",
        "agent.status.class": "transient_failure",
        "agent.status.kind": "status",
        "agent.status.scope": "task",
        "agent.status.terminal": True,
        "agent.status.retryable": True,
        "agent.status.retry_safe": True,
        "agent.lifecycle.phase": "FINISHED",
    }
    assert found.status.status_code is StatusCode.ERROR
    assert not caplog.records


@pytest.mark.clause("BND-OTEL")
def test_an_attempt_that_failed_leaves_no_error_on_the_span_that_succeeded(
    tracer: Tracer, exporter: InMemorySpanExporter
) -> None:
    """The attempt has its own span, in the same trace, and is an event of its parent's."""
    with tracer.start_as_current_span("task") as task:
        with tracer.start_as_current_span("attempt") as attempt:
            failed = report(Code.TOOL_EXECUTION_FAILED, scope=Scope.STEP, terminal=True)
            tell(attempt, failed, scope=Scope.STEP)
            tell(task, failed, scope=Scope.TASK)
        tell(
            task,
            report(Code.RETRY_ATTEMPTED, scope=Scope.STEP, terminal=False, kind=Kind.EVENT),
            scope=Scope.TASK,
        )
        tell(task, report(Code.SUCCESS, terminal=True), scope=Scope.TASK)

    parent, child = exported(exporter, "task"), exported(exporter, "attempt")
    assert parent.status.status_code is StatusCode.UNSET
    assert child.status.status_code is StatusCode.ERROR
    assert [dict(event.attributes or {})["agent.status.code"] for event in parent.events] == [5005, 8003]
    assert {event.name for event in parent.events} == {"agent.status"}
    assert (parent.attributes or {})["agent.status.name"] == "SUCCESS"
    assert parent.context
    assert child.context
    assert parent.context.trace_id == child.context.trace_id


@pytest.mark.clause("INV-5")
@pytest.mark.clause("BND-OTEL")
def test_an_interruption_is_an_event_and_no_error(tracer: Tracer, exporter: InMemorySpanExporter) -> None:
    with tracer.start_as_current_span("task") as span:
        tell(
            span,
            Report(
                status=Status.of(Code.HUMAN_APPROVAL_REQUIRED, scope=Scope.TASK, terminal=False),
                occurred_at=NOW,
            ),
            scope=Scope.TASK,
        )

    found = exported(exporter, "task")
    assert [event.name for event in found.events] == ["agent.status"]
    assert found.status.status_code is StatusCode.UNSET
    assert not found.attributes


@pytest.mark.clause("SEC-5")
def test_no_word_id_or_address_is_exported(tracer: Tracer, exporter: InMemorySpanExporter) -> None:
    with tracer.start_as_current_span("task") as span:
        tell(span, report(Code.FATAL_ERROR, terminal=True), scope=Scope.TASK)
        tell(span, report(Code.TIMEOUT, scope=Scope.TOOL_CALL, terminal=True), scope=Scope.TASK)

    written = exported(exporter, "task").to_json()
    for said in ("words", "an-id", "index.example"):
        assert said not in written
