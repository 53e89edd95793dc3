"""Polling is enough: whoever reads the messages when the revision is another one misses nothing (PO-1, PO-2)."""

import time
from dataclasses import dataclass, field

import pytest

from tests.conformance.client import Json, answered, said
from tests.conformance.host import Host, auth, host_wait, review
from tests.conformance.person import Person

ENOUGH = 60.0
PAUSE = 0.05


@dataclass
class Follower:
    """A consumer as the contract has it: polls, and reads the messages only when the revision is another one."""

    person: Person
    task: str
    etag: str = ""
    status: Json = field(default_factory=dict)
    messages: list[Json] = field(default_factory=list)

    def look(self) -> bool:
        """Poll once; tell whether there was anything new."""
        answer = self.person.poll(self.task, self.etag or None)
        if answer.status_code == 304:
            assert answer.content == b""
            return False
        self.etag, self.status = answer.headers["etag"], answered(answer, 200)
        self.messages = self.person.messages(self.task)
        return True

    def knows_all(self) -> bool:
        """What it has is what somebody finds who never looked before."""
        return (self.status, self.messages) == (
            self.person.task(self.task),
            self.person.messages(self.task),
        )


def assert_followed(follower: Follower) -> None:
    """Have it poll once, after which it must know all there is."""
    assert follower.look()
    assert follower.knows_all()
    assert not follower.look()


@pytest.mark.clause("PO-1")
def test_a_follower_has_it_all_after_each_step_of_a_life(owner: Person, host: Host, idle: str) -> None:
    follower = Follower(owner, idle)
    assert_followed(follower)
    owner.tell(idle, "first")
    assert_followed(follower)
    fence = host.start(idle)
    assert_followed(follower)
    owner.tell(idle, "second")
    assert_followed(follower)
    host.say(idle, fence, 1, "working")
    assert_followed(follower)
    host.finish(idle, fence, "done")
    assert_followed(follower)
    host.take_turn(idle, "and the second")
    assert_followed(follower)
    host.do(idle, "complete")
    assert_followed(follower)


@pytest.mark.clause("PO-1")
def test_a_follower_learns_what_is_asked_of_the_user_and_when_it_is_not_any_more(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    provider, subject = f"for-{queued}", f"May {queued}?"
    follower = Follower(owner, queued)
    fence = host.start(queued)
    follower.look()

    host.wait(queued, fence, auth("sign-in", provider), review("user", owner_id, subject))
    assert_followed(follower)
    host.grant(owner_id, provider)
    assert_followed(follower)
    owner.decide(owner.review_of(subject), "approve")
    assert_followed(follower)


@pytest.mark.clause("PO-1")
def test_a_follower_is_left_alone_while_there_is_nothing_to_learn(
    owner: Person, host: Host, queued: str
) -> None:
    follower = Follower(owner, queued)
    fence = host.start(queued)
    follower.look()

    host.do(queued, "heartbeat", fence=fence)
    host.wait(queued, fence, host_wait("job"))

    assert not follower.look()
    assert follower.knows_all()


@pytest.mark.clause("PO-1")
def test_polls_say_when_to_look_again_until_there_is_nothing_more_to_see(
    owner: Person, host: Host, queued: str
) -> None:
    polled = owner.poll(queued)
    known = owner.poll(queued, polled.headers["etag"])
    host.do(queued, "error")
    over = owner.poll(queued)

    assert float(polled.headers["poll-after"]) > 0
    assert float(known.headers["poll-after"]) > 0
    assert "poll-after" not in over.headers


@pytest.mark.clause("PO-1")
def test_the_etag_is_the_revision_and_that_of_the_messages_too(owner: Person, queued: str) -> None:
    polled = owner.poll(queued)

    assert polled.headers["etag"] == f'"{polled.json()["status"]["revision"]}"'
    assert owner.page(queued).headers["etag"] == polled.headers["etag"]


@pytest.mark.clause("PO-1")
def test_a_follower_of_an_agent_of_the_deployment_sees_it_answer(owner: Person) -> None:
    follower = Follower(owner, owner.create("echo", "hello"))
    follower.look()
    began = time.monotonic()
    while follower.status["status"]["phase"] != "idle" and time.monotonic() - began < ENOUGH:
        time.sleep(PAUSE)
        follower.look()

    assert follower.status["status"]["phase"] == "idle"
    assert [entry["type"] for entry in follower.messages] == ["input", "output"]
    assert follower.knows_all()


@pytest.mark.clause("PO-2")
def test_whatever_carries_the_status_object_carries_the_same_one(
    owner: Person, host: Host, agent: str
) -> None:
    created = answered(owner.ask("POST", "tasks", {"agent": agent, "input": said("first")}), 202)
    task = created["id"]
    polled_first = owner.task(task)
    told = owner.tell(task, "second")

    assert polled_first == created
    assert owner.task(task) == told
    assert owner.listed(task) == told
    assert host.read(task)["task"] == told


@pytest.mark.clause("PO-2")
def test_so_does_the_list_of_a_task_that_waits_for_its_user(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"))

    assert owner.listed(queued) == owner.task(queued)
