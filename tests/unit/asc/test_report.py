"""A report that we make says nothing that a report may not say."""

from dataclasses import fields, is_dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any, get_type_hints

import pytest

from tests.unit.asc.specimens import CONFIDENCE, EVALUATION, NOW, condition, event, report, status
from turnkeeper.asc import parts, retry
from turnkeeper.asc.parts import Boundary, Confidence, Fails, Message, Provenance, Reference, Remediation
from turnkeeper.asc.refusals import PairMismatch, StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import DEEPEST, MOST, PRIVATE, Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.vocabulary import Kind

JUDGED = Provenance(evaluation=EVALUATION)


def refused(at: str, **said: Any) -> str:
    """The words with which a report that says *said* is refused at *at*."""
    code = said.pop("code", Code.FATAL_ERROR)
    with pytest.raises(StatusRefused) as refusal:
        report(code, **said)
    assert refusal.value.at == at
    return refusal.value.problem


@pytest.mark.clause("ENV-1")
def test_an_instant_without_an_offset_is_refused() -> None:
    with pytest.raises(StatusRefused, match="occurred_at has no offset"):
        Report(status=status(Code.SUCCESS), occurred_at=datetime(2026, 3, 1))  # noqa: DTZ001


@pytest.mark.clause("ENV-1")
def test_an_offset_that_rfc_3339_cannot_write_is_refused() -> None:
    odd = timezone(timedelta(minutes=5, seconds=30))

    with pytest.raises(StatusRefused, match="in whole minutes"):
        Report(status=status(Code.SUCCESS), occurred_at=NOW.astimezone(odd))
    with pytest.raises(StatusRefused, match="in whole minutes"):
        Contract(deadline=NOW.astimezone(odd))


@pytest.mark.clause("ENV-4")
@pytest.mark.parametrize(
    "trace",
    [
        'Traceback (most recent call last):\n  File "a.py", line 1',
        'KeyError\n  File "/srv/a.py", line 3, in f',
        "java.lang.Oops\n\tat com.example.A(A.java:3)",
    ],
)
@pytest.mark.parametrize("for_whom", ["user", "developer"])
def test_a_stack_trace_is_no_message(for_whom: str, trace: str) -> None:
    with pytest.raises(StatusRefused, match="is a stack trace"):
        Message(**{for_whom: trace})


@pytest.mark.clause("ENV-4")
def test_a_message_is_a_summary() -> None:
    with pytest.raises(StatusRefused, match="too long for a summary"):
        Message(developer="x" * (parts.LONGEST_MESSAGE + 1))
    with pytest.raises(StatusRefused, match="too long"):
        Message(user="x" * (parts.LONGEST_MESSAGE + 1))
    assert Message(developer="It is at a loss, in file a.py.").user is None


@pytest.mark.clause("ENV-5", "MOD-2")
def test_conditions_and_events_are_of_their_kind() -> None:
    assert refused("conditions", conditions=(report(),)) == "has one of another kind"
    assert refused("events", events=(condition(Code.TIMEOUT),)) == "has one of another kind"


@pytest.mark.clause("ENV-5")
def test_events_are_in_order_of_occurrence() -> None:
    first, second = event(Code.RETRY_ATTEMPTED), event(Code.FALLBACK_USED, after=timedelta(seconds=1))

    assert refused("events", events=(second, first)) == "are not in order of occurrence"
    assert report(events=(first, second)).events == (first, second)


def chain(length: int) -> Report:
    """*length* reports, each the cause of the one before."""
    made = report()
    for _ in range(length - 1):
        made = report(causes=(made,))
    return made


@pytest.mark.clause("ENV-5")
def test_causes_have_a_limit_of_depth() -> None:
    deepest = chain(DEEPEST)

    assert "deeper" in refused("causes", causes=(deepest,))
    assert "deeper" in refused("causes", conditions=(replace(condition(Code.TIMEOUT), causes=(chain(7),)),))


