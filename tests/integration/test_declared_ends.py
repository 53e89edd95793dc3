"""How a task ended, told with care: words and contracts that a host declares, attempts, and results nobody knows."""

from typing import Any

import pytest

from tests.support.envelopes import developer, operator, public, said
from tests.support.gateway import forget_settings
from tests.support.hosting import RIVAL, Host, Hosts
from tests.support.laboratory import Laboratory
from turnkeeper.service import host_turns
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.runtime import Runtime

pytestmark = pytest.mark.usefixtures("developers")

DECLARED = {
    "outcome": 5003,
    "message": {"user": "The library is closed.", "developer": "The index refused twice.", "locale": "en"},
    "retry": {
        "retryable": True,
        "safe": True,
        "after_ms": 60_000,
        "idempotency_key": "order-17",
        "side_effect_state": "none",
        "deadline": "2027-01-01T00:00:00Z",
    },
    "diagnostics": {
        "dependency": "index-eu",
        "resource_state": "draining",
        "trace_id": "0af7651916cd43dd8448eb211c80319c",
        "details": {"org.example.index.shard": 7},
    },
}


@pytest.mark.clause("SEC-1")
@pytest.mark.clause("ENV-4")
@pytest.mark.clause("RET-1")
@pytest.mark.clause("INV-4")
def test_what_is_declared_with_an_end_is_told_to_each_as_far_as_it_is_theirs(host: Host) -> None:
    task_id = host.task()
    assert host.ask(task_id, "error", DECLARED).status == 200

    seen, told, known = public(host, task_id), developer(host, task_id), operator(host, task_id)

    assert said(seen) == (5003, "FINISHED")
    assert seen["message"] == {"user": "The library is closed.", "locale": "en"}
    assert not {"retry", "details"} & seen.keys()
    assert seen["provenance"] == {"correlation_id": task_id}
    assert told["message"] == DECLARED["message"]
    assert told["retry"] == {**DECLARED["retry"], "deadline": "2027-01-01T00:00:00Z"}  # type: ignore[dict-item]
    assert not {"dependency", "resource_state", "trace_id"} & told["provenance"].keys()
    assert "details" not in told
    assert known["provenance"]["dependency"] == "index-eu"
    assert known["provenance"]["resource_state"] == "draining"
    assert known["provenance"]["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert known["details"] == {"org.example.index.shard": 7}


@pytest.mark.parametrize("how", ["complete", "error", "restrict"])
def test_every_way_to_end_a_task_takes_words_in_the_same_write(
    host: Host, live_lab: Laboratory, how: str
) -> None:
    task_id = host.task()

    assert host.ask(task_id, how, {"message": {"user": "That was it."}}).status == 200

    assert public(host, task_id)["message"] == {"user": "That was it."}
    assert "OUTCOME" in live_lab.journal(task_id)[-1]["contents"]


def test_an_end_without_words_keeps_nothing_beside_the_task(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task()
    assert host.ask(task_id, "error").status == 200

    assert (f"TASK#{task_id}", "OUTCOME") not in live_lab.everything()
    assert "retry" not in operator(host, task_id)


def test_what_is_declared_of_an_end_that_did_not_come_to_be_is_not_kept(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    hosts.acme.register(lifespan="0s")
    task_id = hosts.acme.task()

    assert hosts.acme.ask(task_id, "error", DECLARED).status == 409
    assert (f"TASK#{task_id}", "OUTCOME") not in live_lab.everything()


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("error", {"message": {"user": 'Traceback (most recent call last):\n  File "x"'}}, "message.user"),
    ("error", {"message": {"user": "x" * 2001}}, "message.user"),
    ("error", {"message": {"admin": "x"}}, "message.admin"),
    ("error", {"retry": {"after_ms": -1}}, "retry.after_ms"),
    ("error", {"retry": {"retryable": "true"}}, "retry.retryable"),
    ("error", {"retry": {"side_effect_state": "some"}}, "retry.side_effect_state"),
    ("error", {"outcome": 4001, "retry": {"retryable": True}}, "retry"),
    ("error", {"outcome": 5004, "retry": {"side_effect_state": "possible"}}, "outcome"),
    ("error", {"outcome": 6005, "retry": {"retryable": True}}, "retry.reconciliation_action"),
    ("error", {"outcome": 7003}, "outcome"),
    ("error", {"outcome": 7001}, "confidence"),
    ("error", {"diagnostics": {"details": {"shard": 7}}}, "diagnostics.details.shard"),
    (
        "error",
        {"diagnostics": {"details": {"org.example.prompt": "p"}}},
        "diagnostics.details.org.example.prompt",
    ),
    ("error", {"diagnostics": {"details": {"org.example.x": "x" * 4096}}}, "diagnostics.details"),
    ("error", {"diagnostics": {"trace_id": "7"}}, "diagnostics.trace_id"),
    ("complete", {"message": {"user": ""}}, "message.user"),
    ("restrict", {"outcome": 2000}, "outcome"),
]


@pytest.mark.clause("REG-7")
@pytest.mark.clause("RET-4")
@pytest.mark.parametrize(("how", "body", "at"), WRONG)
def test_what_no_report_may_say_is_refused_by_its_place_when_it_is_declared(
    host: Host, live_lab: Laboratory, how: str, body: dict[str, Any], at: str
) -> None:
    task_id = host.task()
    before = live_lab.everything()

    reply = host.ask(task_id, how, body)

    assert reply.status == 422
    assert [place["at"] for place in reply.json["errors"]] == [at]
    assert live_lab.everything() == before


@pytest.mark.clause("REG-7")
@pytest.mark.clause("ENV-7")
@pytest.mark.clause("SEC-6")
def test_who_judged_is_told_to_auditors_and_how_sure_they_were_to_operators(
    hosts: Hosts, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts.acme.register()
    task_id = hosts.acme.task()
    judged = {
        "evaluator": "judge",
        "version": "3",
        "method": "entailment",
        "fails": "closed",
        "evidence": ["claim-4"],
    }
    sure = {
        "metric": "support",
        "value": 0.2,
        "range": [0, 1],
        "threshold": 0.6,
        "method": "entailment",
        "evaluator": "judge",
    }
    body = {"outcome": 7003, "evaluation": judged, "confidence": sure}
    assert hosts.acme.ask(task_id, "error", body).status == 200
    monkeypatch.setenv("TURNKEEPER_AUDITORS", f'["{RIVAL.principal}"]')
    forget_settings()

    seen, known, audited = (
        developer(hosts.acme, task_id),
        operator(hosts.acme, task_id),
        operator(hosts.rival, task_id),
    )

    assert said(seen) == (7003, "FINISHED")
    assert "confidence" not in seen
    assert known["confidence"] == {**sure, "range": [0.0, 1.0]}
    assert "evaluation" not in known["provenance"]
    assert audited["provenance"]["evaluation"] == judged


@pytest.mark.clause("SEC-3")
def test_of_a_restricted_task_nobody_is_told_a_threshold(host: Host) -> None:
    task_id = host.task()
    body = {"message": {"user": "That is not allowed."}, "diagnostics": {"details": {"org.example.limit": 3}}}
    assert host.ask(task_id, "restrict", body).status == 200

    known = operator(host, task_id)

    assert (said(known), known["message"]["user"]) == ((4003, "FINISHED"), "That is not allowed.")
    assert "details" not in known


@pytest.mark.clause("RET-4")
def test_a_lost_turn_that_may_have_acted_is_an_unknown_result_to_be_reconciled(hosts: Hosts) -> None:
    host = hosts.acme
    host.register()
    task_id, _ = host.running()
    host.sweep_after(seconds=61)

    waiting = developer(host, task_id)
    assert said(waiting) == (1020, "WAITING")
    (condition,) = waiting["conditions"]
    assert condition["status"]["name"] == "RESULT_STATE_UNKNOWN"
    assert condition["retry"]["reconciliation_action"] == "the_host_says_what_became_of_the_turn"
    assert (condition["retry"]["retryable"], condition["retry"]["safe"]) == (False, False)
    assert said(public(host, task_id)) == (1010, "EXECUTING")

    host.sweep_after(days=1, seconds=61)
    ended, told = public(host, task_id), developer(host, task_id)

    assert (said(ended), ended["status"]["terminal"]) == ((6005, "FINISHED"), True)
    assert ended["remediation"] == [{"action": "find_out_what_happened"}]
    assert told["retry"] == {
        "retryable": False,
        "safe": False,
        "side_effect_state": "unknown",
        "reconciliation_action": "find_out_what_happened_before_repeating_it",
    }


@pytest.mark.clause("RET-1")
@pytest.mark.clause("MOD-2")
def test_a_timeline_of_attempts(hosts: Hosts, live_lab: Laboratory) -> None:
    """Fails, is scheduled, runs again, fails for good: each step as it is told while it lasts."""
    host = hosts.acme
    host.register(repeatable=True, attempts=2, backoff=["2s"])
    task_id, fence = host.running()
    first = public(host, task_id)
    assert "events" not in developer(host, task_id)

    host.ask(task_id, "fail", {"fence": fence})
    turn = live_lab.stored(task_id).turn
    scheduled = developer(host, task_id)

    assert turn
    assert turn.changed_at
    assert said(scheduled) == (1030, "EXECUTING")
    assert scheduled["retry"] == {
        "retryable": True,
        "safe": True,
        "after_ms": 2000,
        "strategy": "the_next_attempt_is_scheduled",
        "attempt": 1,
        "max_attempts": 2,
        "side_effect_state": "possible",
    }
    (event,) = scheduled["events"]
    assert (event["status"]["code"], event["status"]["kind"]) == (8003, "event")
    assert event["retry"]["after_ms"] == 2000
    assert (
        event["occurred_at"] == scheduled["occurred_at"] == turn.changed_at.isoformat().replace("+00:00", "Z")
    )
    assert public(host, task_id) == first

    lease = live_lab.clock.now = turn.retry_at or turn.started_at
    begun = live_lab.another_process(clock=lambda: lease)
    again = start(begun, host, task_id)
    running = developer(host, task_id)

    assert said(running) == (1010, "EXECUTING")
    assert running["events"][0]["retry"]["attempt"] == 2
    assert running["occurred_at"] != first["occurred_at"]

    host.ask(task_id, "fail", {"fence": again})
    ended = developer(host, task_id)

    assert (said(ended), ended["status"]["terminal"]) == ((6000, "FINISHED"), True)
    assert "events" not in ended


def start(runtime: Runtime, host: Host, task_id: str) -> int:
    """The fence of the attempt that begins now, on the runtime's clock."""
    asked = Asked(principal=host.signer.principal, task_id=task_id, body="", key=None)
    turn = host_turns.start(runtime, asked).turn
    assert turn
    return turn.fence
