"""The end that an idle task announces, and that it comes at the instant announced (TS-8a to TS-8c)."""

import time
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from tests.conformance.host import Host, auth
from tests.conformance.instants import Clock, clock_of, here, instant
from tests.conformance.person import Person

HOUR, SOON = timedelta(hours=1), timedelta(seconds=2)
LIFESPAN = "2s"
PAST_THE_END = 1.0
ENOUGH = 4
PAUSE = 0.02


@dataclass(frozen=True)
class Look:
    """What one poll saw, and between which instants of our clock it was made."""

    asked: datetime
    answered: datetime
    phase: str
    reason: str | None
    revision: str
    ends: str | None


def look(person: Person, task: str) -> Look:
    """Poll once."""
    asked = here()
    status = person.status(task)
    return Look(
        asked,
        here(),
        status["phase"],
        status["terminal_reason"],
        status["revision"],
        status["idle_expires_at"],
    )


def short_lived(owner: Person, host: Host) -> tuple[str, Clock, datetime]:
    """A task that goes idle now, what we know of the deployment's clock, and when the task says it will end."""
    task = owner.create(host.agent(lifespan=LIFESPAN))
    asked = here()
    clock = clock_of(asked, owner.send(task, "hello"))
    host.take_turn(task, "done")
    return task, clock, instant(owner.status(task)["idle_expires_at"])


def wait_until_after(clock: Clock, instant_of_theirs: datetime) -> None:
    """Return when it is surely past *instant_of_theirs* by the deployment's clock."""
    while not clock.surely_after(here(), instant_of_theirs):
        time.sleep(PAUSE)


@pytest.mark.clause("TS-8a")
def test_a_new_task_announces_its_end_a_lifespan_from_its_creation(owner: Person, host: Host) -> None:
    task = owner.task(owner.create(host.agent(lifespan="1h")))

    assert instant(task["status"]["idle_expires_at"]) - instant(task["created_at"]) == HOUR


@pytest.mark.clause("TS-8a")
def test_a_turn_that_ends_moves_it_to_a_lifespan_from_then(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(lifespan="1h"), "hello")
    host.take_turn(task, "done")

    ends = instant(owner.status(task)["idle_expires_at"])

    assert abs(ends - instant(owner.messages(task)[-1]["committed_at"]) - HOUR) < SOON


@pytest.mark.clause("TS-8a")
def test_any_activity_moves_it(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(lifespan="1h"))
    announced = [instant(owner.status(task)["idle_expires_at"])]

    owner.tell(task, "hello")
    host.take_turn(task, "done")
    announced.append(instant(owner.status(task)["idle_expires_at"]))
    owner.tell(task, "and again")
    host.start(task)
    host.do(task, "interrupt")
    announced.append(instant(owner.status(task)["idle_expires_at"]))

    assert announced == sorted(set(announced))


@pytest.mark.clause("TS-8a")
def test_looking_moves_nothing(owner: Person, host: Host) -> None:
    task = owner.create(host.agent(lifespan="1h"))
    announced = owner.status(task)["idle_expires_at"]

    owner.messages(task)
    host.read(task)

    assert owner.status(task)["idle_expires_at"] == announced


@pytest.mark.clause("TS-8a")
def test_it_is_never_beyond_the_age_a_task_may_have(owner: Person, host: Host) -> None:
    task = owner.task(owner.create(host.agent(limits={"max_age": "1h"}, lifespan="5h")))

    assert instant(task["status"]["idle_expires_at"]) - instant(task["created_at"]) == HOUR


@pytest.mark.clause("TS-8b")
def test_a_busy_task_announces_no_end(owner: Person, host: Host, queued: str) -> None:
    announced = [owner.status(queued)["idle_expires_at"]]
    fence = host.start(queued)
    announced.append(owner.status(queued)["idle_expires_at"])
    host.say(queued, fence, 1, "working")
    announced.append(owner.status(queued)["idle_expires_at"])

    assert announced == [None, None, None]


