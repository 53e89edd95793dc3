"""Reports of others: heard tolerantly, admitted by local policy, kept, and deciding nothing of their task's status."""

import json
from typing import Any

import pytest

from tests.conformance.client import Json
from tests.conformance.envelopes import RESERVED, SCOPES, paths, report, said, told
from tests.conformance.host import Host
from tests.conformance.person import Person

DONE = {"side_effect_state": "confirmed"}
SAFE = {"retryable": True, "safe": True, "idempotency_key": "k", "side_effect_state": "none"}
NEWS: Json = {
    "spec_version": "0.9.0",
    "status": {
        "code": 5042,
        "name": "MOON_IS_FULL",
        "kind": "status",
        "scope": "galaxy",
        "terminal": True,
        "phase": "ECLIPSED",
        "mood": "howling",
    },
    "occurred_at": "2026-01-02T03:04:05+02:00",
    "mood": {"is": ["howling"]},
    "retry": {"retryable": True, "safe": True, "side_effect_state": "tidal", "moons": 2},
}
"""What a consumer of this version cannot know: a code, a scope, a phase, fields at every depth."""


@pytest.fixture
def turn(host: Host, queued: str) -> tuple[str, int]:
    """A task with a turn that runs, and its fence."""
    return queued, host.start(queued)


def units(envelope: Json) -> dict[str, Json]:
    """What the units of a task came to, by name."""
    return {one["unit"]: one for one in envelope["provenance"]["composition"]["units"]}


@pytest.mark.clause("MOD-4")
@pytest.mark.clause("SEC-4")
@pytest.mark.clause("INV-1")
@pytest.mark.parametrize("code", [2000, 3004, 4003, 6000, 6005])
def test_no_report_decides_where_its_task_stands(
    owner: Person, host: Host, turn: tuple[str, int], code: int
) -> None:
    task, fence = turn
    before = said(told(owner, task))

    host.hears(task, fence, report(code, scope="task"), unit="delegate")

    assert said(told(owner, task)) == said(told(host, task)) == before
    host.finish(task, fence, "done")
    assert said(told(owner, task))[0] == 3001


@pytest.mark.clause("MOD-4")
def test_every_unit_is_kept_with_what_it_may_have_changed_and_the_rule(
    host: Host, turn: tuple[str, int]
) -> None:
    task, fence = turn
    host.hears(task, fence, report(2000, retry=DONE), unit="order")
    host.hears(task, fence, report(5003, retry=SAFE, provenance={"report_id": "r-7"}), unit="search")
    host.hears(task, fence, report(2000), unit="silent")
    host.hears(task, fence, report(5000, retry=SAFE), unit="order")
    host.finish(task, fence, "half of it")
    host.do(task, "complete", outcome=2002)

    told_now = told(host, task)

    found = units(told_now)
    assert found["order"]["side_effect_state"] == "confirmed", "what was committed stays so"
    assert found["search"]["side_effect_state"] == "none"
    assert found["silent"]["side_effect_state"] == "unknown", "what says nothing may have changed something"
    assert [found[name]["code"] for name in ("order", "search", "silent")] == [5000, 5003, 2000]
    assert told_now["provenance"]["composition"]["rule"]
    assert {"ref": "r-7", "code": 5003, "name": "DEPENDENCY_UNAVAILABLE"} in told_now["causes"]


@pytest.mark.clause("REG-6")
@pytest.mark.clause("MOD-4")
def test_a_partial_outcome_of_support(owner: Person, host: Host, turn: tuple[str, int]) -> None:
    """A refund went through and a return label did not: that is no success, whoever says so."""
    task, fence = turn
    host.hears(task, fence, report(2000, retry=DONE), unit="refund", requested=True)
    host.hears(task, fence, report(5003, retry=SAFE), unit="label", requested=True)
    host.finish(task, fence, "Your money is on its way; the label is not.")

    refused = [host.post(task, "complete", outcome=outcome) for outcome in (2000, 2001, 2003)]
    assert [answer.status_code for answer in refused] == [409] * 3
    host.do(task, "complete", outcome=2002, message={"user": "Refunded, and no label."})

    assert said(told(owner, task))[:2] == (2002, "PARTIAL_SUCCESS")
    assert told(owner, task)["message"] == {"user": "Refunded, and no label."}
    assert told(host, task)["retry"]["side_effect_state"] == "confirmed"


