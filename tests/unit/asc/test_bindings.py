"""Inside other protocols a status means there what it means here, or nothing at all."""

import io
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.asc.specimens import NOW, everything, report, status
from turnkeeper.asc.bindings import a2a, exits, grpc, http, mcp, otel
from turnkeeper.asc.disclosure import MEDIA_TYPE, disclosed
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.said import has_failed
from turnkeeper.asc.status import Profile, Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope

EXTENSION = Status(code=9512, name="COFFEE_REQUIRED", scope="org.example.kitchen", terminal=True)


@pytest.mark.clause("BND-HTTP-1")
def test_a_synchronous_failure_is_a_problem_that_names_the_status() -> None:
    told = http.problem(disclosed(everything(), Profile.DEVELOPER), http_status=503)

    assert told["type"] == "urn:agent-status:DEPENDENCY_UNAVAILABLE"
    assert told["title"] == "Dependency unavailable"
    assert told["status"] == 503
    assert told["agent_status"] == {
        "code": 5003,
        "name": "DEPENDENCY_UNAVAILABLE",
        "scope": "task",
        "terminal": True,
    }
    assert told["retry"]["safe"] is True
    assert told["detail"] == "Try again later."
    assert http.name_of(told["type"]) == "DEPENDENCY_UNAVAILABLE"
    assert http.name_of("about:blank") is None


@pytest.mark.clause("BND-HTTP-1", "SEC-1")
def test_a_problem_says_no_more_than_the_envelope_that_it_is_made_of() -> None:
    told = http.problem(disclosed(everything(), Profile.PUBLIC), http_status=503)

    assert told.keys() == {"type", "title", "status", "agent_status", "detail"}


@pytest.mark.clause("BND-HTTP-1")
@pytest.mark.parametrize(
    ("contract", "seconds"),
    [
        (Contract(retryable=True, safe=True, after_ms=1001), 2),
        (Contract(retryable=True, safe=True, after_ms=0), 0),
        (Contract(retryable=True, safe=True), None),
        (Contract(retryable=False, after_ms=1000), None),
        (None, None),
    ],
)
def test_a_delay_is_told_in_whole_seconds_where_waiting_helps(
    contract: Contract | None, seconds: int | None
) -> None:
    made = report(Code.RATE_LIMITED, retry=contract)

    assert http.retry_after(disclosed(made, Profile.DEVELOPER)) == seconds


@pytest.mark.clause("BND-HTTP-2", "INV-2")
def test_asynchronous_work_is_accepted_and_reading_it_succeeds() -> None:
    assert http.ACCEPTED == (202, 1000)
    assert http.READ == 200


@pytest.mark.clause("BND-GRPC")
@pytest.mark.parametrize(
    ("code", "number"),
    [
        (Code.RATE_LIMITED, 8),
        (Code.PERMISSION_DENIED, 7),
        (Code.TIMEOUT, 4),
        (Code.DEPENDENCY_UNAVAILABLE, 14),
        (Code.FAILED_PRECONDITION, 9),
        (Code.ABORTED_CONCURRENCY, 10),
        (Code.INTERNAL_ERROR, 13),
        (Code.DATA_LOSS, 15),
        (Code.CANCELLED, 1),
        (Code.RESULT_STATE_UNKNOWN, 2),
        (Code.SUCCESS, 0),
        (Code.HUMAN_INPUT_REQUIRED, 0),
        (Code.OUTPUT_UNVERIFIED, 0),
    ],
)
def test_a_call_ends_as_grpc_says_it(code: Code, number: int) -> None:
    assert grpc.grpc_status(status(code)) == number


@pytest.mark.clause("BND-GRPC", "MOD-5")
def test_a_call_that_goes_on_or_speaks_of_a_condition_has_not_failed() -> None:
    assert grpc.grpc_status(status(Code.TIMEOUT, terminal=False)) is grpc.GrpcStatus.OK
    assert grpc.grpc_status(status(Code.TIMEOUT, kind=Kind.CONDITION)) is grpc.GrpcStatus.OK