@pytest.mark.clause("ENV-5")
def test_causes_never_lead_back_to_where_they_began() -> None:
    me = Provenance(report_id="r-1")
    back = Reference(ref="r-1", code=6000, name="FATAL_ERROR")

    assert "lead back" in refused("causes", provenance=me, causes=(back,))
    assert "lead back" in refused("causes", provenance=me, causes=(report(causes=(back,)),))
    assert "lead back" in refused("causes", provenance=me, causes=(report(provenance=me),))
    assert report(provenance=me, causes=(replace(back, ref="r-2"), replace(back, ref="r-2"))).causes


@pytest.mark.parametrize(
    "said",
    [
        {"causes": (Reference(ref="r", code=6000, name="FATAL_ERROR"),) * (MOST + 1)},
        {"remediation": (Remediation(action="wait"),) * (MOST + 1)},
    ],
)
def test_a_report_is_no_dump(said: dict[str, Any]) -> None:
    assert str(MOST) in refused("causes", **said)


@pytest.mark.clause("REG-2")
def test_a_cause_that_is_only_pointed_at_has_the_right_name_too() -> None:
    with pytest.raises(PairMismatch):
        Reference(ref="r", code=2000, name="FATAL_ERROR")
    assert Reference(ref="r", code=5999, name="BRAND_NEW").code == 5999


def test_a_way_out_says_what_to_do() -> None:
    with pytest.raises(StatusRefused, match="is empty"):
        Remediation(action="")


@pytest.mark.clause("ENV-6")
@pytest.mark.parametrize(
    "key", ["", "depth", "queue.depth", "Org.Example.Depth", "org.example.", "org example.x"]
)
def test_an_extension_key_is_a_reverse_domain_name(key: str) -> None:
    assert refused(f"details.{key}", details={key: 1}) == "is no reverse-domain name"


@pytest.mark.parametrize("value", [float("nan"), object(), {1, 2}, b"x"])
def test_details_that_are_no_json_are_refused(value: object) -> None:
    assert "JSON" in refused("details", details={"org.example.value": value})


def test_details_that_contain_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = endless

    assert "JSON" in refused("details", details={"org.example.value": endless})


@pytest.mark.clause("ENV-8", "SEC-5", "SEC-3")
@pytest.mark.parametrize("word", sorted(PRIVATE))
def test_details_have_no_room_for_what_is_private_at_any_depth(word: str) -> None:
    assert "may carry" in refused(f"details.org.example.{word}", details={f"org.example.{word}": "x"})
    assert "may carry" in refused(f"details.{word.upper()}", details={"org.example.a": [{word.upper(): "x"}]})


@pytest.mark.clause("ENV-8", "SEC-5")
def test_no_part_of_a_report_is_called_after_something_private() -> None:
    known = [
        Report,
        *(kind for module in (parts, retry) for kind in vars(module).values() if is_dataclass(kind)),
    ]

    assert not {part.name for kind in known for part in fields(kind)} & PRIVATE


@pytest.mark.clause("ENV-7")
@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"metric": ""}, "metric, method and evaluator"),
        ({"method": ""}, "metric, method and evaluator"),
        ({"evaluator": ""}, "metric, method and evaluator"),
        ({"value": float("nan")}, "not finite"),
        ({"range": (0, float("inf"))}, "not finite"),
        ({"range": (1, 1)}, "empty"),
        ({"value": 1.1}, "outside its range"),
        ({"threshold": -0.1}, "outside its range"),
    ],
)
def test_a_confidence_says_what_it_is_of(changed: dict[str, Any], problem: str) -> None:
    with pytest.raises(StatusRefused, match=problem):
        replace(CONFIDENCE, **changed)


@pytest.mark.clause("ENV-7")
def test_a_bare_number_is_no_confidence() -> None:
    assert get_type_hints(Report)["confidence"] == Confidence | None
    assert all(part.default is part.default_factory for part in fields(Confidence)), (
        "one of its facts may be left out"
    )


@pytest.mark.clause("ENV-7", "SEC-6")
def test_low_confidence_says_in_what_and_who_judged() -> None:
    assert "in what" in refused("confidence", code=Code.LOW_CONFIDENCE, provenance=JUDGED)
    assert "who judged" in refused("provenance.evaluation", code=Code.LOW_CONFIDENCE, confidence=CONFIDENCE)
    assert report(Code.LOW_CONFIDENCE, confidence=CONFIDENCE, provenance=JUDGED).confidence is CONFIDENCE


