"""Refusals: problems with an agent status and a retry contract, by the specification's HTTP binding."""

from collections.abc import Callable

import httpx
import pytest

from tests.conformance.client import said, text_part
from tests.conformance.envelopes import CONTRACT, NAMES, SIDE_EFFECTS, assert_is_status
from tests.conformance.host import Host, new_name
from tests.conformance.person import Person

UNKNOWN = "0" * 32
TOO_LARGE = {"message": [text_part("x" * 99_000)] * 3}
type Refused = Callable[[Person, Host, str], httpx.Response]


def another_body_under_its_key(owner: Person, task: str) -> httpx.Response:
    key = {"idempotency-key": new_name()}
    owner.ask("POST", f"tasks/{task}/inputs", said("one"), headers=key)
    return owner.ask("POST", f"tasks/{task}/inputs", said("two"), headers=key)


def after_its_end(owner: Person, host: Host, task: str) -> httpx.Response:
    host.do(task, "complete")
    return owner.send(task, "too late")


REFUSED: dict[str, tuple[Refused, int, int]] = {
    "no JSON": (lambda owner, _, task: owner.ask("POST", f"tasks/{task}/inputs", "{"), 400, 4000),
    "no input": (lambda owner, _, task: owner.ask("POST", f"tasks/{task}/inputs", {}), 422, 4000),
    "too large": (lambda owner, _, task: owner.ask("POST", f"tasks/{task}/inputs", TOO_LARGE), 413, 4000),
    "unknown task": (lambda owner, _, __: owner.poll(UNKNOWN), 404, 4006),
    "unknown envelope": (lambda owner, _, __: owner.ask_status(UNKNOWN), 404, 4006),
    "unknown route": (lambda owner, _, task: owner.ask("GET", f"tasks/{task}/nothing"), 404, 4006),
    "key reused": (lambda owner, _, task: another_body_under_its_key(owner, task), 409, 4005),
    "ended": (after_its_end, 409, 4001),
    "stale fence": (lambda _, host, task: host.post(task, "finish", fence=99), 409, 4005),
    "nothing to run": (lambda _, host, task: host.post(task, "turns"), 409, 4001),
}


@pytest.mark.clause("BND-HTTP-1")
@pytest.mark.clause("INV-2")
@pytest.mark.parametrize("why", REFUSED)
def test_a_refusal_is_a_problem_that_names_its_status(owner: Person, host: Host, idle: str, why: str) -> None:
    refuse, http_status, code = REFUSED[why]

    refused = refuse(owner, host, idle)

    assert (refused.status_code, refused.headers["content-type"]) == (http_status, "application/problem+json")
    problem = refused.json()
    assert problem["type"] == f"urn:agent-status:{NAMES[code]}"
    assert problem["title"]
    assert problem["status"] == http_status
    assert problem["agent_status"] == {
        "code": code,
        "name": NAMES[code],
        "scope": problem["agent_status"]["scope"],
        "terminal": True,
    }
    assert_is_status({**problem["agent_status"], "kind": "status"})
    assert problem["agent_status"]["scope"] != "task", "a refusal says nothing about the task"
    assert "retry-after" not in refused.headers, "no waiting mends these"


@pytest.mark.clause("BND-HTTP-1")
@pytest.mark.clause("RET-1")
@pytest.mark.clause("RET-2")
@pytest.mark.clause("INV-4")
@pytest.mark.parametrize("why", REFUSED)
def test_a_refusal_says_whether_to_repeat_it_and_what_has_to_come_first(
    owner: Person, host: Host, idle: str, why: str
) -> None:
    retry = REFUSED[why][0](owner, host, idle).json()["retry"]

    assert retry.keys() <= CONTRACT
    assert retry["side_effect_state"] in SIDE_EFFECTS
    assert (retry["retryable"], retry["safe"]) == (False, True)
    assert retry["strategy"]


@pytest.mark.clause("RET-5")
def test_a_precondition_names_the_transition_that_has_to_come_first(
    owner: Person, host: Host, queued: str
) -> None:
    refused = host.post(queued, "complete")

    assert refused.json()["agent_status"]["code"] == 4001
    assert refused.json()["retry"]["retryable"] is False
    assert refused.json()["retry"]["strategy"].startswith("after_")
    host.take_turn(queued, "done")
    host.do(queued, "complete")
    assert owner.phase(queued) == ("terminal", "completed")


@pytest.mark.clause("SEC-2")
@pytest.mark.clause("REG-5")
def test_what_is_another_persons_or_hosts_is_not_found_and_never_forbidden(
    owner: Person, other: Person, host: Host, queued: str
) -> None:
    unknown, foreign = other.ask_status(UNKNOWN), other.ask_status(queued)

    assert (foreign.status_code, foreign.content) == (404, unknown.content)
    assert foreign.json()["agent_status"]["name"] == "NOT_FOUND"
    assert "agent-status" not in foreign.headers
    assert host.ask_status(UNKNOWN).content == unknown.content
    assert owner.ask_status(queued).status_code == 200


@pytest.mark.clause("SEC-2")
def test_an_agent_of_another_hosts_is_not_found(auditor: Host, agent: str, queued: str) -> None:
    """Somebody who signs, and whose agent it is not."""
    assert auditor.ask("GET", f"host/agents/{agent}").status_code == 404
    assert auditor.ask("GET", f"host/tasks/{queued}").status_code == 404
    assert auditor.post(queued, "restrict").status_code == 404