@pytest.mark.clause("BND-A2A")
@pytest.mark.parametrize(
    ("code", "terminal", "state"),
    [
        (Code.ACCEPTED, False, "submitted"),
        (Code.RUNNING, False, "working"),
        (Code.RETRY_SCHEDULED, False, "working"),
        (Code.WAITING_DEPENDENCY, False, "working"),
        (Code.HUMAN_INPUT_REQUIRED, False, "input-required"),
        (Code.HUMAN_APPROVAL_REQUIRED, False, "input-required"),
        (Code.AUTHENTICATION_REQUIRED, False, "auth-required"),
        (Code.SUCCESS, True, "completed"),
        (Code.SUCCESS_WITH_WARNINGS, True, "completed"),
        (Code.PARTIAL_SUCCESS, True, "completed"),
        (Code.NO_ACTION_REQUIRED, True, "completed"),
        (Code.GUARDRAIL_BLOCKED, True, "rejected"),
        (Code.PERMISSION_DENIED, True, "rejected"),
        (Code.PERMISSION_DENIED, False, "working"),
        (Code.TIMEOUT, True, "failed"),
        (Code.TIMEOUT, False, "working"),
        (Code.FATAL_ERROR, True, "failed"),
        (Code.INVALID_REQUEST, True, "failed"),
        (Code.OUTPUT_UNVERIFIED, True, "completed"),
        (Code.CANCELLED, True, "canceled"),
    ],
)
def test_a_task_has_the_state_that_a2a_has_for_it(code: Code, state: str, *, terminal: bool) -> None:
    assert a2a.a2a_state(status(code, terminal=terminal)) == state


@pytest.mark.clause("BND-A2A")
def test_an_output_that_was_held_back_is_a_failure() -> None:
    assert a2a.a2a_state(status(Code.HALLUCINATION_SUSPECTED), withheld=True) == "failed"
    assert a2a.a2a_state(EXTENSION) == "failed"
    assert a2a.a2a_state(replace(EXTENSION, terminal=False)) == "working"


@pytest.mark.clause("BND-A2A", "CMP-7")
def test_a2a_carries_the_envelope_in_a_versioned_extension_that_is_experimental() -> None:
    envelope = disclosed(everything(), Profile.PUBLIC)

    assert a2a.EXTENSION.endswith(":0.1.0")
    assert a2a.metadata(envelope) == {a2a.EXTENSION: envelope}
    assert a2a.declaration()["uri"] == a2a.EXTENSION
    assert a2a.declaration()["params"] == {"spec_version": "0.1.0", "experimental": True}


@pytest.mark.clause("BND-MCP")
@pytest.mark.parametrize(
    ("code", "failed"),
    [
        (Code.TOOL_EXECUTION_FAILED, True),
        (Code.PERMISSION_DENIED, True),
        (Code.SUCCESS, False),
        (Code.HUMAN_INPUT_REQUIRED, False),
        (Code.LOW_CONFIDENCE, False),
    ],
)
def test_a_tool_that_failed_still_answers_and_carries_the_envelope(code: Code, failed: object) -> None:
    envelope = disclosed(report(), Profile.PUBLIC)
    answer = mcp.tool_result(status(code), text="No luck.", envelope=envelope, uri="task://t/status")
    text, resource = answer["content"]

    assert answer["isError"] is failed
    assert text == {"type": "text", "text": "No luck."}
    assert (resource["type"], resource["resource"]["mimeType"]) == ("resource", MEDIA_TYPE)
    assert json.loads(resource["resource"]["text"]) == envelope
    assert "error" not in answer


@pytest.mark.clause("BND-MCP", "MOD-5", "MOD-2")
def test_what_goes_on_or_stands_beside_the_outcome_has_not_failed() -> None:
    assert has_failed(status(Code.TIMEOUT))
    assert not has_failed(status(Code.TIMEOUT, terminal=False))
    assert not has_failed(status(Code.TIMEOUT, kind=Kind.CONDITION))


@pytest.mark.clause("BND-EXIT")
@pytest.mark.parametrize(
    ("code", "number"),
    [
        (Code.SUCCESS, 0),
        (Code.RUNNING, 10),
        (Code.HUMAN_INPUT_REQUIRED, 30),
        (Code.NOT_FOUND, 40),
        (Code.TIMEOUT, 50),
        (Code.FATAL_ERROR, 60),
        (Code.RESULT_STATE_UNKNOWN, 61),
        (Code.OUTPUT_UNVERIFIED, 70),
    ],
)
def test_a_command_exits_by_its_class_and_still_writes_the_envelope(code: Code, number: int) -> None:
    written, envelope = io.StringIO(), disclosed(everything(), Profile.PUBLIC)

    assert exits.finish(status(code), envelope, written) == number
    assert written.getvalue().endswith("\n")
    assert json.loads(written.getvalue()) == envelope


@pytest.mark.clause("BND-EXIT", "MOD-5")
def test_a_success_that_goes_on_is_not_over_for_a_script() -> None:
    assert exits.exit_status(status(Code.SUCCESS, terminal=False)) == exits.NOT_FINISHED