@pytest.mark.clause("REG-6")
def test_verification_and_repair(owner: Person, host: Host, turn: tuple[str, int]) -> None:
    """An answer is doubted, mended and verified: the goal was reached, with a warning."""
    task, fence = turn
    host.hears(task, fence, report(7002, scope="evaluation"), unit="answer", requested=True)
    doubted = host.post(task, "complete", outcome=2001, discard_pending=True)
    host.hears(task, fence, report(2000, scope="evaluation"), unit="answer")
    host.finish(task, fence, "Parcel B.")
    host.do(task, "complete", outcome=2001)

    assert doubted.status_code == 409
    assert said(told(owner, task))[:2] == (2001, "SUCCESS_WITH_WARNINGS")
    assert "causes" not in told(host, task)


@pytest.mark.clause("ENV-2")
@pytest.mark.clause("REG-3")
@pytest.mark.clause("CMP-3")
@pytest.mark.clause("CMP-4")
@pytest.mark.clause("CMP-5")
def test_what_nobody_knows_yet_is_taken_and_its_code_kept(host: Host, turn: tuple[str, int]) -> None:
    task, fence = turn

    host.hears(task, fence, NEWS, unit="moon")
    host.hears(task, fence, {**NEWS, "status": {**NEWS["status"], "kind": "condition", "terminal": False}})

    envelope = told(host, task)
    moon = units(envelope)["moon"]
    assert (moon["code"], moon["name"], moon["terminal"]) == (5042, "MOON_IS_FULL", True)
    assert moon["side_effect_state"] == "unknown", "a state that nobody knows is no promise"
    assert [(one["code"], one["name"]) for one in envelope["causes"]] == [(5042, "MOON_IS_FULL")]
    assert "howling" not in json.dumps(envelope)


@pytest.mark.clause("INV-6")
@pytest.mark.clause("CMP-6")
@pytest.mark.clause("REG-3")
@pytest.mark.parametrize(("code", "may_succeed"), [(2042, True), (4042, False), (5042, False), (7042, False)])
def test_an_unknown_code_counts_as_its_class(
    host: Host, turn: tuple[str, int], code: int, *, may_succeed: bool
) -> None:
    task, fence = turn
    host.hears(task, fence, report(code, "MOON_IS_FULL"), unit="moon", requested=True)
    host.finish(task, fence, "done")

    assert host.post(task, "complete", outcome=2000).status_code == (200 if may_succeed else 409)


@pytest.mark.clause("REG-2")
@pytest.mark.parametrize(
    "status",
    [
        pytest.param({"code": 2000, "name": "FATAL_ERROR"}, id="two that are registered"),
        pytest.param({"code": 2000, "name": "ALL_GOOD"}, id="a code with another name"),
        pytest.param({"code": 2042, "name": "SUCCESS"}, id="a name with another code"),
    ],
)
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_registered_code_with_another_name_makes_the_whole_unbelievable(
    host: Host, turn: tuple[str, int], status: Json, depth: int
) -> None:
    task, fence = turn
    altered: Json = report(2000)
    altered["status"] |= status
    for _ in range(depth):
        altered = report(5005, causes=[altered])
    before = told(host, task)

    refused = host.report(task, fence, altered)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (
        422,
        "report." + "causes[0]." * depth + "status",
    )
    assert told(host, task) == before


