"""The retry contract: what is promised, to whom, what has to come first, and results that nobody knows."""

import time
from typing import Any

import pytest

from tests.conformance.client import PAUSE_SECONDS, Json
from tests.conformance.envelopes import CONTRACT, said, told
from tests.conformance.host import Host, auth, review
from tests.conformance.instants import instant
from tests.conformance.person import Person

PATIENCE_SECONDS = 100.0
PROMISE: Json = {
    "retryable": True,
    "safe": True,
    "after_ms": 60_000,
    "strategy": "exponential_backoff",
    "attempt": 1,
    "max_attempts": 3,
    "deadline": "2100-01-01T00:00:00Z",
    "idempotency_key": "order-17",
    "side_effect_state": "none",
    "reconciliation_action": "look_up_the_order",
}


@pytest.mark.clause("RET-1")
@pytest.mark.clause("INV-4")
def test_a_contract_is_told_as_it_was_declared_and_to_insiders(owner: Person, host: Host, idle: str) -> None:
    assert PROMISE.keys() == CONTRACT

    host.do(idle, "error", outcome=5003, retry=PROMISE)

    retry = told(host, idle)["retry"]
    assert instant(retry.pop("deadline")) == instant(PROMISE["deadline"])
    assert retry == {key: value for key, value in PROMISE.items() if key != "deadline"}
    assert "retry" not in told(owner, idle)


@pytest.mark.clause("RET-1")
@pytest.mark.parametrize(
    ("wrong", "at"),
    [
        ({"retryable": "true"}, "retry.retryable"),
        ({"safe": 1}, "retry.safe"),
        ({"after_ms": -1}, "retry.after_ms"),
        ({"side_effect_state": "some"}, "retry.side_effect_state"),
        ({"deadline": "tomorrow"}, "retry.deadline"),
        ({"idempotency_key": ""}, "retry.idempotency_key"),
        ({"certain": True}, "retry.certain"),
    ],
)
def test_what_is_no_contract_is_refused_by_its_place_and_ends_nothing(
    owner: Person, host: Host, idle: str, wrong: dict[str, Any], at: str
) -> None:
    before = owner.sees(idle)

    refused = host.post(idle, "error", outcome=5003, retry=wrong)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, at)
    assert owner.sees(idle) == before


@pytest.mark.clause("RET-2")
@pytest.mark.parametrize("outcome", [5000, 5001, 5003, 5005])
def test_one_code_may_promise_a_retry_or_not_and_promises_none_by_itself(
    owner: Person, host: Host, agent: str, outcome: int
) -> None:
    promising, refusing, silent = (owner.create(agent) for _ in range(3))
    host.do(promising, "error", outcome=outcome, retry={"retryable": True, "safe": True})
    host.do(refusing, "error", outcome=outcome, retry={"retryable": False, "safe": False})
    host.do(silent, "error", outcome=outcome)

    assert (told(host, promising)["retry"]["retryable"], told(host, promising)["retry"]["safe"]) == (
        True,
        True,
    )
    assert (told(host, refusing)["retry"]["retryable"], told(host, refusing)["retry"]["safe"]) == (
        False,
        False,
    )
    assert told(host, silent).get("retry", {"retryable": False})["retryable"] is False


@pytest.mark.clause("RET-1")
@pytest.mark.clause("MOD-2")
@pytest.mark.clause("ENV-5")
def test_a_timeline_of_attempts(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=3, backoff=["1500ms", "1ms"]), "first")
    fence = host.start(task)
    assert "events" not in told(host, task)

    host.do(task, "fail", fence=fence)
    scheduled = told(host, task)
    second = host.start_when_woken(task)
    running = told(host, task)
    host.do(task, "fail", fence=second["fence"])
    again = told(host, task)
    third = host.start_when_woken(task)
    host.finish(task, third["fence"], "at last")
    done = told(host, task)

    assert said(scheduled)[:2] == (1030, "RETRY_SCHEDULED")
    assert (scheduled["retry"]["attempt"], scheduled["retry"]["max_attempts"]) == (1, 3)
    assert scheduled["retry"]["after_ms"] == 1500
    assert (again["retry"]["attempt"], again["retry"]["after_ms"]) == (2, 1)
    assert said(running)[0] == 1010
    for one in (scheduled, running, again):
        (event,) = one["events"]
        assert (event["status"]["code"], event["status"]["kind"]) == (8003, "event")
    assert running["events"][0]["retry"]["attempt"] == 2
    assert said(done)[0] == 3001
    assert "events" not in done
    assert owner.texts(task) == ["first", "at last"]


