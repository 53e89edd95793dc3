"""The revision: it moves with what a consumer can see, and with nothing else (TS-6a, TS-6b)."""

import math
from collections import Counter
from collections.abc import Callable

import pytest

from tests.conformance.client import said
from tests.conformance.host import Host, auth, child, host_wait, review
from tests.conformance.person import Person

MANY = 64


def assert_moves(owner: Person, task: str, change: Callable[[], object]) -> None:
    """Hold *change* to moving the revision, and everything that carries it, at once."""
    before, seen = owner.revision(task), owner.sees(task)
    change()
    after = owner.sees(task)
    assert owner.revision(task) != before
    assert after.etag != seen.etag
    assert (after.status, after.messages) != (seen.status, seen.messages)


def assert_stays(owner: Person, task: str, what: Callable[[], object]) -> None:
    """Hold *what* to leaving all that can be seen as it was."""
    before = owner.sees(task)
    what()
    assert owner.sees(task) == before


@pytest.mark.clause("TS-6a")
def test_it_moves_when_an_input_arrives_whatever_the_task_is_doing(
    owner: Person, host: Host, idle: str
) -> None:
    assert_moves(owner, idle, lambda: owner.tell(idle, "while idle"))
    assert_moves(owner, idle, lambda: owner.tell(idle, "while queued"))
    host.start(idle)
    assert_moves(owner, idle, lambda: owner.tell(idle, "while running"))


@pytest.mark.clause("TS-6a")
def test_it_moves_when_a_turn_takes_its_inputs_speaks_and_ends(
    owner: Person, host: Host, queued: str
) -> None:
    fences: list[int] = []
    assert_moves(owner, queued, lambda: fences.append(host.start(queued)))
    assert_moves(owner, queued, lambda: host.say(queued, fences[0], 1, "working"))
    assert_moves(owner, queued, lambda: host.say(queued, fences[0], 2, "still working"))
    assert_moves(owner, queued, lambda: host.finish(queued, fences[0], "done"))


@pytest.mark.clause("TS-6a")
def test_it_moves_when_a_turn_ends_without_a_word(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)

    assert_moves(owner, queued, lambda: host.finish(queued, fence))


@pytest.mark.clause("TS-6a")
def test_it_moves_when_a_turn_is_interrupted(owner: Person, host: Host, queued: str) -> None:
    host.start(queued)

    assert_moves(owner, queued, lambda: host.do(queued, "interrupt"))


@pytest.mark.clause("TS-6a")
@pytest.mark.parametrize("end", ["complete", "error", "restrict"])
def test_it_moves_when_a_task_ends(owner: Person, host: Host, idle: str, end: str) -> None:
    assert_moves(owner, idle, lambda: host.do(idle, end))


