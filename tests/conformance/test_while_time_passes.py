"""What time does by itself: to tasks that have ended nothing, to others what was announced or agreed.

These come last, since they are about tasks that were made before the first test.
"""

import time
from collections.abc import Callable

import pytest

from tests.conformance.client import answered, said
from tests.conformance.early import Early
from tests.conformance.host import Host
from tests.conformance.instants import Clock, clock_of, here, instant
from tests.conformance.person import Person

A_SWEEP = 100.0
"""Longer than the deployment takes to look at what is due, in seconds."""
PAUSE = 0.25


def eventually(holds: Callable[[], bool]) -> None:
    """Return as soon as it *holds*."""
    deadline = time.monotonic() + A_SWEEP
    while not holds():
        assert time.monotonic() < deadline, f"not within {A_SWEEP} s"
        time.sleep(PAUSE)


@pytest.fixture(scope="module")
def clock(owner: Person, agent: str) -> Clock:
    asked = here()
    return clock_of(asked, owner.send(owner.create(agent), "what time is it?"))


def outlive_the_lease(host: Host, task: str, clock: Clock) -> None:
    """Return when the lease of the turn that runs is surely over."""
    turn = host.read(task)["turn"]
    while turn["lease_until"] and not clock.surely_after(here(), instant(turn["lease_until"])):
        time.sleep(PAUSE)


@pytest.mark.clause("LC-4")
@pytest.mark.parametrize("busy", ["queued", "running"])
def test_a_task_that_is_older_than_it_may_be_is_errored(owner: Person, early: Early, busy: str) -> None:
    eventually(lambda: owner.phase(early.aged[busy]) == ("terminal", "errored"))


@pytest.mark.clause("TS-8b")
@pytest.mark.clause("TN-5")
def test_a_wait_has_a_deadline_of_its_own_at_which_its_notification_goes(
    owner: Person, host: Host, early: Early
) -> None:
    eventually(lambda: owner.notifications(early.late) == [])

    resolutions = host.start_when_woken(early.late)["resolutions"]
    assert {(one["id"], one["verdict"]) for one in resolutions} == {
        ("sign-in", "timed_out"),
        ("user", "timed_out"),
    }


@pytest.mark.clause("TS-8c")
def test_a_task_that_nobody_looked_at_has_ended_as_it_announced(owner: Person, early: Early) -> None:
    assert owner.phase(early.expired) == ("terminal", "completed")
    assert owner.messages(early.expired) == []


@pytest.mark.clause("TN-3")
@pytest.mark.clause("TS-6b")
def test_a_lost_turn_is_its_hosts_business_and_nobody_elses(
    owner: Person, host: Host, early: Early, clock: Clock
) -> None:
    outlive_the_lease(host, early.lost, clock)

    assert host.post(early.lost, "turns").status_code == 409
    assert [wait["kind"] for wait in host.read(early.lost)["waits"]] == ["reconcile"]
    assert owner.notifications(early.lost) == []
    assert owner.sees(early.lost) == early.lost_seen


@pytest.mark.clause("LC-6")
def test_a_turn_that_may_not_be_repeated_goes_on_when_its_host_says_what_became_of_it(
    owner: Person, host: Host, early: Early, clock: Clock
) -> None:
    outlive_the_lease(host, early.lost, clock)
    host.post(early.lost, "turns")
    late = host.post(early.lost, "finish", fence=early.lost_fence, **said("charged!"))

    host.do(early.lost, "reconcile", answer="done", **said("It was charged once."))

    assert late.status_code == 409
    assert owner.phase(early.lost) == ("idle", None)
    assert owner.texts(early.lost) == ["first", "I will charge the card now", "It was charged once."]


@pytest.mark.clause("LC-6")
def test_a_turn_that_may_be_repeated_is_taken_up_by_whoever_comes_next(
    owner: Person, host: Host, early: Early, clock: Clock
) -> None:
    outlive_the_lease(host, early.again, clock)

    turn = answered(host.post(early.again, "turns"), 201)["turn"]
    overtaken = host.post(early.again, "finish", fence=turn["fence"] - 1, **said("me first"))
    host.finish(early.again, turn["fence"], "done")

    assert turn["attempt"] == 2
    assert overtaken.status_code == 409
    assert owner.texts(early.again) == ["first", "done"]


@pytest.mark.clause("TS-5c")
def test_no_sweep_changes_what_has_ended(owner: Person, early: Early) -> None:
    # By now one has passed: it ended the tasks that were too old.
    eventually(lambda: all(owner.phase(task)[0] == "terminal" for task in early.aged.values()))

    assert {task: owner.sees(task) for task in early.ended} == early.ended
