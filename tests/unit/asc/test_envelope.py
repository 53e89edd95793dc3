"""What strangers report is kept as it came, understood as far as it goes, and refused with a reason if damaged."""

import copy
import json
from typing import Any

import pytest

from tests.unit.asc.specimens import NOW, everything, report
from turnkeeper.asc import envelope, envelope_json
from turnkeeper.asc.disclosure import disclosed
from turnkeeper.asc.envelope import Envelope
from turnkeeper.asc.refusals import EnvelopeRefused, IntegrityError
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import DEEPEST, MOST
from turnkeeper.asc.retry import Budget, SideEffects, should_retry
from turnkeeper.asc.status import Profile
from turnkeeper.asc.vocabulary import Kind, Phase, Severity

MINIMUM: dict[str, Any] = {
    "spec_version": "0.1.0",
    "status": {"code": 5004, "name": "TIMEOUT", "kind": "status", "scope": "task", "terminal": False},
    "occurred_at": "2026-03-01T12:00:00Z",
}
CONFIDENCE = {
    "metric": "m",
    "value": 0.5,
    "range": [0, 1],
    "threshold": 0.7,
    "method": "x",
    "evaluator": "e",
}


def minimum(status: dict[str, Any] | None = None, **said: Any) -> dict[str, Any]:
    """The least that an envelope says, with *status* and *said* changed or added."""
    return copy.deepcopy(MINIMUM) | {"status": MINIMUM["status"] | (status or {})} | said


def refusal(source: Any) -> EnvelopeRefused:
    """How *source* is refused."""
    with pytest.raises(EnvelopeRefused) as refused:
        envelope.read(source)
    assert refused.value.places
    assert all(place.at and place.problem for place in refused.value.places)
    return refused.value


@pytest.mark.clause("ENV-1")
def test_the_minimum_is_an_envelope() -> None:
    heard = envelope.read(json.dumps(MINIMUM))

    assert heard.status.known is Code.TIMEOUT
    assert heard.occurred_at == NOW
    assert (heard.status.kind, heard.status.scope, heard.status.terminal) == (Kind.STATUS, "task", False)
    assert heard.retry is None
    assert heard.document == MINIMUM


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize("missing", ["spec_version", "status", "occurred_at"])
def test_less_than_the_minimum_is_none(missing: str) -> None:
    said = {key: value for key, value in MINIMUM.items() if key != missing}

    assert [place.at for place in refusal(said).places] == [missing]


@pytest.mark.clause("ENV-1", "MOD-5", "REG-1")
@pytest.mark.parametrize("missing", ["code", "name", "kind", "scope", "terminal"])
def test_a_status_that_leaves_something_out_is_none(missing: str) -> None:
    said = minimum()
    said["status"].pop(missing)

    assert [place.at for place in refusal(said).places] == [f"status.{missing}"]


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize("profile", Profile)
def test_what_we_say_is_what_we_hear(profile: Profile) -> None:
    said = disclosed(everything(), profile)
    heard = envelope.read(json.dumps(said))

    assert heard.document == said
    assert heard.status.known is Code.DEPENDENCY_UNAVAILABLE
    assert heard.retry == (everything().retry if profile > Profile.PUBLIC else None)


@pytest.mark.clause("ENV-2", "CMP-4", "CMP-5", "MOD-3", "CMP-3")
def test_unknown_codes_fields_scopes_and_phases_survive() -> None:
    said = minimum(
        {
            "code": 5999,
            "name": "BRAND_NEW",
            "scope": "galaxy",
            "phase": "DREAMING",
            "severity": "loud",
            "mood": [1],
        },
        spec_version="0.4.2-rc.1",
        flavour={"sour": True},
        causes=[minimum({"code": 9777, "name": "OURS", "x": 1}, y=2), {"ref": "r", "z": None}],
        retry={"retryable": True, "side_effect_state": "quantum", "hope": 1},
    )
    heard = envelope.read(json.dumps(said))

    assert heard.document == said
    assert (heard.status.code, heard.status.name, heard.status.known) == (5999, "BRAND_NEW", None)
    assert heard.status.class_ == "transient_failure"
    assert heard.status.scope == "galaxy"
    assert heard.status.phase is Phase.UNKNOWN
    assert heard.status.severity is Severity.WARNING
    assert heard.retry is not None
    assert heard.retry.side_effect_state is SideEffects.UNKNOWN