@pytest.mark.clause("TS-6a")
def test_it_moves_when_a_notification_comes_and_when_it_goes(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    provider = f"for-{queued}"
    fence = host.start(queued)

    assert_moves(owner, queued, lambda: host.wait(queued, fence, auth("sign-in", provider)))
    assert_moves(owner, queued, lambda: host.grant(owner_id, provider))


@pytest.mark.clause("TS-6a")
def test_it_moves_when_the_user_decides(owner: Person, host: Host, queued: str, owner_id: str) -> None:
    fence, subject = host.start(queued), f"May {queued}?"

    assert_moves(owner, queued, lambda: host.wait(queued, fence, review("user", owner_id, subject)))
    assert_moves(owner, queued, lambda: owner.decide(owner.review_of(subject), "approve"))


@pytest.mark.clause("TS-6b")
def test_it_stays_while_a_worker_only_shows_that_it_lives(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)

    assert_stays(owner, queued, lambda: host.do(queued, "heartbeat", fence=fence))
    assert_stays(owner, queued, lambda: host.do(queued, "heartbeat", fence=fence, usage={"prompt_tokens": 7}))


@pytest.mark.clause("TS-6b")
def test_it_stays_when_an_output_is_said_again(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    host.say(queued, fence, 1, "working")

    assert_stays(owner, queued, lambda: host.say(queued, fence, 1, "working"))


@pytest.mark.clause("TS-6b")
def test_it_stays_when_an_input_is_sent_again_under_its_key(owner: Person, idle: str) -> None:
    def send() -> int:
        key = {"idempotency-key": idle}
        return owner.ask("POST", f"tasks/{idle}/inputs", said("once"), headers=key).status_code

    assert send() == 202
    assert_stays(owner, idle, send)


@pytest.mark.clause("TS-6b")
def test_it_stays_while_somebody_reads(owner: Person, host: Host, queued: str) -> None:
    def read() -> None:
        for _ in range(5):
            assert owner.poll(queued, owner.poll(queued).headers["etag"]).status_code == 304
        owner.messages(queued)
        owner.ask("GET", "tasks")
        host.read(queued)

    assert_stays(owner, queued, read)


@pytest.mark.clause("TS-6b")
def test_it_stays_when_an_attempt_fails_and_the_next_begins(owner: Person, host: Host) -> None:
    agent = host.agent(repeatable=True, attempts=3, backoff=["1ms"])
    task = owner.create(agent, "first")
    fence = host.start(task)

    assert_stays(owner, task, lambda: host.do(task, "fail", fence=fence))
    assert_stays(owner, task, lambda: host.start(task))


@pytest.mark.clause("TS-6b")
def test_it_stays_while_the_host_waits_for_something_of_its_own(
    owner: Person, host: Host, queued: str
) -> None:
    fence = host.start(queued)

    assert_stays(owner, queued, lambda: host.wait(queued, fence, host_wait("job"), memo={"step": 1}))
    assert_stays(owner, queued, lambda: host.resolve(queued, fence, "job"))
    assert_stays(owner, queued, lambda: host.start(queued))


@pytest.mark.clause("TS-6b")
def test_it_stays_while_somebody_else_decides(
    owner: Person, other: Person, host: Host, queued: str, other_id: str
) -> None:
    fence, subject = host.start(queued), f"May {queued}?"

    assert_stays(owner, queued, lambda: host.wait(queued, fence, review("boss", other_id, subject)))
    assert_stays(owner, queued, lambda: other.decide(other.review_of(subject), "deny"))


@pytest.mark.clause("TS-6b")
def test_it_stays_while_a_task_waits_for_a_child(owner: Person, host: Host, agent: str) -> None:
    delegate = host.agent(delegates_from=[agent])
    parent = owner.create(agent, "first")
    fence = host.start(parent)

    made: list[str] = []
    assert_stays(
        owner, parent, lambda: made.append(host.delegate(parent, fence, "one", delegate, "go").json()["id"])
    )
    assert_stays(owner, parent, lambda: host.wait(parent, fence, child("child", made[0])))
    assert_stays(owner, parent, lambda: host.take_turn(made[0], "done"))


@pytest.mark.clause("TS-6b")
def test_nothing_can_be_read_from_it(owner: Person, idle: str) -> None:
    revisions = [owner.tell(idle, str(number))["status"]["revision"] for number in range(MANY)]
    alphabet = Counter("".join(revisions))
    varied = [place for place in zip(*revisions, strict=True) if len(set(place)) >= math.sqrt(len(alphabet))]

    assert len(set(revisions)) == MANY
    assert len(varied) == len(revisions[0]), "a part of it hardly varies: a time or a count"
    assert revisions not in (sorted(revisions), sorted(revisions, reverse=True))


@pytest.mark.clause("TS-6b")
def test_tasks_of_the_same_past_do_not_share_it(owner: Person, agent: str) -> None:
    pasts = [owner.create(agent, "the same words") for _ in range(4)]

    assert len({owner.revision(task) for task in pasts}) == len(pasts)


@pytest.mark.clause("TS-6a")
def test_it_moves_when_the_announced_end_comes(owner: Person, host: Host) -> None:
    agent = host.agent(lifespan="700ms")
    task = owner.create(agent)
    announced = owner.status(task)

    ended = owner.outlives(task)

    assert ended["phase"] == "terminal"
    assert ended["revision"] != announced["revision"]