@pytest.mark.clause("BND-EXIT")
def test_no_exit_code_is_one_that_shells_use_themselves() -> None:
    kinds = {code: Kind.EVENT if code // 1000 == 8 else Kind.STATUS for code in Code}
    used = {exits.exit_status(status(code, kind=kind, terminal=False)) for code, kind in kinds.items()}

    assert used | {exits.exit_status(EXTENSION)} == {0, 10, 30, 40, 50, 60, 61, 70, 90}


@pytest.mark.clause("BND-OTEL")
def test_a_span_has_the_attributes_of_its_status() -> None:
    contract = Contract(retryable=True, safe=False)
    told = otel.attributes(status(Code.TIMEOUT), retry=contract, phase=Phase.FINISHED)

    assert told == {
        "agent.status.code": 5004,
        "agent.status.name": "TIMEOUT",
        "agent.status.class": "transient_failure",
        "agent.status.kind": "status",
        "agent.status.scope": "task",
        "agent.status.terminal": True,
        "agent.status.retryable": True,
        "agent.status.retry_safe": False,
        "agent.lifecycle.phase": "FINISHED",
    }
    assert all(type(value) in (str, int, bool) for value in told.values())


@pytest.mark.clause("BND-OTEL", "SEC-5")
def test_labels_are_bounded_whatever_others_invent() -> None:
    invented = [
        Status(code=code, name=f"COFFEE_{code}", scope=f"org.example.s{code}", terminal=True)
        for code in range(9000, 9900)
    ]
    values = {tuple(otel.labels(one).items()) for one in invented}

    assert len(values) == 1
    assert otel.labels(EXTENSION)["agent.status.name"] == "UNREGISTERED"
    assert otel.labels(EXTENSION)["agent.status.code"] == 9000
    assert otel.labels(EXTENSION)["agent.status.scope"] == "extension"
    assert otel.labels(status(Code.TIMEOUT)) == otel.attributes(status(Code.TIMEOUT))


@pytest.mark.clause("BND-OTEL", "SEC-5")
def test_no_word_of_a_report_gets_into_a_label_or_an_attribute() -> None:
    made = everything()
    told: dict[str, Any] = otel.attributes(made.status, retry=made.retry) | otel.labels(made.status)

    assert not {"Try again later.", "alice", "k-1", "c-1", "r-1"} & {str(value) for value in told.values()}


@pytest.mark.clause("BND-OTEL")
@pytest.mark.parametrize(
    ("said", "is_event"),
    [
        (status(Code.RETRY_SCHEDULED, terminal=False), True),
        (status(Code.FALLBACK_USED, terminal=False, kind=Kind.EVENT), True),
        (status(Code.LOW_CONFIDENCE, kind=Kind.CONDITION), True),
        (status(Code.TIMEOUT, scope=Scope.TOOL_CALL), True),
        (status(Code.TIMEOUT), False),
        (status(Code.SUCCESS), False),
    ],
)
def test_transitions_and_what_happened_inside_are_events_of_a_span(said: Status, is_event: object) -> None:
    assert otel.is_span_event(said, span_scope=Scope.TASK) is is_event


@pytest.mark.clause("BND-OTEL")
def test_an_attempt_that_later_succeeds_leaves_no_error_on_the_parents_span() -> None:
    attempts = [status(Code.TIMEOUT, scope=Scope.TOOL_CALL), status(Code.SUCCESS, scope=Scope.TOOL_CALL)]
    whole = [*attempts, status(Code.SUCCESS)]

    assert not any(otel.marks_error(one, span_scope=Scope.TASK) for one in whole)
    assert otel.marks_error(attempts[0], span_scope=Scope.TOOL_CALL)
    assert otel.marks_error(status(Code.FATAL_ERROR), span_scope=Scope.TASK)


@pytest.mark.clause("INV-5")
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("code", [code for code in Code if code // 1000 in (1, 2, 3)])
def test_an_interruption_is_no_failure(code: Code, *, terminal: bool) -> None:
    said = status(code, terminal=terminal)

    assert not has_failed(said, withheld=True)
    assert not otel.marks_error(said, span_scope=Scope.TASK)
    made = Report(status=said, occurred_at=NOW, retry=Contract(side_effect_state=SideEffects.NONE))
    assert not mcp.tool_result(said, text="", envelope=disclosed(made, Profile.PUBLIC), uri="x://y")[
        "isError"
    ]
