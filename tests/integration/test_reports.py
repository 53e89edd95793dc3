"""What others report to a turn: admitted by local policy, kept beside the task, and told without deciding anything."""

import json
from typing import Any

import pytest

from tests.support.envelopes import developer, operator, public, said
from tests.support.gateway import forget_settings
from tests.support.hosting import ACME, Host, Hosts, report
from tests.support.laboratory import ALICE, Laboratory

pytestmark = pytest.mark.usefixtures("developers")
SAFE = {"retryable": True, "safe": True, "idempotency_key": "k", "side_effect_state": "none"}
DONE = {"side_effect_state": "confirmed"}


@pytest.mark.clause("MOD-4")
@pytest.mark.clause("SEC-4")
def test_a_report_never_decides_where_its_task_stands(host: Host) -> None:
    task_id, fence = host.running()
    fatal = report(6000, "FATAL_ERROR", scope="task", terminal=True, retry=SAFE)

    reply = host.report(task_id, fence, fatal, unit="helper")

    assert reply.status == 200
    assert (said(public(host, task_id)), said(developer(host, task_id))) == ((1010, "EXECUTING"),) * 2
    assert host.finish(task_id, fence, "done").status == 200
    assert said(public(host, task_id)) == (3001, "WAITING")


@pytest.mark.clause("ENV-5")
@pytest.mark.clause("SEC-5")
def test_outcomes_become_units_and_conditions_and_events_stand_in_order(host: Host) -> None:
    task_id, fence = host.running()
    words = {"message": {"user": "psst"}, "details": {"org.example.secret": "psst"}}
    cached = report(8000, "PROMPT_CACHE_HIT", kind="event", scope="model_call", terminal=False, **words)
    fallback = {
        **report(8002, "FALLBACK_USED", kind="event", scope="model_call", terminal=False),
        "occurred_at": "2026-11-30T11:00:00Z",
    }
    doubt = report(7000, "OUTPUT_UNVERIFIED", kind="condition", scope="evaluation", terminal=False, **words)
    slow = report(5001, "RATE_LIMITED", retry=SAFE, provenance={"provider": "search", "dependency": "eu-1"})
    for one in (cached, fallback, doubt):
        assert host.report(task_id, fence, one).status == 200
    assert host.report(task_id, fence, slow, unit="search").status == 200
    assert host.report(task_id, fence, report(retry=DONE), unit="order").status == 200

    told = developer(host, task_id)

    assert [event["status"]["code"] for event in told["events"]] == [8002, 8000]
    assert [one["status"]["code"] for one in told["conditions"]] == [7000]
    assert told["conditions"][0]["issuer"] == ACME.principal
    assert told["conditions"][0]["authority"] == "may_report_on:evaluation"
    composition = told["provenance"]["composition"]
    assert composition["rule"] == "where_the_task_stands"
    assert [(one["unit"], one["code"], one["side_effect_state"]) for one in composition["units"]] == [
        ("search", 5001, "none"),
        ("order", 2000, "confirmed"),
    ]
    assert "psst" not in json.dumps([told, operator(host, task_id)])
    assert not {"events", "conditions", "causes"} & public(host, task_id).keys()


@pytest.mark.clause("MOD-4")
def test_what_a_unit_committed_stays_committed_whatever_it_says_later(host: Host) -> None:
    task_id, fence = host.running()
    host.report(task_id, fence, report(5000, "RETRYABLE_ERROR", retry=DONE), unit="order")
    host.report(task_id, fence, report(2000, "SUCCESS", retry=SAFE), unit="order")

    (unit,) = developer(host, task_id)["provenance"]["composition"]["units"]

    assert (unit["code"], unit["side_effect_state"]) == (2000, "confirmed")


