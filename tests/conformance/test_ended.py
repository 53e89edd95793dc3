"""A task that has ended stays as it was, byte for byte, whoever comes late (TS-5c)."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import httpx
import pytest

from tests.conformance.client import said
from tests.conformance.host import Host, auth, host_wait, review
from tests.conformance.person import Person

FUTILE, PATIENCE = 3, 60
ENDS = ("complete", "error", "restrict", "past a limit")


@dataclass(frozen=True)
class Late:
    """Whoever had to do with a task when it ended, and does not know yet that it has."""

    owner: Person
    other: Person
    host: Host
    task: str
    fence: int


type Deed = Callable[[Late], httpx.Response]

DEEDS: dict[str, tuple[int, Deed]] = {
    "an output": (
        409,
        lambda late: late.host.post(late.task, "outputs", fence=late.fence, number=2, **said("x")),
    ),
    "an output that was said before": (
        409,
        lambda late: late.host.post(late.task, "outputs", fence=late.fence, number=1, **said("working")),
    ),
    "the end of the turn": (
        409,
        lambda late: late.host.post(late.task, "finish", fence=late.fence, **said("x")),
    ),
    "the end of the turn without a word": (
        409,
        lambda late: late.host.post(late.task, "finish", fence=late.fence),
    ),
    "a heartbeat": (409, lambda late: late.host.post(late.task, "heartbeat", fence=late.fence)),
    "a report of what was used": (
        409,
        lambda late: late.host.post(late.task, "heartbeat", fence=late.fence, usage={"tool_calls": 1}),
    ),
    "a failed attempt": (409, lambda late: late.host.post(late.task, "fail", fence=late.fence)),
    "another turn": (409, lambda late: late.host.post(late.task, "turns")),
    "an interruption": (409, lambda late: late.host.post(late.task, "interrupt")),
    "completion": (409, lambda late: late.host.post(late.task, "complete", outcome=2001)),
    "completion that discards": (
        409,
        lambda late: late.host.post(late.task, "complete", discard_pending=True),
    ),
    "an error": (409, lambda late: late.host.post(late.task, "error", outcome=6001)),
    "a lock": (409, lambda late: late.host.post(late.task, "restrict")),
    "an input": (409, lambda late: late.owner.send(late.task, "too late")),
    "a stranger's input": (404, lambda late: late.other.send(late.task, "mine?")),
}
"""What comes late, with the answer it must get."""


def ended(owner: Person, other: Person, host: Host, end: str) -> Late:
    """Somebody whose turn ran when the task ended."""
    agent = host.agent(limits={"max_tool_calls": 1})
    task = owner.create(agent, "first")
    fence = host.start(task)
    host.say(task, fence, 1, "working")
    if end == "past a limit":
        host.do(task, "heartbeat", fence=fence, usage={"tool_calls": 2})
    else:
        host.do(task, end)
    return Late(owner, other, host, task, fence)


@pytest.fixture(scope="module", params=ENDS)
def late(request: pytest.FixtureRequest, owner: Person, other: Person, host: Host) -> Late:
    return ended(owner, other, host, request.param)


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("what", DEEDS)
def test_what_comes_late_changes_nothing(late: Late, what: str) -> None:
    before = late.owner.sees(late.task)
    status, deed = DEEDS[what]

    answer = deed(late)

    assert answer.status_code == status, answer.text
    assert late.owner.sees(late.task) == before


@pytest.mark.clause("TS-5c")
def test_a_repeated_request_is_answered_with_the_ended_task_and_changes_nothing(
    owner: Person, host: Host, idle: str
) -> None:
    def send() -> httpx.Response:
        return owner.ask("POST", f"tasks/{idle}/inputs", said("once"), headers={"idempotency-key": idle})

    first = send()
    host.do(idle, "complete", discard_pending=True)
    before = owner.sees(idle)

    again = send()

    assert (first.status_code, again.status_code) == (202, 202)
    assert again.content == before.status
    assert owner.sees(idle) == before


@pytest.mark.clause("TS-5c")
def test_a_redelivered_wake_up_starts_nothing(owner: Person, host: Host, queued: str) -> None:
    host.take_turn(queued, "done")
    host.do(queued, "complete")
    before = owner.sees(queued)

    answers = [host.post(queued, "turns").status_code for _ in range(3)]

    assert answers == [409, 409, 409]
    assert owner.sees(queued) == before


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("end", ["complete", "error", "restrict"])
def test_a_wait_that_is_resolved_late_changes_nothing(
    owner: Person, host: Host, queued: str, end: str
) -> None:
    fence = host.start(queued)
    host.wait(queued, fence, host_wait("job"))
    host.do(queued, end)
    before = owner.sees(queued)

    answer = host.post(queued, "resolve", fence=fence, wait="job", verdict="done")

    assert answer.status_code == 409, answer.text
    assert owner.sees(queued) == before


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("end", ["complete", "error", "restrict"])
def test_a_grant_that_comes_late_changes_nothing(
    owner: Person, host: Host, queued: str, owner_id: str, end: str
) -> None:
    provider = f"late-{queued}"
    host.wait(queued, host.start(queued), auth("sign-in", provider))
    host.do(queued, end)
    before = owner.sees(queued)

    host.grant(owner_id, provider)

    assert owner.sees(queued) == before


@pytest.mark.clause("TS-5c")
def test_a_decision_that_comes_late_is_refused_and_changes_nothing(
    owner: Person, other: Person, host: Host, queued: str, other_id: str
) -> None:
    subject = f"May {queued}?"
    host.wait(queued, host.start(queued), review("boss", other_id, subject))
    decision = other.review_of(subject)
    host.do(queued, "complete")
    before = owner.sees(queued)

    answer = other.decide(decision, "approve")

    assert answer.status_code == 409, answer.text
    assert owner.sees(queued) == before


@pytest.mark.clause("TS-5c")
def test_suspending_a_turn_late_is_refused_and_changes_nothing(
    owner: Person, host: Host, queued: str
) -> None:
    fence = host.start(queued)
    host.do(queued, "restrict")
    before = owner.sees(queued)

    answer = host.post(queued, "wait", fence=fence, waits=[auth("sign-in", "github")])

    assert answer.status_code == 409, answer.text
    assert owner.sees(queued) == before


@pytest.mark.clause("TS-5c")
@pytest.mark.parametrize("end", ["complete", "restrict"])
def test_what_was_on_its_way_when_the_task_ended_changes_nothing_any_more(
    owner: Person, host: Host, queued: str, end: str
) -> None:
    fence = host.start(queued)
    deadline = time.monotonic() + PATIENCE
    deeds: list[Callable[[], httpx.Response]] = [
        lambda: owner.send(queued, "one more"),
        lambda: host.post(queued, "heartbeat", fence=fence, usage={"tool_calls": 1}),
        lambda: host.post(queued, "outputs", fence=fence, number=1, **said("working")),
    ]

    begun = threading.Barrier(len(deeds) + 1)

    def go_on(deed: Callable[[], httpx.Response]) -> list[int]:
        answers = [deed().status_code]
        begun.wait(PATIENCE)
        while answers.count(409) < FUTILE and time.monotonic() < deadline:
            answers.append(deed().status_code)
        return answers

    with ThreadPoolExecutor(len(deeds)) as others:
        doing = [others.submit(go_on, deed) for deed in deeds]
        begun.wait(PATIENCE)
        ending = host.until_it_may(queued, end, **({"discard_pending": True} if end == "complete" else {}))
        ended_as = owner.sees(queued)
        answers = [done.result() for done in doing]

    assert ending.status_code == 200, ending.text
    assert [codes[-FUTILE:] for codes in answers] == [[409] * FUTILE] * len(deeds)
    assert [codes[0] for codes in answers].count(409) == 0, "each was on its way already"
    assert owner.sees(queued) == ended_as


@pytest.mark.clause("TS-5c")
def test_an_input_that_waited_when_the_task_ended_stays_uncommitted(
    owner: Person, host: Host, queued: str
) -> None:
    host.start(queued)
    owner.tell(queued, "never read")
    host.do(queued, "error")
    before = owner.sees(queued)

    assert host.post(queued, "turns").status_code == 409
    assert owner.waiting(queued) == ["never read"]
    assert owner.sees(queued) == before