@pytest.mark.clause("ENV-2", "ENV-3")
@pytest.mark.parametrize("part", sorted({*Envelope.model_fields} - {"document", *MINIMUM}))
def test_a_part_that_is_null_says_nothing(part: str) -> None:
    field = Envelope.model_fields[part].alias or part

    heard = envelope.read(minimum(**{field: None}))

    assert not getattr(heard, part)
    assert heard.document[field] is None


@pytest.mark.clause("REG-4", "REG-3")
@pytest.mark.parametrize("code", [1999, 8999, 9000, 9500, 9800, 9999])
def test_a_code_is_kept_whoever_assigned_it(code: int) -> None:
    kind = "event" if code == 8999 else "status"
    heard = envelope.read(minimum({"code": code, "name": "BRAND_NEW", "kind": kind}))

    assert (heard.status.code, heard.status.known) == (code, None)


@pytest.mark.clause("REG-2")
@pytest.mark.parametrize(
    "status",
    [
        {"code": 2000},
        {"name": "SUCCESS"},
        {"code": 5999},
        {"name": "BRAND_NEW"},
        {"class": "success"},
        {"code": 2000, "name": "SUCCESS", "class": "transient_failure"},
    ],
)
def test_a_status_that_contradicts_the_registry_was_altered(status: dict[str, Any]) -> None:
    assert isinstance(refusal(minimum(status)), IntegrityError)


@pytest.mark.clause("REG-2")
@pytest.mark.parametrize(
    ("part", "inside", "at"),
    [
        ("causes", minimum({"code": 2000}), "causes[0].status"),
        ("causes", {"ref": "r", "code": 2000, "name": "TIMEOUT"}, "causes[0]"),
        ("conditions", minimum({"code": 2000, "kind": "condition"}), "conditions[0].status"),
        ("events", minimum({"code": 2000, "kind": "event"}), "events[0].status"),
        ("causes", minimum(causes=[minimum({"name": "SUCCESS"})]), "causes[0].causes[0].status"),
    ],
)
def test_what_is_altered_inside_makes_the_whole_unbelievable(
    part: str, inside: dict[str, Any], at: str
) -> None:
    refused = refusal(minimum() | {part: [inside]})

    assert isinstance(refused, IntegrityError)
    assert [place.at for place in refused.places] == [at]


@pytest.mark.clause("MOD-2")
@pytest.mark.parametrize(
    "status", [{"kind": "status"}, {"kind": "condition"}, {"kind": "event", "terminal": True}]
)
@pytest.mark.parametrize(("code", "name"), [(8002, "FALLBACK_USED"), (8500, "BRAND_NEW")])
def test_an_event_is_heard_as_no_outcome(code: int, name: str, status: dict[str, Any]) -> None:
    assert isinstance(refusal(minimum({"code": code, "name": name} | status)), IntegrityError)


@pytest.mark.clause("MOD-2", "ENV-5")
def test_conditions_and_events_are_heard_in_their_lists_only() -> None:
    assert refusal(minimum(conditions=[minimum()])).places[0].problem == "has one of another kind"
    assert (
        refusal(minimum(events=[minimum({"kind": "condition"})])).places[0].problem
        == "has one of another kind"
    )


@pytest.mark.clause("MOD-5", "RET-2")
@pytest.mark.parametrize("word", ["true", "false", 1, 0, None, [], {}])
@pytest.mark.parametrize(
    ("part", "at"),
    [("terminal", "status.terminal"), ("safe", "retry.safe"), ("retryable", "retry.retryable")],
)
def test_what_only_looks_like_a_yes_is_refused(part: str, at: str, word: object) -> None:
    said = (
        minimum({"terminal": word})
        if part == "terminal"
        else minimum(retry={"retryable": True, "safe": True, part: word})
    )

    assert [place.at for place in refusal(said).places] == [at]


