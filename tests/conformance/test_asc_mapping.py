"""How a task's state maps to its primary status: each row of the table, as the public and as operators are told."""

from typing import Any

import pytest

from tests.conformance.early import Early
from tests.conformance.envelopes import said, told
from tests.conformance.host import Host, auth, child, host_wait, review
from tests.conformance.person import Person

ACCEPTED = (1000, "ACCEPTED", "QUEUED", False)
RUNNING = (1010, "RUNNING", "EXECUTING", False)
WAITING_DEPENDENCY = (1020, "WAITING_DEPENDENCY", "WAITING", False)
RETRY_SCHEDULED = (1030, "RETRY_SCHEDULED", "EXECUTING", False)
HUMAN_INPUT_REQUIRED = (3001, "HUMAN_INPUT_REQUIRED", "WAITING", False)
HUMAN_APPROVAL_REQUIRED = (3002, "HUMAN_APPROVAL_REQUIRED", "WAITING", False)
AUTHENTICATION_REQUIRED = (3003, "AUTHENTICATION_REQUIRED", "WAITING", False)


def ended(code: int, name: str) -> tuple[int, str, str, bool]:
    return code, name, "FINISHED", True


def seen_by_all(owner: Person, host: Host, task: str) -> tuple[int, str, str, bool]:
    """What everybody is told of *task*, where all are told the same; its header says so too."""
    public, operator = said(told(owner, task)), said(told(host, task))
    assert public == operator
    assert_header_says(owner, task, public)
    return public


def assert_header_says(owner: Person, task: str, public: tuple[int, str, str, bool]) -> None:
    code, name, phase, terminal = public
    flag = "terminal" if terminal else "terminal=?0"
    assert owner.poll(task).headers["agent-status"] == f"{code};name={name};phase={phase};{flag}"


@pytest.mark.clause("MAP-8")
@pytest.mark.clause("INV-5")
def test_an_idle_task_requires_input(owner: Person, host: Host, idle: str) -> None:
    assert seen_by_all(owner, host, idle) == HUMAN_INPUT_REQUIRED

    host.take_turn(owner_tells(owner, idle), "done")

    assert seen_by_all(owner, host, idle) == HUMAN_INPUT_REQUIRED


def owner_tells(owner: Person, task: str) -> str:
    owner.tell(task, "go on")
    return task


@pytest.mark.clause("MAP-1")
@pytest.mark.clause("MOD-1")
def test_before_its_turn_starts_a_task_is_accepted(owner: Person, host: Host, queued: str) -> None:
    assert seen_by_all(owner, host, queued) == ACCEPTED


@pytest.mark.clause("MAP-2")
@pytest.mark.clause("MOD-1")
def test_while_a_turn_runs_it_is_running(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    before = seen_by_all(owner, host, queued)
    host.say(queued, fence, 1, "halfway")
    owner.tell(queued, "one more thing")

    assert before == seen_by_all(owner, host, queued) == RUNNING


@pytest.mark.clause("MAP-3")
def test_between_attempts_insiders_see_the_next_one_and_the_public_a_task_that_runs(
    owner: Person, host: Host
) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=2, backoff=["10m"]), "first")
    fence = host.start(task)
    before = told(owner, task)

    host.do(task, "fail", fence=fence)

    assert said(told(host, task)) == RETRY_SCHEDULED
    assert said(told(owner, task)) == RUNNING
    assert told(owner, task) == before
    assert_header_says(owner, task, RUNNING)