@pytest.mark.clause("REG-4")
def test_a_code_from_the_ranges_of_extensions_is_kept_and_reserved_ones_are_never_emitted(
    host: Host, turn: tuple[str, int]
) -> None:
    task, fence = turn
    for code in (9000, 9500, 9800):
        host.hears(task, fence, report(code, "OF_OUR_OWN"), unit=f"own-{code}")

    refused = [host.report(task, fence, report(code, "NOT_YET")) for code in (RESERVED.start, 9999)]

    assert {answer.status_code for answer in refused} == {422}
    assert {one["code"] for one in units(told(host, task)).values()} == {9000, 9500, 9800}


@pytest.mark.clause("REG-1")
@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize(
    ("status", "at"),
    [
        ({"code": 200}, "status.code"),
        ({"code": "2000"}, "status.code"),
        ({"name": "success"}, "status.name"),
        ({"terminal": "true"}, "status.terminal"),
        ({"terminal": None}, "status.terminal"),
        ({"kind": "outcome"}, "status.kind"),
    ],
)
def test_what_is_no_status_is_refused_by_its_place(
    host: Host, turn: tuple[str, int], status: Json, at: str
) -> None:
    task, fence = turn
    damaged = report(2000)
    damaged["status"] |= status

    refused = host.report(task, fence, damaged)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, f"report.{at}")


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize("missing", ["spec_version", "status", "occurred_at"])
@pytest.mark.parametrize("instant", ["yesterday", "2026-01-02T03:04:05", "2026-01-02", 1767322800])
def test_less_than_the_minimum_is_no_envelope(
    host: Host, turn: tuple[str, int], missing: str, instant: object
) -> None:
    task, fence = turn
    less = {key: value for key, value in report(2000).items() if key != missing}

    assert host.report(task, fence, less).status_code == 422
    assert host.report(task, fence, {**report(2000), "occurred_at": instant}).status_code == 422
    assert "composition" not in told(host, task)["provenance"]


@pytest.mark.clause("MOD-2")
def test_an_event_is_never_heard_as_an_outcome(host: Host, turn: tuple[str, int]) -> None:
    task, fence = turn

    for kind in ("status", "condition"):
        assert host.report(task, fence, report(8002, kind=kind, terminal=False)).status_code == 422
    host.hears(task, fence, report(8002, kind="event", scope="model_call", terminal=False))

    (event,) = told(host, task)["events"]
    assert (event["status"]["code"], event["status"]["kind"]) == (8002, "event")
    assert "composition" not in told(host, task)["provenance"]


@pytest.mark.clause("MOD-3")
@pytest.mark.parametrize("scope", [*sorted(SCOPES), "org.example.warehouse"])
def test_it_may_speak_of_any_scope_and_of_ones_own_under_a_namespace(
    host: Host, turn: tuple[str, int], scope: str
) -> None:
    task, fence = turn

    host.hears(task, fence, report(7000, kind="condition", scope=scope, terminal=False))

    assert [one["status"]["scope"] for one in told(host, task)["conditions"]] == [scope]


@pytest.mark.clause("MOD-3")
def test_a_scope_that_is_neither_is_emitted_nowhere(host: Host, turn: tuple[str, int]) -> None:
    """It is heard, for it may be next year's; we only point at it."""
    task, fence = turn

    host.hears(task, fence, report(7000, kind="condition", scope="galaxy", terminal=False))

    envelope = told(host, task)
    assert "conditions" not in envelope
    assert [one["code"] for one in envelope["causes"]] == [7000]


@pytest.mark.clause("ENV-5")
def test_conditions_stand_beside_the_status_and_events_in_order(host: Host, turn: tuple[str, int]) -> None:
    task, fence = turn
    for hour in ("12", "10", "11"):
        event = report(8000, kind="event", scope="model_call", terminal=False)
        host.hears(task, fence, {**event, "occurred_at": f"2026-01-02T{hour}:00:00Z"})
    host.hears(task, fence, report(7000, kind="condition", scope="evaluation", terminal=False))

    envelope = told(host, task)

    assert [event["occurred_at"][11:13] for event in envelope["events"]] == ["10", "11", "12"]
    assert [one["status"]["code"] for one in envelope["conditions"]] == [7000]


