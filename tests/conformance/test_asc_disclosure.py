"""Who is told what: one end of a task as the public, developers, operators and auditors see it, and what nobody is."""

import json
from typing import Any

import pytest

from tests.conformance.client import Json
from tests.conformance.envelopes import Reader, paths, report, said, told
from tests.conformance.host import Host, auth, host_wait, review
from tests.conformance.person import Person

TRACE = "0af7651916cd43dd8448eb211c80319c"
JUDGED: Json = {
    "evaluator": "judge",
    "version": "3",
    "method": "entailment",
    "fails": "closed",
    "evidence": ["claim-4"],
}
SURE: Json = {
    "metric": "support",
    "value": 0.2,
    "range": [0, 1],
    "threshold": 0.6,
    "method": "entailment",
    "evaluator": "judge",
}
DECLARED: Json = {
    "outcome": 7003,
    "message": {"user": "I got that wrong.", "developer": "The claim is not in the sources.", "locale": "en"},
    "retry": {"retryable": False, "safe": True, "side_effect_state": "none"},
    "confidence": SURE,
    "evaluation": JUDGED,
    "diagnostics": {
        "dependency": "index-eu",
        "resource_state": "draining",
        "trace_id": TRACE,
        "span_id": "b7ad6b7169203331",
        "details": {"org.example.shard": 7},
    },
}
PUBLIC = {
    *("spec_version", "occurred_at", "message.user", "message.locale", "provenance.correlation_id"),
    *(f"status.{name}" for name in ("code", "name", "class", "kind", "scope", "terminal", "phase")),
}
DEVELOPERS = {
    *("status.severity", "message.developer", "retry.retryable", "retry.safe", "retry.side_effect_state"),
    "provenance.report_id",
}
OPERATORS = {
    *(f"provenance.{name}" for name in ("dependency", "resource_state", "trace_id", "span_id")),
    *(f"confidence.{name}" for name in SURE),
    "details.org.example.shard",
}
AUDITORS = {"provenance.history", *(f"provenance.evaluation.{name}" for name in JUDGED)}


@pytest.fixture
def ended(host: Host, idle: str) -> str:
    """A task that ended with everything that a host may declare."""
    host.do(idle, "error", **DECLARED)
    return idle


@pytest.mark.clause("SEC-1")
@pytest.mark.clause("SEC-5")
@pytest.mark.clause("ENV-4")
def test_the_public_sees_a_code_a_safe_message_and_an_opaque_id(owner: Person, ended: str) -> None:
    assert set(paths(told(owner, ended))) == PUBLIC
    assert told(owner, ended)["message"]["user"] == DECLARED["message"]["user"]


@pytest.mark.clause("SEC-1")
@pytest.mark.clause("INV-7")
def test_operators_see_what_the_provider_said_too(host: Host, ended: str) -> None:
    envelope = told(host, ended)

    assert set(paths(envelope)) == PUBLIC | DEVELOPERS | OPERATORS
    assert envelope["details"] == DECLARED["diagnostics"]["details"]
    assert envelope["provenance"]["dependency"] == "index-eu"
    assert envelope["provenance"]["trace_id"] == TRACE
    assert envelope["confidence"]["threshold"] == SURE["threshold"]


@pytest.mark.clause("SEC-1")
def test_developers_see_the_contract_and_their_message_and_no_dependency(
    developer: Person, ended: str
) -> None:
    assert set(paths(told(developer, ended))) == PUBLIC | DEVELOPERS


@pytest.mark.clause("SEC-1")
@pytest.mark.clause("SEC-6")
def test_auditors_see_who_judged_and_how_and_the_head_of_the_history(auditor: Host, ended: str) -> None:
    envelope = told(auditor, ended)

    assert set(paths(envelope)) == PUBLIC | DEVELOPERS | OPERATORS | AUDITORS
    assert envelope["provenance"]["evaluation"] == JUDGED


