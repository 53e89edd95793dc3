"""What waiting costs in calls and items: a step more than a turn's others only where there is somebody else to ask."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.counting import Count
from tests.support.engines import make_queue
from tests.support.hosting import ACME, AGENT, manifest
from tests.support.laboratory import ALICE, BOB, Laboratory, said
from turnkeeper.domain.needs import Need
from turnkeeper.domain.reviews import name_of
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service import host_agents, host_turns
from turnkeeper.service.delegation import Call
from turnkeeper.service.grants import grant
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.reviews import decide, list_reviews

HOST = Need(id="host", kind=WaitKind.HOST)
SIGN_IN = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider="calendar")
REVIEW = Need(id="review", kind=WaitKind.REVIEW, reviewer=BOB, subject="Buy it?")
READ, READ_SEVERAL, WRITE = "get_item", "batch_get_item", "transact_write_items"


@pytest.fixture
def lab(counting: Laboratory) -> Laboratory:
    """A laboratory that counts, with two agents of the host `acme`, of which one works for the other."""
    queue = counting.runtime.queue
    assert queue
    counting.runtime = replace(
        counting.runtime, queue=replace(queue, host_urls={ACME.principal: make_queue(counting.sqs)})
    )
    for name, lists in ((AGENT, []), ("other", [AGENT])):
        document = json.dumps(manifest(name, delegates_from=lists))
        host_agents.register(counting.runtime, principal=ACME.principal, name=name, document=document)
    # What the laboratory itself made is over.
    counting.clock.forward(seconds=6)
    counting.sweep()
    return counting


def asked_of(task_id: str) -> Asked:
    return Asked(principal=ACME.principal, task_id=task_id, body="{}", key=None)


def running(lab: Laboratory) -> str:
    task_id = lab.create("hi", agent=AGENT).task.id
    host_turns.start(lab.runtime, asked_of(task_id))
    return task_id


def wait(lab: Laboratory, task_id: str, *needs: Need) -> None:
    host_turns.wait(lab.runtime, asked_of(task_id), fence=1, needs=needs, memo="1")


def waiting(lab: Laboratory, *needs: Need) -> str:
    task_id = running(lab)
    wait(lab, task_id, *needs)
    return task_id


@pytest.mark.parametrize(
    ("needs", "calls", "items"),
    [
        ([SIGN_IN, replace(SIGN_IN, id="again"), HOST, REVIEW], [READ, READ_SEVERAL, WRITE, READ_SEVERAL], 6),
    ],
    ids=["all of them"],
)
def test_a_wait_is_one_read_and_one_transaction_between_two_looks_at_the_grants(
    lab: Laboratory, count: Count, needs: list[Need], calls: list[str], items: int
) -> None:
    task_id = running(lab)

    with count() as tally:
        wait(lab, task_id, *needs)

    assert tally.operations == calls
    assert tally.transactions == [items]


def test_a_decision_is_one_transaction_of_four_items(lab: Laboratory, count: Count) -> None:
    task_id = waiting(lab, REVIEW)
    review_id = task_id + name_of(1, "review")

    def say() -> object:
        return decide(lab.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment="Yes")

    with count() as tally:
        say()
    with count() as again:
        say()

    assert tally.operations == [READ_SEVERAL, WRITE, READ_SEVERAL, "send_message"]
    assert tally.transactions == [4]
    assert again.operations == [READ_SEVERAL]


@pytest.mark.parametrize("tasks", [0, 1, 3])
def test_a_grant_is_one_write_and_one_transaction_for_each_task_that_waits_for_it(
    lab: Laboratory, count: Count, tasks: int
) -> None:
    for _ in range(tasks):
        waiting(lab, SIGN_IN, replace(SIGN_IN, id="again"))
    waiting(lab, replace(SIGN_IN, provider="mail"))
    lab.clock.forward(seconds=1)

    with count() as tally:
        grant(lab.runtime, principal=ACME.principal, user=ALICE, provider="calendar", granted_at=None)

    each = [READ_SEVERAL, WRITE]
    sent = ["send_message"] * tasks
    assert tally.operations == ["update_item", "query", READ_SEVERAL, *(each * tasks), *sent]
    assert tally.transactions == [3] * tasks


def test_a_child_is_one_transaction_of_six_items(lab: Laboratory, count: Count) -> None:
    task_id = running(lab)
    call = Call(name="c", fence=1, agent="other", content=said("go"))

    def delegate() -> object:
        return host_turns.delegate(lab.runtime, principal=ACME.principal, task_id=task_id, call=call)

    with count() as tally:
        delegate()
    with count() as again:
        delegate()

    assert tally.operations == [READ, READ, READ_SEVERAL, WRITE, READ, "send_message"]
    assert tally.transactions == [6]
    assert again.operations == [READ, READ, READ]


def test_a_suspended_task_costs_the_sweep_one_look_at_what_it_may_have_missed(
    lab: Laboratory, count: Count
) -> None:
    waiting(lab, SIGN_IN)
    waiting(lab, HOST)
    lab.clock.forward(seconds=60)

    with count() as tally:
        assert lab.sweep().looked == 1

    assert [call for call in tally.operations if call != "query"] == [READ, READ_SEVERAL, "update_item"]


@pytest.mark.parametrize("what", [list_calls, list_reviews], ids=["notifications", "reviews"])
def test_what_waits_for_somebody_is_one_query_and_one_read_of_several(
    lab: Laboratory, count: Count, what: Callable[..., Any]
) -> None:
    for _ in range(3):
        waiting(lab, SIGN_IN, REVIEW)
    caller = ALICE if what is list_calls else BOB

    with count() as tally:
        found = what(lab.runtime, caller=caller, limit=20, cursor=None)
    with count() as none:
        what(lab.runtime, caller="somebody else", limit=20, cursor=None)

    assert len(found.tasks if what is list_calls else found.reviews) == 3
    assert tally.operations == ["query", READ_SEVERAL]
    assert none.operations == ["query"]


def test_an_end_takes_every_wait_away_in_its_one_transaction(lab: Laboratory, count: Count) -> None:
    needs = [replace(REVIEW, id=f"r{number}", reviewer=f"p{number}") for number in range(15)]
    task_id = waiting(lab, SIGN_IN, *needs)

    with count() as tally:
        host_turns.restrict(lab.runtime, asked_of(task_id))

    assert tally.operations == [READ, WRITE]
    assert tally.transactions == [2 + 16]
    assert not [key for key in lab.everything() if key[0].startswith("PERSON#")]