@pytest.mark.clause("ENV-5")
def test_causes_have_limits_and_never_lead_back(host: Host, turn: tuple[str, int]) -> None:
    task, fence = turn
    circle = report(5005, provenance={"report_id": "r"}, causes=[{"ref": "r"}])
    deep = report(5005)
    for _ in range(9):
        deep = report(5005, causes=[deep])
    wide = report(5005, causes=[{"ref": f"r-{number}"} for number in range(65)])
    own = report(5005, provenance={"report_id": f"{task}.1"})

    assert {host.report(task, fence, one).status_code for one in (circle, deep, wide, own)} == {422}
    assert "composition" not in told(host, task)["provenance"]


@pytest.mark.clause("SEC-4")
def test_another_issuer_counts_only_where_the_deployment_lets_it(host: Host, turn: tuple[str, int]) -> None:
    task, fence = turn
    boasting = report(2000, issuer="judge.example", authority="may_do_anything", integrity="trust_me")

    refused = host.report(task, fence, boasting)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "report.issuer")
    assert "composition" not in told(host, task)["provenance"]


@pytest.mark.clause("SEC-4")
def test_what_is_told_of_others_says_who_issued_it_who_saw_it_by_what_right_and_how_it_was_checked(
    host: Host, turn: tuple[str, int]
) -> None:
    task, fence = turn
    claims = {"observed_by": "nobody", "authority": "may_do_anything", "integrity": "trust_me"}
    doubt = report(7000, kind="condition", scope="evaluation", terminal=False, **claims)

    host.hears(task, fence, doubt)

    (condition,) = told(host, task)["conditions"]
    assert {"issuer", "observed_by", "authority", "integrity"} <= condition.keys()
    assert not set(claims.values()) & set(map(str, condition.values())), "what it says of itself is not asked"


@pytest.mark.clause("SEC-4")
@pytest.mark.clause("SEC-2")
def test_nobody_but_its_host_reports_on_a_task(owner: Person, auditor: Host, turn: tuple[str, int]) -> None:
    task, fence = turn

    assert auditor.report(task, fence, report(6000)).status_code == 404
    refused = owner.ask("POST", f"host/tasks/{task}/reports", {"fence": fence, "report": report(6000)})
    assert refused.status_code in {401, 403}


@pytest.mark.clause("ENV-7")
@pytest.mark.parametrize(
    "confidence",
    [0.9, "high", {"value": 0.9}, {"metric": "m", "value": 0.9, "range": [0, 1], "threshold": 0.5}],
)
def test_a_bare_number_is_no_confidence(host: Host, turn: tuple[str, int], confidence: object) -> None:
    task, fence = turn

    refused = host.report(task, fence, {**report(7001), "confidence": confidence})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["at"].startswith("report.confidence")


@pytest.mark.clause("SEC-5")
@pytest.mark.clause("ENV-8")
def test_the_words_that_come_with_a_report_stay_behind(
    owner: Person, host: Host, turn: tuple[str, int]
) -> None:
    task, fence = turn
    words: dict[str, Any] = {
        "message": {"user": "canary", "developer": "canary"},
        "details": {"org.example.raw": "canary"},
        "chain_of_thought": "canary",
        "provenance": {"provider": "search", "prompt": "canary"},
    }
    host.hears(task, fence, report(5001, **words), unit="search")
    host.hears(task, fence, report(7000, kind="condition", scope="evaluation", terminal=False, **words))

    seen = [told(owner, task), told(host, task)]

    assert "canary" not in json.dumps(seen)
    assert "conditions.provenance.provider" in set(paths(seen[1]))