@pytest.mark.clause("SEC-1")
def test_auditors_see_who_approved_and_no_one_else_does(
    other: Person, host: Host, auditor: Host, other_id: str, queued: str
) -> None:
    subject = f"May {queued}?"
    host.wait(queued, host.start(queued), review("r", other_id, subject))
    assert other.decide(other.review_of(subject), "approve").status_code == 200

    assert told(auditor, queued)["provenance"]["approver"] == other_id
    assert other_id not in json.dumps(told(host, queued))


@pytest.mark.clause("SEC-1")
def test_no_reader_is_told_another_status_at_the_end(
    owner: Person, developer: Person, host: Host, auditor: Host, ended: str
) -> None:
    readers: tuple[Reader, ...] = (owner, developer, host, auditor)

    assert {said(told(reader, ended)) for reader in readers} == {
        (7003, "HALLUCINATION_DETECTED", "FINISHED", True)
    }


@pytest.mark.clause("SEC-1")
def test_a_way_out_is_broad_for_the_public_and_names_the_provider_to_insiders(
    owner: Person, host: Host, queued: str
) -> None:
    host.wait(queued, host.start(queued), auth("w", "github"))

    (public,), (operator,) = told(owner, queued)["remediation"], told(host, queued)["remediation"]

    assert public.keys() == {"action"}
    assert operator == {**public, "detail": "github"}


@pytest.mark.clause("SEC-1")
@pytest.mark.clause("SEC-5")
def test_what_stands_beside_the_status_is_for_insiders(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    before = told(owner, queued)
    host.hears(queued, fence, report(8002, kind="event", scope="model_call", terminal=False))
    host.hears(queued, fence, report(7000, kind="condition", scope="evaluation", terminal=False))
    host.hears(queued, fence, report(5001), unit="search")
    host.wait(queued, fence, host_wait("w"))

    assert told(owner, queued) == before
    assert {"conditions", "events"} <= told(host, queued).keys()


@pytest.mark.clause("SEC-3")
def test_of_a_blocked_guardrail_nobody_is_told_a_threshold_or_an_expression(
    owner: Person, host: Host, idle: str
) -> None:
    declared = {
        "message": {"user": "Ask for at most three."},
        "confidence": SURE,
        "evaluation": JUDGED,
        "diagnostics": {"details": {"org.example.limit": "canary"}},
    }
    host.do(idle, "restrict", **declared)

    public, operator = told(owner, idle), told(host, idle)

    assert public["message"]["user"] == "Ask for at most three.", "it says enough to mend the request"
    assert "canary" not in json.dumps([public, operator])
    assert not {"confidence", "details"} & operator.keys()


@pytest.mark.clause("SEC-3")
def test_a_task_that_its_own_guardrail_locked_does_not_tell_the_expression(owner: Person, host: Host) -> None:
    step = {"assert": "!input.message[0].text.contains('canary')", "on_fail": "lock_task"}
    task = owner.create(host.declare(guardrails={"before": [step]}), "a canary")
    host.post(task, "turns")

    public, operator = told(owner, task), told(host, task)

    assert said(public)[:2] == (4003, "GUARDRAIL_BLOCKED")
    assert "canary" not in json.dumps([public, operator])


WRONG: list[tuple[Json, str]] = [
    ({"message": {"user": 'Traceback (most recent call last):\n  File "x"'}}, "message.user"),
    ({"message": {"developer": 'Traceback (most recent call last):\n  File "x"'}}, "message.developer"),
    ({"message": {"developer": "java.lang.Error\n    at com.example.Pay(Pay.java:7)"}}, "message.developer"),
    ({"message": {"user": "x" * 2001}}, "message.user"),
]


@pytest.mark.clause("ENV-4")
@pytest.mark.parametrize(("wrong", "at"), WRONG)
def test_a_stack_trace_is_no_message(owner: Person, host: Host, idle: str, wrong: Json, at: str) -> None:
    before = owner.sees(idle)

    refused = host.post(idle, "error", **wrong)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, at)
    assert owner.sees(idle) == before