@pytest.mark.clause("MAP-4")
def test_it_waits_for_its_users_sign_in(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"))

    assert seen_by_all(owner, host, queued) == AUTHENTICATION_REQUIRED
    assert told(owner, queued)["remediation"]


@pytest.mark.clause("MAP-5")
def test_it_waits_for_its_users_review(owner: Person, host: Host, owner_id: str, queued: str) -> None:
    host.wait(queued, host.start(queued), review("ok", owner_id))

    assert seen_by_all(owner, host, queued) == HUMAN_APPROVAL_REQUIRED
    assert told(owner, queued)["remediation"]


@pytest.mark.clause("MAP-6")
@pytest.mark.parametrize("kind", ["host", "somebody else's review", "child"])
def test_any_other_wait_is_for_insiders_alone(
    owner: Person, host: Host, other_id: str, agent: str, kind: str
) -> None:
    delegate = host.agent(delegates_from=[agent]) if kind == "child" else agent
    task = owner.create(agent, "first")
    fence = host.start(task)
    before = told(owner, task)
    waits = {"host": host_wait("w"), "somebody else's review": review("w", other_id)}
    if kind == "child":
        waits["child"] = child("w", host.delegate(task, fence, "c", delegate, "hi").json()["id"])
        before = told(owner, task)

    host.wait(task, fence, waits[kind])

    assert said(told(host, task)) == WAITING_DEPENDENCY
    assert told(owner, task) == before
    assert_header_says(owner, task, RUNNING)


@pytest.mark.clause("MAP-7")
@pytest.mark.clause("INV-1")
@pytest.mark.clause("ENV-5")
def test_of_several_waits_one_is_the_status_and_the_others_stand_beside_it(
    owner: Person, host: Host, owner_id: str, queued: str
) -> None:
    fence = host.start(queued)
    waits = (host_wait("h"), review("r", owner_id, "Of several?"), auth("a", "github-of-several"))
    host.wait(queued, fence, *waits)

    first = seen_by_all(owner, host, queued), beside(told(host, queued))
    host.grant(owner_id, "github-of-several")
    second = seen_by_all(owner, host, queued), beside(told(host, queued))
    assert owner.decide(owner.review_of("Of several?"), "approve").status_code == 200
    third = said(told(host, queued)), said(told(owner, queued)), beside(told(host, queued))

    assert first == (AUTHENTICATION_REQUIRED, [1020, 3002])
    assert second == (HUMAN_APPROVAL_REQUIRED, [1020])
    assert third == (WAITING_DEPENDENCY, RUNNING, [])


def beside(envelope: dict[str, Any]) -> list[int]:
    """The codes of the conditions beside the status."""
    return sorted(one["status"]["code"] for one in envelope.get("conditions", []))


@pytest.mark.clause("MAP-7")
def test_a_review_that_holds_an_input_counts_among_the_waits(
    owner: Person, host: Host, owner_id: str
) -> None:
    """The turn goes on without that input, and waits for something of its own."""
    step = {"condition": "input.message[0].text == 'hold'", "assert": f"review('{owner_id}')"}
    task = owner.create(host.declare(guardrails={"before": [step]}), "first")
    owner.tell(task, "hold")
    fence = host.start(task)
    running = said(told(host, task)), beside(told(host, task)), said(told(owner, task))

    host.wait(task, fence, host_wait("w"))

    assert running == (RUNNING, [3002], RUNNING)
    assert seen_by_all(owner, host, task) == HUMAN_APPROVAL_REQUIRED
    assert beside(told(host, task)) == [1020]


@pytest.mark.clause("MAP-9")
@pytest.mark.parametrize("outcome", [2000, 2001, 2002, 2003, 3004])
def test_a_completed_task_has_the_outcome_that_was_declared(
    owner: Person, host: Host, idle: str, outcome: int
) -> None:
    host.do(idle, "complete", outcome=outcome)

    assert seen_by_all(owner, host, idle)[0] == outcome
    assert owner.phase(idle) == ("terminal", "completed")


@pytest.mark.clause("MAP-9")
@pytest.mark.parametrize("outcome", [1010, 3001, 4003, 6000, 8003])
def test_no_other_outcome_is_a_completion(owner: Person, host: Host, idle: str, outcome: int) -> None:
    before = owner.sees(idle)

    assert host.post(idle, "complete", outcome=outcome).status_code == 422
    assert owner.sees(idle) == before


@pytest.mark.clause("MAP-9")
@pytest.mark.parametrize(
    ("spoke", "code"),
    [(True, ended(2000, "SUCCESS")), (False, ended(2003, "NO_ACTION_REQUIRED"))],
    ids=["after an output", "without any"],
)
def test_an_expired_task_was_a_success_or_had_nothing_to_do(
    owner: Person, host: Host, code: object, *, spoke: bool
) -> None:
    task = owner.create(host.agent(lifespan="500ms"), "first" if spoke else None)
    if spoke:
        host.take_turn(task, "done")
    assert owner.outlives(task)["phase"] == "terminal"

    assert seen_by_all(owner, host, task) == code


@pytest.mark.clause("MAP-9")
def test_a_completed_task_is_a_success_unless_something_else_is_said(
    owner: Person, host: Host, idle: str
) -> None:
    host.do(idle, "complete")

    assert seen_by_all(owner, host, idle) == ended(2000, "SUCCESS")


@pytest.mark.clause("MAP-10")
@pytest.mark.clause("REG-5")
def test_a_restricted_task_was_blocked_by_a_guardrail(owner: Person, host: Host, idle: str) -> None:
    host.do(idle, "restrict")

    assert seen_by_all(owner, host, idle) == ended(4003, "GUARDRAIL_BLOCKED")


@pytest.mark.clause("MAP-11")
def test_an_errored_task_failed_for_good_unless_something_else_is_said(
    owner: Person, host: Host, idle: str
) -> None:
    host.do(idle, "error")

    assert seen_by_all(owner, host, idle) == ended(6000, "FATAL_ERROR")


@pytest.mark.clause("MAP-11")
@pytest.mark.parametrize("outcome", [4001, 4002, 4005, 5001, 5003, 6001, 6003, 7002, 7005])
def test_an_errored_task_has_the_outcome_that_was_declared(
    owner: Person, host: Host, idle: str, outcome: int
) -> None:
    host.do(idle, "error", outcome=outcome)

    assert seen_by_all(owner, host, idle)[0] == outcome
    assert owner.phase(idle) == ("terminal", "errored")


@pytest.mark.clause("MAP-11")
@pytest.mark.clause("RET-4")
def test_what_was_lost_after_it_may_have_acted_is_an_unknown_result(
    owner: Person, host: Host, queued: str
) -> None:
    host.start(queued)
    host.do(queued, "error", outcome=6005)

    assert seen_by_all(owner, host, queued) == ended(6005, "RESULT_STATE_UNKNOWN")
    assert told(host, queued)["retry"]["reconciliation_action"]


@pytest.mark.clause("MAP-3")
@pytest.mark.clause("MAP-11")
def test_when_no_attempt_is_left_it_failed_for_good(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=1), "first")
    host.do(task, "fail", fence=host.start(task))

    assert seen_by_all(owner, host, task) == ended(6000, "FATAL_ERROR")


@pytest.mark.clause("INV-1")
@pytest.mark.clause("MOD-5")
@pytest.mark.clause("MOD-1")
def test_however_it_ended_it_has_one_status_and_that_is_the_end(
    owner: Person, host: Host, early: Early
) -> None:
    codes = {seen_by_all(owner, host, task)[0] for task in early.ended}

    assert codes == {2000, 4003, 6000}
    assert all(told(owner, task)["status"]["terminal"] is True for task in early.ended)