@pytest.mark.clause("TS-8b")
def test_a_task_that_waits_for_its_user_announces_no_end(owner: Person, host: Host, queued: str) -> None:
    host.wait(queued, host.start(queued), auth("sign-in", "github"))

    assert owner.status(queued)["phase"] == "processing"
    assert owner.status(queued)["idle_expires_at"] is None


@pytest.mark.clause("TS-8b")
@pytest.mark.parametrize("end", ["complete", "error", "restrict"])
def test_a_task_that_has_ended_announces_nothing(owner: Person, host: Host, idle: str, end: str) -> None:
    assert owner.status(idle)["idle_expires_at"] is not None

    host.do(idle, end)

    assert owner.status(idle)["idle_expires_at"] is None


@pytest.mark.clause("TS-8c")
@pytest.mark.clause("TS-8b")
def test_polled_densely_it_ends_at_that_instant_and_not_before(owner: Person, host: Host) -> None:
    task, clock, ends = short_lived(owner, host)
    looks = [look(owner, task)]
    while not clock.surely_after(looks[-1].asked, ends + timedelta(seconds=PAST_THE_END)):
        looks.append(look(owner, task))

    early = [one for one in looks if clock.surely_before(one.answered, ends)]
    late = [one for one in looks if clock.surely_after(one.asked, ends)]
    assert min(len(early), len(late)) >= ENOUGH, "polled densely enough to tell"
    assert {(one.phase, one.reason) for one in early} == {("idle", None)}
    assert {instant(one.ends) for one in early} == {ends}
    assert {(one.phase, one.reason, one.ends) for one in late} == {("terminal", "completed", None)}
    # Whatever the clocks: once it was seen to have ended it never was idle again, nor changed.
    phases = [one.phase for one in looks]
    assert phases == sorted(phases)
    assert len({one.revision for one in late}) == 1
    assert late[0].revision != early[-1].revision


@pytest.mark.clause("TS-8c")
def test_from_then_no_input_is_taken(owner: Person, host: Host) -> None:
    task, clock, ends = short_lived(owner, host)
    wait_until_after(clock, ends)

    refused = owner.send(task, "too late")

    assert refused.status_code == 409, refused.text
    assert owner.phase(task) == ("terminal", "completed")
    assert owner.texts(task) == ["hello", "done"]


@pytest.mark.clause("TS-8c")
@pytest.mark.parametrize("first", ["the list", "the conversation", "the host"])
def test_whoever_looks_first_sees_it_ended(owner: Person, host: Host, first: str) -> None:
    task, clock, ends = short_lived(owner, host)
    announced = owner.poll(task).headers["etag"]
    wait_until_after(clock, ends)

    match first:
        case "the list":
            seen = owner.listed(task)["status"]
            assert (seen["phase"], seen["terminal_reason"]) == ("terminal", "completed")
        case "the conversation":
            assert owner.page(task).headers["etag"] != announced
        case _:
            assert host.read(task)["task"]["status"]["phase"] == "terminal"

    assert owner.phase(task) == ("terminal", "completed")
    assert owner.poll(task, announced).status_code == 200


@pytest.mark.clause("TS-8c")
def test_from_then_nobody_starts_a_turn(owner: Person, host: Host) -> None:
    task, clock, ends = short_lived(owner, host)
    wait_until_after(clock, ends)

    assert host.post(task, "turns").status_code == 409
    assert host.post(task, "error").status_code == 409
    assert owner.phase(task) == ("terminal", "completed")


@pytest.mark.clause("TS-8c")
def test_an_input_in_time_calls_the_end_off(owner: Person, host: Host) -> None:
    task, clock, ends = short_lived(owner, host)
    owner.tell(task, "just in time")
    wait_until_after(clock, ends)

    assert owner.phase(task) == ("processing", None)
    host.take_turn(task, "answered")
    assert owner.texts(task) == ["hello", "done", "just in time", "answered"]