@pytest.mark.clause("REG-3")
@pytest.mark.clause("CMP-5")
@pytest.mark.clause("INV-6")
def test_what_nobody_knows_yet_is_kept_and_pointed_at(host: Host) -> None:
    task_id, fence = host.running()
    moon = report(5042, "MOON_IS_FULL", scope="galaxy", mood="howling")
    tide = {**report(5043, "TIDE_IS_HIGH", kind="condition", scope="galaxy", terminal=False)}
    host.report(task_id, fence, moon, unit="moon")
    host.report(task_id, fence, {**tide, "provenance": {"report_id": "r-7"}})

    told = developer(host, task_id)

    (unit,) = told["provenance"]["composition"]["units"]
    assert (unit["code"], unit["name"], unit["unit"]) == (5042, "MOON_IS_FULL", "moon")
    assert told["causes"] == [{"ref": "r-7", "code": 5043, "name": "TIDE_IS_HIGH"}]
    assert "conditions" not in told


@pytest.mark.clause("REG-6")
@pytest.mark.clause("MOD-4")
def test_a_partial_outcome_of_support(host: Host) -> None:
    """A refund went through and a return label did not: that is no success, whoever says so."""
    task_id, fence = host.running("Refund my order, and send me a return label.")
    host.report(task_id, fence, report(retry=DONE), unit="refund", requested=True)
    failed = report(5003, "DEPENDENCY_UNAVAILABLE", retry=SAFE, provenance={"report_id": "label-1"})
    host.report(task_id, fence, failed, unit="label", requested=True)
    host.finish(task_id, fence, "Your money is on its way; the label is not.")

    refused = host.ask(task_id, "complete", {"outcome": 2000})
    words = {"user": "Refunded. We could not make a label; ask again tomorrow."}
    ended = host.ask(task_id, "complete", {"outcome": 2002, "message": words})
    seen, told = public(host, task_id), developer(host, task_id)

    assert (refused.status, refused.json["agent_status"]["code"]) == (409, 4001)
    assert refused.json["retry"]["strategy"] == "after_the_units_were_reached"
    assert ended.status == 200
    assert (said(seen), seen["message"]) == ((2002, "FINISHED"), words)
    assert told["causes"] == [{"ref": "label-1", "code": 5003, "name": "DEPENDENCY_UNAVAILABLE"}]
    assert told["provenance"]["composition"]["rule"] == "declared_by_its_host"
    assert told["retry"]["side_effect_state"] == "confirmed"


@pytest.mark.clause("REG-6")
def test_a_task_that_expires_with_a_unit_unreached_is_no_success(hosts: Hosts, live_lab: Laboratory) -> None:
    hosts.acme.register(lifespan="5s")
    task_id, fence = hosts.acme.running()
    hosts.acme.report(task_id, fence, report(5000, "RETRYABLE_ERROR"), unit="label", requested=True)
    hosts.acme.finish(task_id, fence, "half of it")
    hosts.acme.sweep_after(seconds=6)

    assert live_lab.stored(task_id).is_terminal
    assert said(public(hosts.acme, task_id)) == (2002, "FINISHED")


@pytest.mark.clause("REG-8")
def test_verification_and_repair(host: Host) -> None:
    """An answer is doubted, mended and verified; the doubt is not held against what was mended."""
    task_id, fence = host.running("Which parcel is mine?")
    doubted = report(7002, "HALLUCINATION_SUSPECTED", scope="evaluation")
    host.report(task_id, fence, doubted, unit="answer", requested=True)
    assert host.ask(task_id, "complete", {"outcome": 2000, "discard_pending": True}).status == 409

    host.say(task_id, fence, 1, "Let me check that again.")
    host.report(task_id, fence, report(scope="evaluation"), unit="answer")
    host.finish(task_id, fence, "Parcel B.")

    assert host.ask(task_id, "complete", {"outcome": 2001}).status == 200
    told = developer(host, task_id)
    assert said(told) == (2001, "FINISHED")
    (unit,) = told["provenance"]["composition"]["units"]
    assert (unit["code"], unit["requested"]) == (2000, True)
    assert "causes" not in told


