"""The envelope of a task: its minimum, its words, and how it travels over HTTP."""

import json

import pytest

from tests.conformance.client import answered, said
from tests.conformance.early import Early
from tests.conformance.envelopes import (
    EXTENSIONS,
    MEDIA_TYPE,
    NAMES,
    PHASES,
    REGISTRY,
    RESERVED,
    SEVERITIES,
    inside,
    paths,
    report,
    told,
)
from tests.conformance.host import Host, auth, host_wait
from tests.conformance.instants import instant
from tests.conformance.person import Person

MINIMUM = {
    *("spec_version", "occurred_at"),
    *(f"status.{field}" for field in ("code", "name", "kind", "scope", "terminal")),
}


@pytest.mark.clause("ENV-1")
@pytest.mark.clause("REG-1")
@pytest.mark.clause("INV-1")
def test_the_minimum_is_there_in_every_state_for_every_reader(
    owner: Person, host: Host, early: Early, idle: str, queued: str
) -> None:
    for task in (idle, queued, *early.ended):
        for reader in (owner, host):
            envelope = told(reader, task)
            assert set(paths(envelope)) >= MINIMUM
            assert NAMES[envelope["status"]["code"]] == envelope["status"]["name"]


@pytest.mark.clause("ENV-1")
def test_it_says_since_when_its_status_holds(owner: Person, host: Host, queued: str) -> None:
    queued_since = instant(told(owner, queued)["occurred_at"])
    fence = host.start(queued)
    running_since = instant(told(owner, queued)["occurred_at"])
    host.say(queued, fence, 1, "halfway")
    still = instant(told(owner, queued)["occurred_at"])
    host.finish(queued, fence, "done")
    idle_since = instant(told(owner, queued)["occurred_at"])

    assert queued_since < running_since == still < idle_since


@pytest.mark.clause("CMP-7")
def test_its_version_says_that_nothing_is_stable_yet(owner: Person, host: Host, idle: str) -> None:
    """By semantic versioning a major version of 0 promises nothing."""
    versions = {told(reader, idle)["spec_version"] for reader in (owner, host)}

    assert versions == {REGISTRY["spec_version"]}
    assert versions.pop().startswith("0.")


@pytest.mark.clause("ENV-3")
def test_what_else_it_says_stands_in_the_fields_for_it(owner: Person, host: Host, queued: str) -> None:
    """An envelope with another field is refused by `assert_is_envelope`, at any depth."""
    fence = host.start(queued)
    host.hears(queued, fence, report(8002, kind="event", scope="model_call", terminal=False))
    host.hears(queued, fence, report(7000, kind="condition", scope="evaluation", terminal=False))
    host.hears(queued, fence, report(5003), unit="search")
    end = {
        "outcome": 5003,
        "message": {"user": "Closed.", "developer": "The index is gone.", "locale": "en"},
        "retry": {"retryable": True, "safe": True, "after_ms": 100, "side_effect_state": "none"},
        "diagnostics": {"dependency": "index", "details": {"org.example.shard": 7}},
    }
    host.do(queued, "error", **end)

    public, operator = told(owner, queued), told(host, queued)

    assert public["message"] == {"user": "Closed.", "locale": "en"}
    assert operator.keys() >= {"message", "retry", "provenance", "causes", "conditions", "events", "details"}
    assert {one["status"]["code"] for one in inside(operator)} == {8002, 7000}


@pytest.mark.clause("MOD-1")
@pytest.mark.clause("MOD-5")
def test_the_phase_says_whether_it_has_ended_and_never_replaces_the_status(
    owner: Person, early: Early, queued: str
) -> None:
    running = told(owner, queued)["status"]
    ended = [told(owner, task)["status"] for task in early.ended]

    assert {one["phase"] for one in ended} == {"FINISHED"}
    assert running["phase"] in PHASES - {"FINISHED"}
    assert len({one["code"] for one in ended}) > 1, "one phase, several statuses"


