"""The lifecycle: what keeps a task going, and what ends it (LC-1 to LC-6)."""

import pytest

from tests.conformance.client import Json, said
from tests.conformance.host import Host, auth, host_wait
from tests.conformance.person import Person


@pytest.mark.clause("LC-1")
def test_a_task_is_processing_while_it_is_executed_and_while_it_waits(
    owner: Person, host: Host, queued: str
) -> None:
    phases = [owner.phase(queued)]
    fence = host.start(queued)
    phases.append(owner.phase(queued))
    host.wait(queued, fence, host_wait("job"))
    phases.append(owner.phase(queued))
    host.resolve(queued, fence, "job")
    phases.append(owner.phase(queued))
    host.wait(queued, host.start(queued), auth("sign-in", "github"))
    phases.append(owner.phase(queued))

    assert phases == [("processing", None)] * 5


@pytest.mark.clause("LC-1")
def test_a_wait_that_was_resolved_before_it_was_recorded_holds_nothing_up(
    owner: Person, host: Host, queued: str
) -> None:
    fence = host.start(queued)
    host.resolve(queued, fence, "job")

    host.wait(queued, fence, host_wait("job"))

    assert owner.phase(queued) == ("processing", None)
    (resolution,) = host.post(queued, "turns").json()["turn"]["resolutions"]
    assert (resolution["id"], resolution["verdict"]) == ("job", "done")


@pytest.mark.clause("LC-2")
def test_a_task_goes_idle_after_its_answer_and_can_go_on(owner: Person, host: Host, queued: str) -> None:
    for round_number in range(3):
        host.take_turn(queued, f"answer {round_number}")
        assert owner.phase(queued) == ("idle", None)
        owner.tell(queued, f"question {round_number}")
        assert owner.phase(queued) == ("processing", None)


@pytest.mark.clause("LC-2")
def test_output_along_the_way_ends_neither_turn_nor_task(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    for number in range(1, 4):
        host.say(queued, fence, number, f"part {number}")
        assert owner.phase(queued) == ("processing", None)


@pytest.mark.clause("LC-3")
def test_only_an_explicit_action_completes(owner: Person, host: Host, queued: str) -> None:
    host.take_turn(queued, "All done, goodbye!")
    before = owner.phase(queued)

    host.do(queued, "complete")

    assert before == ("idle", None)
    assert owner.phase(queued) == ("terminal", "completed")


@pytest.mark.clause("LC-3")
@pytest.mark.parametrize("outcome", [2000, 2001, 3004])
def test_however_the_host_says_it_went_it_is_completed(
    owner: Person, host: Host, idle: str, outcome: int
) -> None:
    host.do(idle, "complete", outcome=outcome)

    assert owner.phase(idle) == ("terminal", "completed")


@pytest.mark.clause("LC-3")
def test_a_failure_is_no_way_to_complete(owner: Person, host: Host, idle: str) -> None:
    before = owner.sees(idle)

    assert host.post(idle, "complete", outcome=6000).status_code == 422
    assert owner.sees(idle) == before


@pytest.mark.clause("LC-3")
def test_the_announced_end_completes(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(lifespan="300ms"))

    ended = owner.outlives(task)

    assert (ended["phase"], ended["terminal_reason"]) == ("terminal", "completed")


@pytest.mark.clause("LC-4")
def test_the_hosts_word_for_an_unrecoverable_error_ends_the_task(
    owner: Person, host: Host, queued: str
) -> None:
    host.start(queued)

    host.do(queued, "error", outcome=6000)

    assert owner.phase(queued) == ("terminal", "errored")


@pytest.mark.clause("LC-4")
def test_the_last_attempt_that_fails_ends_the_task(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=2, backoff=["1ms"]), "first")

    host.do(task, "fail", fence=host.start(task))
    after_the_first = owner.phase(task)
    host.do(task, "fail", fence=host.start(task))

    assert after_the_first == ("processing", None)
    assert owner.phase(task) == ("terminal", "errored")


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize("limit", ["max_turns", "max_llm_turns"])
def test_a_task_that_has_had_its_turns_is_errored_and_says_what_it_did_not_read(
    owner: Person, host: Host, limit: str
) -> None:
    task = owner.create(host.agent(limits={limit: 2}), "first")
    host.take_turn(task, "answer to the first")
    owner.tell(task, "second")
    host.take_turn(task, "answer to the second")
    within = owner.phase(task)
    owner.tell(task, "third")

    answer = host.post(task, "turns")

    assert answer.status_code == 409, answer.text
    assert within == ("idle", None)
    assert owner.phase(task) == ("terminal", "errored")
    assert owner.waiting(task) == ["third"]


USED = [
    ("max_prompt_tokens", "prompt_tokens"),
    ("max_completion_tokens", "completion_tokens"),
    ("max_tool_calls", "tool_calls"),
    ("max_capability_uses", "tool_calls"),
]


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize(("limit", "used"), USED)
@pytest.mark.parametrize("what", ["heartbeat", "outputs", "finish"])
def test_a_task_that_used_more_than_it_may_is_errored(
    owner: Person, host: Host, limit: str, used: str, what: str
) -> None:
    task = owner.create(host.agent(limits={limit: 10}), "first")
    fence = host.start(task)
    more: Json = {"outputs": {"number": 1, **said("one")}, "finish": said("done")}.get(what, {})
    host.do(task, "heartbeat", fence=fence, usage={used: 10})
    within = owner.phase(task)

    host.do(task, what, fence=fence, usage={used: 1}, **more)

    assert within == ("processing", None)
    assert owner.phase(task) == ("terminal", "errored")


@pytest.mark.clause("LC-5")
def test_a_locked_task_is_restricted_and_takes_nothing_more(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)

    host.do(queued, "restrict")

    assert owner.phase(queued) == ("terminal", "restricted")
    assert owner.send(queued, "please").status_code == 409
    assert host.post(queued, "finish", fence=fence, **said("done")).status_code == 409
    assert owner.texts(queued) == ["first"]


@pytest.mark.clause("LC-6")
def test_an_attempt_that_failed_is_followed_by_another_and_the_task_goes_on(
    owner: Person, host: Host
) -> None:
    task = owner.create(host.agent(repeatable=True, attempts=3, backoff=["1ms"]), "first")
    for _ in range(2):
        host.do(task, "fail", fence=host.start(task))
        assert owner.phase(task) == ("processing", None)

    host.finish(task, host.start(task), "third time lucky")

    assert owner.phase(task) == ("idle", None)
    assert owner.texts(task) == ["first", "third time lucky"]


@pytest.mark.clause("LC-6")
def test_requests_that_are_refused_end_nothing(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    before = owner.sees(queued)

    refused = [
        host.post(queued, "outputs", fence=fence, number=9, **said("skips some")),
        host.post(queued, "outputs", fence=fence, number=1, message=[]),
        host.post(queued, "finish", fence=fence + 1, **said("another's fence")),
        host.post(queued, "error", outcome=1),
        host.ask("POST", f"host/tasks/{queued}/turns", {"unknown": 1}),
        owner.ask("POST", f"tasks/{queued}/inputs", {"message": 1}),
    ]

    assert [answer.status_code for answer in refused] == [422, 422, 409, 422, 422, 422]
    assert owner.sees(queued) == before