@pytest.mark.clause("RET-4")
def test_a_lost_turn_that_may_have_acted_is_reconciled_before_anything_is_repeated(
    owner: Person, host: Host
) -> None:
    task = owner.create(host.agent(attempts=3), "charge the card")
    fence = host.start(task)
    host.say(task, fence, 1, "I charge it now")
    before = told(owner, task)
    lost = when_lost(host, task)

    (condition,) = lost["conditions"]
    assert said(lost)[:2] == (1020, "WAITING_DEPENDENCY")
    assert condition["status"]["name"] == "RESULT_STATE_UNKNOWN"
    assert condition["retry"]["reconciliation_action"]
    assert (condition["retry"]["retryable"], condition["retry"]["safe"]) == (False, False)
    assert condition["retry"]["side_effect_state"] == "unknown"
    assert host.post(task, "turns").status_code == 409
    assert told(owner, task) == before

    host.do(task, "reconcile", answer="failed", outcome=6005)
    assert said(told(owner, task))[:2] == (6005, "RESULT_STATE_UNKNOWN")
    assert told(host, task)["retry"]["reconciliation_action"]


def when_lost(host: Host, task: str) -> Json:
    """What operators are told as soon as the turn of *task* is lost."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "conditions" not in (envelope := told(host, task)):
        assert time.monotonic() < deadline, f"not lost within {PATIENCE_SECONDS} s"
        host.post(task, "turns")
        time.sleep(PAUSE_SECONDS * 5)
    return envelope


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize("state", ["possible", "unknown"])
def test_a_timeout_that_may_have_changed_something_is_refused_under_that_name(
    owner: Person, host: Host, idle: str, state: str
) -> None:
    refused = host.post(idle, "error", outcome=5004, retry={"side_effect_state": state})

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "outcome")
    assert owner.phase(idle)[0] == "idle"
    host.do(idle, "error", outcome=5004, retry={"side_effect_state": "none"})
    assert told(host, idle)["status"]["name"] == "TIMEOUT"


@pytest.mark.clause("RET-4")
def test_an_unknown_result_always_says_how_it_is_reconciled(owner: Person, host: Host, idle: str) -> None:
    refused = host.post(idle, "error", outcome=6005, retry={"retryable": True, "safe": True})
    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "retry.reconciliation_action")

    host.do(idle, "error", outcome=6005)

    retry = told(host, idle)["retry"]
    assert retry["reconciliation_action"]
    assert (retry["retryable"], retry["safe"], retry["side_effect_state"]) == (False, False, "unknown")
    assert told(owner, idle)["remediation"]


@pytest.mark.clause("RET-5")
@pytest.mark.clause("INV-5")
@pytest.mark.parametrize("wait", ["auth", "review"])
def test_what_waits_for_a_person_names_the_transition_and_goes_on_after_it(
    owner: Person, host: Host, owner_id: str, queued: str, wait: str
) -> None:
    subject, provider = f"Go on with {queued}?", f"github-{queued}"
    asked = auth("w", provider) if wait == "auth" else review("w", owner_id, subject)
    host.wait(queued, host.start(queued), asked)
    waiting = told(host, queued)

    if wait == "auth":
        host.grant(owner_id, provider)
    else:
        assert owner.decide(owner.review_of(subject), "approve").status_code == 200
    turn = host.start_when_woken(queued)

    assert waiting["status"]["terminal"] is False
    assert waiting["status"]["class"] == "interrupted"
    assert (waiting["retry"]["retryable"], "after_ms" in waiting["retry"]) == (False, False)
    assert waiting["retry"]["strategy"].startswith("after_")
    assert [one["verdict"] for one in turn["resolutions"]] == ["done"]
    assert said(told(owner, queued))[0] == 1010


@pytest.mark.clause("RET-5")
@pytest.mark.parametrize("promise", [{"retryable": True}, {"after_ms": 1000}])
def test_no_waiting_makes_a_failed_precondition_retryable(
    owner: Person, host: Host, idle: str, promise: dict[str, Any]
) -> None:
    refused = host.post(idle, "error", outcome=4001, retry=promise)

    assert (refused.status_code, refused.json()["errors"][0]["at"]) == (422, "retry")
    assert owner.phase(idle)[0] == "idle"