@pytest.mark.clause("RET-1", "RET-2")
@pytest.mark.parametrize("retry", [{}, {"retryable": True}, {"safe": True}])
def test_half_a_contract_promises_nothing(retry: dict[str, Any]) -> None:
    heard = envelope.read(minimum({"code": 5000, "name": "RETRYABLE_ERROR"}, retry=retry))
    allowed = should_retry(
        heard.retry,
        code=heard.status.code,
        name=heard.status.name,
        budget=Budget(attempts_left=9, now=NOW, deadline=NOW.replace(year=2027)),
        idempotent=True,
    )

    assert allowed is False


@pytest.mark.clause("ENV-7")
@pytest.mark.parametrize(
    "confidence",
    [
        0.9,
        "high",
        [0.9],
        {"value": 0.9},
        *({k: v for k, v in CONFIDENCE.items() if k != name} for name in CONFIDENCE),
    ],
)
def test_a_confidence_that_does_not_say_what_it_is_of_is_refused(confidence: object) -> None:
    assert refusal(minimum(confidence=confidence)).places[0].at.startswith("confidence")
    assert envelope.read(minimum(confidence=CONFIDENCE)).confidence


@pytest.mark.clause("ENV-7")
def test_no_confidence_authorises_anything() -> None:
    sure = CONFIDENCE | {"value": 1, "threshold": 0}
    said = minimum({"code": 5000, "name": "RETRYABLE_ERROR"}, retry={"retryable": True}, confidence=sure)
    heard = envelope.read(said)

    assert heard.retry is not None
    assert (heard.retry.safe, heard.status.terminal) == (False, False)


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize(
    "instant",
    [
        "2026-03-01T12:00:00",
        "2026-03-01",
        "2026-03-01T12:00Z",
        "2026-02-30T12:00:00Z",
        "2026-03-01T25:00:00Z",
        "2026-03-01T12:00:00+24:00",
        "2026-W09-7T12:00:00Z",
        "9999-12-31T23:59:59-14:00",
        "0001-01-01T00:00:00+14:00",
        "yesterday",
        "٢٠٢٦-03-01T12:00:00Z",
        1_772_366_400,
        None,
        True,
        {},
    ],
)
def test_an_instant_is_one_by_rfc_3339_or_refused(instant: object) -> None:
    refused = refusal(minimum(occurred_at=instant))

    assert [str(place) for place in refused.places] == ["occurred_at is no RFC 3339 date-time with an offset"]


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize(
    "instant", ["2026-03-01T12:00:00z", "2026-03-01t13:00:00+01:00", "2026-03-01T12:00:00.000000000Z"]
)
def test_an_instant_may_be_written_in_any_way_that_rfc_3339_allows(instant: str) -> None:
    heard = envelope.read(minimum(occurred_at=instant))

    assert heard.occurred_at == NOW
    assert heard.document["occurred_at"] == instant


@pytest.mark.parametrize("code", [999, 10_000, -5004, 5004.0, "5004", "ASC-5004", None, True, 2**62])
def test_what_is_no_four_digit_code_is_refused(code: object) -> None:
    assert [place.at for place in refusal(minimum({"code": code})).places] == ["status.code"]


def nest(depth: int) -> dict[str, Any]:
    """An envelope of *depth* envelopes, each the cause of the one before."""
    said = minimum()
    for _ in range(depth - 1):
        said = minimum(causes=[said])
    return said


@pytest.mark.clause("ENV-5")
def test_causes_are_heard_to_a_limit_of_depth() -> None:
    assert envelope.read(nest(DEEPEST)).causes
    assert "nested deeper than 8" in refusal(nest(DEEPEST + 1)).places[0].problem
    assert "nested deeper than 64" in refusal(nest(60)).places[0].problem