@pytest.mark.clause("ENV-6")
@pytest.mark.parametrize("key", ["shard", "Example.Shard", "example.shard", "org..shard"])
def test_an_extension_key_is_a_reverse_domain_name(host: Host, idle: str, key: str) -> None:
    refused = host.post(idle, "error", diagnostics={"details": {key: 7}})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["at"] == f"diagnostics.details.{key}"


@pytest.mark.clause("ENV-6")
def test_an_extension_changes_nothing_of_what_a_code_means(owner: Person, host: Host, idle: str) -> None:
    host.do(idle, "error", outcome=5003, diagnostics={"details": {"org.example.actually": "SUCCESS"}})

    assert said(told(owner, idle)) == said(told(host, idle))
    assert said(told(owner, idle))[:2] == (5003, "DEPENDENCY_UNAVAILABLE")


@pytest.mark.clause("ENV-8")
@pytest.mark.clause("SEC-5")
@pytest.mark.parametrize("name", ["prompt", "chain_of_thought", "arguments", "user_id"])
def test_details_have_no_room_for_what_is_private_at_any_depth(host: Host, idle: str, name: str) -> None:
    for details in ({f"org.example.{name}": "x"}, {"org.example.more": {"inside": [{name: "x"}]}}):
        assert host.post(idle, "error", diagnostics={"details": details}).status_code == 422


@pytest.mark.clause("ENV-7")
@pytest.mark.parametrize(
    "wrong",
    [
        *({key: value for key, value in SURE.items() if key != left_out} for left_out in SURE),
        {**SURE, "value": 2},
        {**SURE, "threshold": -1},
        {**SURE, "range": [1, 0]},
        0.2,
    ],
)
def test_a_confidence_says_of_what_by_which_measure_and_who_says_so(
    host: Host, idle: str, wrong: object
) -> None:
    refused = host.post(idle, "error", outcome=7001, confidence=wrong, evaluation=JUDGED)

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["at"].startswith("confidence")


@pytest.mark.clause("ENV-7")
def test_no_confidence_makes_a_success_of_what_was_not_reached(host: Host, queued: str) -> None:
    fence = host.start(queued)
    host.hears(queued, fence, report(5003), unit="label", requested=True)
    host.finish(queued, fence, "half of it")

    certain: dict[str, Any] = {"confidence": {**SURE, "value": 1}, "evaluation": JUDGED}

    assert host.post(queued, "complete", outcome=2000, **certain).status_code == 409


@pytest.mark.clause("SEC-6")
@pytest.mark.parametrize("missing", ["evaluator", "version", "method", "fails"])
def test_an_evaluation_names_who_judged_in_which_version_how_and_how_it_fails(
    host: Host, idle: str, missing: str
) -> None:
    less = {key: value for key, value in JUDGED.items() if key != missing}

    refused = host.post(idle, "error", outcome=7002, evaluation=less)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, f"evaluation.{missing}")


@pytest.mark.clause("SEC-6")
@pytest.mark.clause("ENV-7")
def test_a_confidence_without_who_judged_is_refused(host: Host, idle: str) -> None:
    assert host.post(idle, "error", outcome=7001, confidence=SURE).status_code == 422


@pytest.mark.clause("REG-7")
def test_a_hallucination_is_detected_by_evidence_and_a_method_only(
    owner: Person, host: Host, idle: str
) -> None:
    without = [{}, {"evaluation": {**JUDGED, "evidence": []}}]

    refused = [host.post(idle, "error", outcome=7003, **one) for one in without]
    assert [(one.status_code, one.json()["errors"][0]["at"]) for one in refused] == [(422, "outcome")] * 2
    assert host.post(idle, "error", outcome=7003, evaluation={**JUDGED, "method": ""}).status_code == 422
    host.do(idle, "error", outcome=7003, evaluation=JUDGED)

    assert said(told(owner, idle))[:2] == (7003, "HALLUCINATION_DETECTED")