@pytest.mark.clause("INV-5")
def test_approval_before_a_purchase(host: Host) -> None:
    """Waits for Alice, who approves; only then is anything bought."""
    task_id, fence = host.running("Buy the blue one.")
    wait = {"id": "buy", "kind": "review", "reviewer": ALICE, "subject": "Buy the blue one for 30?"}
    host.ask(task_id, "wait", {"fence": fence, "waits": [wait]})
    waiting = public(host, task_id)

    (review,) = host.api.get("/v1/reviews").json["reviews"]
    host.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"})
    resumed = public(host, task_id)
    turn = host.start(task_id)
    host.report(task_id, turn["fence"], report(retry=DONE), unit="purchase", requested=True)
    host.finish(task_id, turn["fence"], "Bought.")
    host.ask(task_id, "complete")
    ended = developer(host, task_id)

    assert said(waiting) == (3002, "WAITING")
    assert waiting["remediation"] == [{"action": "decide_the_review"}]
    assert waiting["status"]["terminal"] is False
    assert turn["resolutions"][0]["verdict"] == "done"
    assert said(resumed) == (1010, "EXECUTING")
    assert said(ended) == (2000, "FINISHED")
    assert ended["retry"]["side_effect_state"] == "confirmed"


@pytest.mark.clause("SEC-4")
def test_another_issuer_counts_only_as_far_as_the_deployment_lets_it(
    host: Host, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id, fence = host.running()
    judged = report(2000, "SUCCESS", scope="evaluation", issuer="judge.example", authority="may_do_anything")
    before = live_lab.everything()

    refused = host.report(task_id, fence, judged)
    assert (refused.status, refused.json["errors"][0]["at"]) == (422, "report.issuer")
    assert live_lab.everything() == before

    monkeypatch.setenv("TURNKEEPER_REPORTERS", '{"judge.example": ["evaluation"]}')
    forget_settings()
    assert host.report(task_id, fence, judged).status == 200
    elsewhere = report(2000, "SUCCESS", scope="task", issuer="judge.example")
    assert host.report(task_id, fence, elsewhere).status == 422


WRONG: list[tuple[Any, str]] = [
    ({**report(), "status": {**report()["status"], "name": "FATAL_ERROR"}}, "report.status"),
    ({**report(), "status": {**report()["status"], "terminal": "yes"}}, "report.status.terminal"),
    ({**report(), "occurred_at": "yesterday"}, "report.occurred_at"),
    ({**report(), "occurred_at": "9999-12-31T23:59:59-14:00"}, "report.occurred_at"),
    ({**report(), "confidence": 0.9}, "report.confidence"),
    (report(9950, "NOT_YET"), "report.status.code"),
    (report(message={"user": "x" * 8192}), "report"),
    ([], "report"),
]


@pytest.mark.clause("REG-2")
@pytest.mark.clause("REG-4")
@pytest.mark.clause("ENV-7")
@pytest.mark.parametrize(("sent", "at"), WRONG)
def test_what_is_no_envelope_is_refused_by_its_place_and_not_kept(
    host: Host, live_lab: Laboratory, sent: object, at: str
) -> None:
    task_id, fence = host.running()
    before = live_lab.everything()

    reply = host.report(task_id, fence, sent)

    assert reply.status == 422
    assert reply.json["errors"][0]["at"] == at
    assert live_lab.everything() == before


@pytest.mark.clause("ENV-5")
def test_no_report_can_pass_for_the_tasks_own_and_so_be_its_own_cause(host: Host) -> None:
    task_id, fence = host.running()
    own = f"{task_id}.7"

    by_id = host.report(task_id, fence, report(provenance={"report_id": own}))
    by_name = host.report(task_id, fence, report(), unit=own)

    assert (by_id.status, by_name.status) == (422, 422)


def test_a_report_needs_the_turns_fence_and_a_task_that_goes_on(host: Host) -> None:
    task_id, fence = host.running()

    assert host.report(task_id, fence + 1, report()).status == 409
    host.ask(task_id, "error")
    assert host.report(task_id, fence, report()).status == 409


def test_a_task_has_at_most_32_reports_and_a_repeated_key_adds_none(host: Host, live_lab: Laboratory) -> None:
    task_id, fence = host.running()
    body = {"fence": fence, "report": report()}
    for _ in range(2):
        assert host.ask(task_id, "reports", body, key="k").status == 200
    assert live_lab.stored(task_id).reports == 1
    for number in range(2, 33):
        assert host.report(task_id, fence, report(), unit=f"u{number}").status == 200

    assert host.report(task_id, fence, report()).status == 422
    assert len(developer(host, task_id)["provenance"]["composition"]["units"]) == 32