@pytest.mark.clause("ENV-5")
def test_causes_that_lead_back_are_refused() -> None:
    me = {"report_id": "r-1"}

    assert "lead back" in str(refusal(minimum(provenance=me, causes=[{"ref": "r-1"}])))
    assert "lead back" in str(refusal(minimum(provenance=me, causes=[minimum(causes=[{"ref": "r-1"}])])))
    assert "lead back" in str(refusal(minimum(provenance=me, causes=[minimum(provenance=me)])))
    assert envelope.read(minimum(provenance=me, causes=[{"ref": "r-2"}, {"ref": "r-2"}])).report_id == "r-1"


def test_an_envelope_that_contains_itself_is_refused() -> None:
    endless = minimum()
    endless["causes"] = [endless]

    assert "nested deeper" in str(refusal(endless))


@pytest.mark.parametrize("part", ["causes", "conditions", "events", "remediation"])
def test_lists_have_a_limit(part: str) -> None:
    inside: dict[str, Any] = {
        "causes": {"ref": "r"},
        "conditions": minimum({"kind": "condition"}),
        "events": minimum({"kind": "event"}),
        "remediation": {"action": "wait"},
    }[part]

    assert envelope.read(minimum() | {part: [inside] * MOST}).status.known is Code.TIMEOUT
    assert refusal(minimum() | {part: [inside] * (MOST + 1)}).places[0].at == part


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "not JSON"),
        ("nonsense", "not JSON"),
        ("[]", "no object"),
        ("null", "no object"),
        (b"\xff\xfe", "not UTF-8"),
        ("\ud800", "not UTF-8"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "not finite"),
        ('{"a": 9223372036854775808}', "64 bits"),
        ('{"a": ' + "9" * 5000 + "}", "not JSON"),
        ('{"a": "\\ud800"}', "surrogate"),
        ('{"\\udc00": 1}', "surrogate"),
        ('{"a": 1, "a": 2}', "twice"),
        ('{"a": ' + "[" * 50_000 + "]" * 50_000 + "}", "nested deeper than 64"),
        ('{"a":' * 65 + "1" + "}" * 65, "nested deeper than 64"),
        ('{"a": "' + "x" * envelope_json.LARGEST + '"}', "bytes"),
        ('{"a": "' + "é" * (envelope_json.LARGEST // 2) + '"}', "bytes"),
        ('{"a": [' + "1," * envelope_json.MOST_VALUES + "1]}", "values"),
        ({"a": object()}, "object"),
        ({1: "a"}, "no string"),
        ({"a": (1, 2)}, "tuple"),
        ({"a": float("nan")}, "not finite"),
    ],
)
def test_absurd_input_is_refused_with_a_reason(source: Any, reason: str) -> None:
    assert reason in str(refusal(source))


@pytest.mark.parametrize("value", [{}, [], [1], {"a": 1}, 1, "x", None, True])
@pytest.mark.parametrize("field", ["class", "phase", "severity"])
def test_an_optional_word_of_any_shape_crashes_nothing(field: str, value: object) -> None:
    heard = envelope.read(minimum({field: value}))

    assert heard.status.class_ == "transient_failure"
    assert heard.document["status"][field] == value


def test_a_refusal_names_at_most_twenty_places() -> None:
    assert len(refusal(minimum(causes=[1] * MOST)).places) == 20


@pytest.mark.clause("INV-7")
def test_a_senders_own_detail_stays_available() -> None:
    heard = envelope.read(minimum(details={"com.example.index": {"shards": 3}}, provenance={"x": 1}))

    assert heard.details == {"com.example.index": {"shards": 3}}
    assert heard.provenance == {"x": 1}


def test_what_was_heard_does_not_change_when_the_source_does() -> None:
    source = disclosed(report(), Profile.PUBLIC)
    heard = envelope.read(source)
    source["status"]["terminal"] = False
    source["occurred_at"] = "later"

    assert heard.document == disclosed(report(), Profile.PUBLIC)