@pytest.mark.clause("SEC-6")
@pytest.mark.parametrize("missing", ["evaluator", "version", "method"])
def test_an_evaluation_names_who_judged_in_which_version_and_how(missing: str) -> None:
    without: dict[str, Any] = {missing: ""}
    with pytest.raises(StatusRefused, match="evaluator, version and method"):
        replace(EVALUATION, **without)
    assert EVALUATION.fails is Fails.CLOSED


@pytest.mark.clause("REG-7")
def test_a_hallucination_is_detected_by_evidence_and_suspected_without() -> None:
    no_evidence = Provenance(evaluation=replace(EVALUATION, evidence=()))

    assert "HALLUCINATION_SUSPECTED" in refused("status.code", code=Code.HALLUCINATION_DETECTED)
    assert "HALLUCINATION_SUSPECTED" in refused(
        "status.code", code=Code.HALLUCINATION_DETECTED, provenance=no_evidence
    )
    assert report(Code.HALLUCINATION_DETECTED, provenance=JUDGED).status.code == 7003
    assert report(Code.HALLUCINATION_SUSPECTED, provenance=no_evidence).status.code == 7002


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize("state", [SideEffects.POSSIBLE, SideEffects.UNKNOWN])
def test_a_timeout_that_may_have_changed_something_is_an_unknown_result(state: SideEffects) -> None:
    contract = Contract(side_effect_state=state)

    assert "RESULT_STATE_UNKNOWN" in refused("status.code", code=Code.TIMEOUT, retry=contract)
    assert report(Code.TIMEOUT, retry=Contract(side_effect_state=SideEffects.NONE)).retry


@pytest.mark.clause("RET-4")
def test_an_unknown_result_says_how_it_is_reconciled() -> None:
    action = "retry.reconciliation_action"

    assert "before any repeat" in refused(action, code=Code.RESULT_STATE_UNKNOWN, retry=Contract())
    assert report(Code.RESULT_STATE_UNKNOWN, retry=Contract(reconciliation_action="look_up")).retry


@pytest.mark.clause("RET-5")
@pytest.mark.parametrize("code", sorted(retry.AFTER_TRANSITION))
@pytest.mark.parametrize("contract", [Contract(retryable=True, safe=True), Contract(after_ms=1000)])
def test_what_waiting_does_not_mend_promises_nothing_for_waiting(code: Code, contract: Contract) -> None:
    assert "named transition" in refused("retry", code=code, retry=contract)
    assert report(code, retry=Contract(safe=True, strategy="after_approval")).retry


@pytest.mark.clause("SEC-4")
@pytest.mark.parametrize("missing", ["issuer", "observed_by", "authority", "integrity"])
def test_a_report_from_across_a_boundary_names_all_four(missing: str) -> None:
    four = {"issuer": "a", "observed_by": "b", "authority": "c", "integrity": "d"}

    with pytest.raises(StatusRefused, match="go together"):
        Boundary(**(four | {missing: ""}))


@pytest.mark.clause("PROF-4")
@pytest.mark.parametrize(
    "ids",
    [
        {"trace_id": "0" * 32},
        {"trace_id": "A" * 32},
        {"trace_id": "ab"},
        {"span_id": "0" * 16},
        {"span_id": "x"},
    ],
)
def test_a_trace_is_one_that_can_be_looked_up(ids: dict[str, Any]) -> None:
    with pytest.raises(StatusRefused, match=r"is no (trace|span) id"):
        Provenance(**ids)


@pytest.mark.clause("INV-1", "MOD-2")
def test_a_report_has_one_status_and_the_rest_stands_beside_it() -> None:
    made = report(conditions=(condition(Code.TIMEOUT), condition(Code.RATE_LIMITED)))

    assert made.status.code == Code.FATAL_ERROR
    assert {one.status.kind for one in made.conditions} == {Kind.CONDITION}
    assert made.occurred_at == NOW