@pytest.mark.clause("MOD-5")
@pytest.mark.clause("INV-5")
def test_neither_an_interruption_nor_a_success_of_a_part_is_the_end(
    owner: Person, host: Host, queued: str
) -> None:
    fence = host.start(queued)
    host.hears(queued, fence, report(2000, terminal=True), unit="part")
    after_a_part = told(owner, queued)["status"]["terminal"]
    host.wait(queued, fence, auth("sign-in", "github"))

    assert after_a_part is False
    assert told(owner, queued)["status"]["terminal"] is False


@pytest.mark.clause("MOD-6")
def test_operators_are_told_how_urgent_it_is_by_default(host: Host, early: Early) -> None:
    found = {
        told(host, task)["status"]["code"]: told(host, task)["status"]["severity"] for task in early.ended
    }

    assert set(found.values()) <= SEVERITIES
    assert found[2000] == "info"
    assert found[6000] == "error"


@pytest.mark.clause("REG-4")
@pytest.mark.parametrize("outcome", [9000, 9500, 9800, RESERVED.start, RESERVED.stop - 1])
def test_a_task_ends_with_no_code_that_is_not_assigned(
    owner: Person, host: Host, idle: str, outcome: int
) -> None:
    before = owner.sees(idle)

    assert outcome in EXTENSIONS or outcome in RESERVED
    assert host.post(idle, "error", outcome=outcome).status_code == 422
    assert owner.sees(idle) == before


@pytest.mark.clause("INV-2")
@pytest.mark.clause("BND-HTTP-2")
def test_reading_how_a_task_failed_succeeds(owner: Person, host: Host, early: Early) -> None:
    for task in early.ended:
        for reader in (owner, host):
            answer = reader.ask_status(task)
            assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE)


@pytest.mark.clause("BND-HTTP-2")
def test_creating_work_is_accepted(owner: Person, agent: str) -> None:
    created = owner.ask("POST", "tasks", {"agent": agent, "input": said("hello")})

    task = answered(created, 202)["id"]
    assert created.headers["agent-status"].startswith("1000;name=ACCEPTED;")
    assert told(owner, task)["status"]["code"] == 1000


@pytest.mark.clause("INV-2")
def test_whoever_has_the_envelope_is_told_only_that_it_still_holds(
    owner: Person, host: Host, queued: str
) -> None:
    first = owner.ask_status(queued)

    same = owner.ask_status(queued, first.headers["etag"])
    host.start(queued)
    changed = owner.ask_status(queued, first.headers["etag"])

    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", first.headers["etag"])
    assert same.headers["agent-status"] == first.headers["agent-status"]
    assert (changed.status_code, changed.json()["status"]["code"]) == (200, 1010)
    assert changed.headers["etag"] != first.headers["etag"]


@pytest.mark.clause("SEC-1")
def test_one_readers_tag_is_not_anothers(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), host_wait("w"))

    operators = host.ask_status(queued).headers["etag"]

    assert owner.ask_status(queued, operators).status_code == 200


@pytest.mark.clause("INV-1")
def test_every_answer_about_a_task_says_where_it_stands(owner: Person, idle: str) -> None:
    before = owner.poll(idle).headers["agent-status"]

    answers = [owner.send(idle, "hello"), owner.poll(idle), owner.page(idle), owner.ask_status(idle)]

    assert before == "3001;name=HUMAN_INPUT_REQUIRED;phase=WAITING;terminal=?0"
    expected = "1000;name=ACCEPTED;phase=QUEUED;terminal=?0"
    assert {answer.headers["agent-status"] for answer in answers} == {expected}


@pytest.mark.clause("ENV-8")
@pytest.mark.clause("SEC-5")
@pytest.mark.clause("ENV-4")
def test_nothing_that_was_said_in_the_conversation_is_in_it(owner: Person, host: Host, agent: str) -> None:
    task = owner.create(agent, "canary-prompt")
    fence = host.start(task)
    host.say(task, fence, 1, "canary-output")
    memo = {"thoughts": "canary-memo"}
    seen = [told(owner, task), told(host, task)]
    host.wait(task, fence, host_wait("w"), memo=memo)
    seen += [told(owner, task), told(host, task)]
    host.do(task, "error")
    seen += [told(owner, task), told(host, task)]

    assert "canary" not in json.dumps(seen)
