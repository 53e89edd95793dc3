"""The envelope of a task by the API: where it stands, for each of the four that may ask."""

import pytest

from tests.support.counting import Count
from tests.support.envelopes import asked, developer, operator, public, said
from tests.support.gateway import Gateway, claims, forget_settings
from tests.support.hosting import ACME, AGENT, RIVAL, Host, Hosts, manifest, report
from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.asc.registry import Code
from turnkeeper.service import agent_status, host_turns, reports
from turnkeeper.service.host_turns import Asked

pytestmark = pytest.mark.usefixtures("developers")
MEDIA_TYPE = "application/agent-status+json"


def never(_: str) -> bool:
    """Whoever asks has nothing yet."""
    return False


@pytest.mark.clause("ENV-1")
@pytest.mark.clause("REG-1")
@pytest.mark.clause("CMP-7")
def test_the_envelope_of_a_new_task(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task("hi")
    task = live_lab.stored(task_id)

    reply = asked(host, task_id)

    assert reply.status == 200
    assert reply.headers["Content-Type"] == MEDIA_TYPE
    assert reply.headers["Poll-After"] == "1"
    assert reply.headers["Agent-Status"].startswith("1000;name=ACCEPTED")
    assert task.last_received_at
    assert reply.json == {
        "spec_version": "0.1.0",
        "status": {
            "code": 1000,
            "name": "ACCEPTED",
            "class": "lifecycle",
            "kind": "status",
            "scope": "task",
            "terminal": False,
            "phase": "QUEUED",
        },
        "occurred_at": task.last_received_at.isoformat().replace("+00:00", "Z"),
        "provenance": {"correlation_id": task_id},
    }


@pytest.mark.clause("MOD-1")
@pytest.mark.clause("INV-1")
def test_each_state_is_told_by_the_mapping_to_the_public_and_to_developers(host: Host) -> None:
    idle, queued, ended = host.task(), host.task("hi"), host.task()
    (running, _), (waiting, held), (failed, lost) = host.running(), host.running(), host.running()
    host.ask(waiting, "wait", {"fence": held, "waits": [{"id": "w", "kind": "host"}]})
    host.ask(failed, "fail", {"fence": lost})
    host.ask(ended, "complete")

    told = {
        task_id: (said(public(host, task_id)), said(developer(host, task_id)))
        for task_id in (idle, queued, running, waiting, failed, ended)
    }

    assert told == {
        idle: ((3001, "WAITING"), (3001, "WAITING")),
        queued: ((1000, "QUEUED"), (1000, "QUEUED")),
        running: ((1010, "EXECUTING"), (1010, "EXECUTING")),
        waiting: ((1010, "EXECUTING"), (1020, "WAITING")),
        failed: ((1010, "EXECUTING"), (1030, "EXECUTING")),
        ended: ((2000, "FINISHED"), (2000, "FINISHED")),
    }
    assert public(host, ended)["status"]["terminal"] is True


@pytest.mark.clause("ENV-5")
@pytest.mark.clause("INV-5")
@pytest.mark.clause("RET-5")
def test_of_several_waits_one_is_the_status_and_the_others_are_conditions(host: Host) -> None:
    task_id, fence = host.running()
    waits = [
        {"id": "h", "kind": "host"},
        {"id": "r", "kind": "review", "reviewer": ALICE, "subject": "Buy it?"},
        {"id": "a", "kind": "auth", "provider": "github"},
        {"id": "s", "kind": "review", "reviewer": BOB, "subject": "May she?"},
    ]
    assert host.ask(task_id, "wait", {"fence": fence, "waits": waits}).status == 200

    seen, told = public(host, task_id), developer(host, task_id)

    assert said(seen) == said(told) == (3003, "WAITING")
    assert (seen["status"]["terminal"], seen["status"]["class"]) == (False, "interrupted")
    assert seen["remediation"] == [{"action": "authorise_the_provider"}]
    assert told["remediation"] == [{"action": "authorise_the_provider", "detail": "github"}]
    assert (told["retry"]["retryable"], told["retry"]["strategy"]) == (False, "after_authorisation")
    assert "conditions" not in seen
    assert [(one["status"]["code"], one["status"]["scope"]) for one in told["conditions"]] == [
        (1020, "step"),
        (3002, "policy_decision"),
        (1020, "policy_decision"),
    ]
    assert {one["status"]["kind"] for one in told["conditions"]} == {"condition"}


@pytest.mark.clause("ENV-5")
@pytest.mark.clause("INV-1")
def test_a_review_that_holds_an_input_is_told_like_any_other_wait(host: Host, live_lab: Laboratory) -> None:
    """The turn goes on without that input, and may itself wait for something else meanwhile."""
    step = {"condition": "input.message[0].text == 'hold'", "assert": f"review('{ALICE}')"}
    assert host.send("PUT", f"agents/{AGENT}", {**manifest(), "guardrails": {"before": [step]}}).status == 200
    task_id, fence = host.running("go on", "hold")
    running = developer(host, task_id)

    host.ask(task_id, "wait", {"fence": fence, "waits": [{"id": "w", "kind": "host"}]})
    waiting = developer(host, task_id)

    (held,) = live_lab.stored(task_id).asks[1:]
    since = held.since.isoformat().replace("+00:00", "Z")
    assert said(running) == (1010, "EXECUTING")
    assert [one["status"]["code"] for one in running["conditions"]] == [3002]
    assert said(waiting) == said(public(host, task_id)) == (3002, "WAITING")
    assert waiting["occurred_at"] == since
    assert [one["status"]["code"] for one in waiting["conditions"]] == [1020]


def test_a_task_whose_only_input_is_held_by_somebody_else_works_since_that_came(
    host: Host, live_lab: Laboratory
) -> None:
    step = {"assert": f"review('{BOB}')"}
    assert host.send("PUT", f"agents/{AGENT}", {**manifest(), "guardrails": {"before": [step]}}).status == 200
    task_id = host.task()
    host.tell(task_id, "hold")
    assert host.ask(task_id, "turns").status == 409

    task, seen = live_lab.stored(task_id), public(host, task_id)

    assert (said(seen), said(developer(host, task_id))) == ((1010, "EXECUTING"), (1020, "WAITING"))
    assert task.last_received_at
    assert seen["occurred_at"] == task.last_received_at.isoformat().replace("+00:00", "Z")


@pytest.mark.clause("SEC-1")
def test_the_public_cannot_tell_from_anything_that_a_turn_waits_for_somebody_else(host: Host) -> None:
    task_id, fence = host.running()
    before = asked(host, task_id)

    host.ask(task_id, "wait", {"fence": fence, "waits": [{"id": "w", "kind": "host"}]})

    assert public(host, task_id) == before.json
    assert developer(host, task_id) != before.json


@pytest.mark.clause("INV-2")
def test_who_has_the_envelope_gets_a_304_until_the_task_is_written(host: Host) -> None:
    task_id, fence = host.running()
    tag = asked(host, task_id).headers["ETag"]
    operators = host.send("GET", f"tasks/{task_id}/agent-status").headers["ETag"]

    known = asked(host, task_id, headers={"If-None-Match": tag})
    of_another_profile = asked(host, task_id, headers={"If-None-Match": operators})
    host.say(task_id, fence, 1, "news")
    changed = asked(host, task_id, headers={"If-None-Match": tag})

    assert (known.status, known.body, known.headers["ETag"]) == (304, "", tag)
    assert known.headers["Agent-Status"].startswith("1010")
    assert (of_another_profile.status, changed.status) == (200, 200)


def test_a_tag_does_not_tell_the_revision_of_the_write(host: Host, live_lab: Laboratory) -> None:
    task_id = host.task()

    assert live_lab.stored(task_id).write_revision not in str(asked(host, task_id))


@pytest.mark.clause("SEC-2")
def test_anothers_task_is_an_unknown_one_here_too(hosts: Hosts) -> None:
    hosts.acme.register()
    task_id = hosts.acme.task()

    replies = [
        asked(hosts.acme, task_id, person=BOB),
        asked(hosts.acme, "0" * 32),
        asked(hosts.acme, "nonsense"),
        hosts.rival.send("GET", f"tasks/{task_id}/agent-status"),
    ]

    assert {reply.status for reply in replies} == {404}
    assert len({reply.body for reply in replies}) == 1


@pytest.mark.clause("SEC-1")
@pytest.mark.parametrize(
    ("said_of_groups", "severity"),
    [("[staff developers]", True), ("developers", True), ("[staff]", False), ("[nodevelopers]", False)],
)
def test_only_a_token_with_the_deployments_claim_reads_as_a_developer(
    host: Host, said_of_groups: str, *, severity: bool
) -> None:
    request = host.api.event("GET", f"/v1/tasks/{host.task()}/agent-status")
    token = {**claims(ALICE), "cognito:groups": said_of_groups}
    request["requestContext"]["authorizer"]["jwt"]["claims"] = token

    assert ("severity" in host.api.send(request).json["status"]) is severity


@pytest.mark.clause("MOD-6")
@pytest.mark.clause("INV-3")
def test_a_deployment_says_how_urgent_a_code_is_and_the_code_stays_what_it_is(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id, fence = host.running()
    for severity in (None, "notice"):
        said_so = {"severity": severity} if severity else {}
        doubt = report(7000, "OUTPUT_UNVERIFIED", kind="condition", scope="evaluation", terminal=False)
        doubt["status"] |= said_so
        assert host.report(task_id, fence, doubt).status == 200
    usual = operator(host, task_id)

    monkeypatch.setenv("TURNKEEPER_SEVERITIES", '{"1010": "notice", "7000": "critical"}')
    forget_settings()
    here = operator(host, task_id)

    assert (usual["status"]["severity"], here["status"]["severity"]) == ("info", "notice")
    assert [one["status"]["severity"] for one in usual["conditions"]] == ["warning", "notice"]
    assert [one["status"]["severity"] for one in here["conditions"]] == ["critical", "notice"]
    assert said(here) == said(usual) == (1010, "EXECUTING")


def test_nobody_is_a_developer_where_no_claim_is_named(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNKEEPER_DEVELOPER_CLAIM", "")

    assert "severity" not in developer(host, host.task())["status"]


@pytest.mark.clause("SEC-1")
def test_an_auditor_sees_any_task_to_the_last_and_touches_none(
    hosts: Hosts, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts.acme.register()
    task_id, fence = hosts.acme.running()
    wait = {"id": "r", "kind": "review", "reviewer": BOB, "subject": "May she?"}
    hosts.acme.ask(task_id, "wait", {"fence": fence, "waits": [wait]})
    (review,) = hosts.acme.api.get("/v1/reviews", person=BOB).json["reviews"]
    assert (
        hosts.acme.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}, person=BOB).status == 200
    )
    monkeypatch.setenv("TURNKEEPER_AUDITORS", f'["{RIVAL.principal}"]')
    forget_settings()
    task = live_lab.stored(task_id)

    told = operator(hosts.rival, task_id)

    assert told["provenance"]["approver"] == BOB
    assert told["provenance"]["history"] == f"{task.log_number}:{task.log_head}"
    assert "approver" not in operator(hosts.acme, task_id)["provenance"]
    assert "history" not in operator(hosts.acme, task_id)["provenance"]
    assert hosts.rival.send("GET", f"tasks/{task_id}").status == 404
    assert hosts.rival.ask(task_id, "restrict").status == 404
    assert hosts.rival.send("GET", f"tasks/{'0' * 32}/agent-status").status == 404


@pytest.mark.parametrize("profile", ["person", "host", "auditor"])
def test_an_envelope_costs_at_most_one_read_more_than_a_poll(
    counting: Laboratory, count: Count, profile: str
) -> None:
    task = counting.create("hi").task
    runtime = counting.runtime

    with count() as tally:
        match profile:
            case "person":
                agent_status.for_person(runtime, caller=ALICE, task_id=task.id, develops=True, is_known=never)
            case "host":
                agent_status.for_host(runtime, principal=task.terms.owner, task_id=task.id, is_known=never)
            case _:
                agent_status.for_auditor(runtime, task_id=task.id, is_known=never)
    with count() as known:
        agent_status.for_auditor(runtime, task_id=task.id, is_known=lambda _: True)

    assert tally.operations == ["get_item", "query"][: 2 if profile == "auditor" else 1]
    assert known.operations == ["get_item"]


def test_what_lies_beside_a_task_is_one_query_whatever_there_is(counting: Laboratory, count: Count) -> None:
    runtime = counting.runtime
    task = counting.create("hi").task
    asked = Asked(principal=task.terms.owner, task_id=task.id, body="", key=None)
    fence = host_turns.start(runtime, asked).fence
    for number in range(8):
        reports.attach(runtime, asked, fence=fence, document=report(), unit=f"unit-{number}")
    with count() as running:
        agent_status.for_person(runtime, caller=ALICE, task_id=task.id, develops=True, is_known=never)
    declared = '{"message": {"user": "That was it."}}'
    host_turns.error(runtime, asked, outcome=Code.FATAL_ERROR, declared=declared)

    with count() as ended:
        seen = agent_status.for_auditor(runtime, task_id=task.id, is_known=never)

    assert running.operations == ended.operations == ["get_item", "query"]
    assert seen.envelope
    assert len(seen.envelope["provenance"]["composition"]["units"]) == 8
    assert seen.envelope["message"] == {"user": "That was it."}


def test_an_envelope_past_the_tasks_end_is_the_ends(api: Gateway, live_lab: Laboratory) -> None:
    task_id = live_lab.create(agent="mayfly").task.id
    live_lab.clock.forward(seconds=5)
    seen = agent_status.for_auditor(live_lab.runtime, task_id=task_id, is_known=never)

    assert seen.envelope
    assert seen.envelope["status"]["name"] == "NO_ACTION_REQUIRED"
    assert api.get(f"/v1/tasks/{task_id}").json["status"]["phase"] == "terminal"
    assert ACME.principal not in str(seen.envelope)


@pytest.mark.clause("SEC-1")
@pytest.mark.parametrize("hidden", ["wait", "attempt"])
def test_what_was_hidden_from_the_public_stays_so_when_it_is_over(host: Host, hidden: str) -> None:
    assert host.register(repeatable=True, backoff=["0s"]).status == 200
    task_id, fence = host.running()
    before, known = public(host, task_id), developer(host, task_id)

    if hidden == "wait":
        host.ask(task_id, "wait", {"fence": fence, "waits": [{"id": "w", "kind": "host"}]})
        during = public(host, task_id)
        host.ask(task_id, "resolve", {"fence": fence, "wait": "w", "verdict": "done"})
    else:
        host.ask(task_id, "fail", {"fence": fence})
        during = public(host, task_id)
    over = public(host, task_id)
    host.start(task_id)

    assert before == during == over == public(host, task_id)
    assert developer(host, task_id)["occurred_at"] > known["occurred_at"]


@pytest.mark.clause("MOD-1")
def test_the_public_is_told_since_when_a_task_runs_again_after_its_users_call(host: Host) -> None:
    task_id, fence = host.running()
    waits = [{"id": "a", "kind": "auth", "provider": "github"}, {"id": "w", "kind": "host"}]
    host.ask(task_id, "wait", {"fence": fence, "waits": waits})
    called = public(host, task_id)
    assert host.send("POST", "grants", {"user": ALICE, "provider": "github"}).status == 200
    granted = public(host, task_id)
    host.ask(task_id, "resolve", {"fence": fence, "wait": "w", "verdict": "done"})
    host.start(task_id)

    assert (said(called), said(granted)) == ((3003, "WAITING"), (1010, "EXECUTING"))
    assert called["occurred_at"] < granted["occurred_at"]
    assert granted == public(host, task_id)


@pytest.mark.clause("MOD-6")
def test_an_envelope_that_is_kept_is_told_anew_when_the_deployment_says_other_severities(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = host.task()
    host.ask(task_id, "complete")
    path = f"/v1/host/tasks/{task_id}/agent-status"
    etag = host.send("GET", f"tasks/{task_id}/agent-status").headers["ETag"]
    kept = {"signer": host.signer, "headers": {"If-None-Match": etag}}
    assert host.api.get(path, **kept).status == 304

    monkeypatch.setenv("TURNKEEPER_SEVERITIES", '{"2000": "critical"}')
    forget_settings()
    told = host.api.get(path, **kept)

    assert (told.status, told.json["status"]["severity"]) == (200, "critical")


@pytest.mark.clause("MAP-3")
def test_an_output_that_was_approved_goes_on_without_a_word_of_a_retry(host: Host) -> None:
    """Its leg is run again, and its agent never failed."""
    step = {"condition": "output.message[0].text == 'ask'", "assert": f"review('{BOB}')"}
    made = {**manifest(repeatable=True), "guardrails": {"after": [step]}}
    assert host.send("PUT", f"agents/{AGENT}", made).status == 200
    task_id, fence = host.running()
    before = public(host, task_id)
    host.say(task_id, fence, 1, "ask")
    (review,) = host.api.get("/v1/reviews", person=BOB).json["reviews"]
    host.api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}, person=BOB)
    host.start(task_id)

    told = developer(host, task_id)

    assert said(told) == (1010, "EXECUTING")
    assert "events" not in told
    assert public(host, task_id) == before
