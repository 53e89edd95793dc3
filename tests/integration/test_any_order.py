"""People, a host and time do whatever they like in any order; after each act all that is seen is what the model owes.

`make any-order` tries hundreds of lives of dozens of acts; what it finds becomes a test of its own.
"""

import os
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.support.company import PEOPLE, Company
from tests.support.engines import Engine
from tests.support.laboratory import ALICE
from turnkeeper.domain.needs import Need
from turnkeeper.domain.rules import State
from turnkeeper.domain.waits import Verdict, WaitKind

MOST_TASKS = 4
USUAL = "12x30"
LIVES, ACTS = (int(number) for number in os.environ.get("ANY_ORDER", USUAL).split("x"))
TO_START = (State.QUEUED, State.RUNNABLE, State.BETWEEN_ATTEMPTS)
IN_A_TURN = (State.RUNNING, State.BETWEEN_ATTEMPTS, State.SUSPENDED, State.RUNNABLE)

BRIEF = st.sampled_from([timedelta(minutes=2), timedelta(minutes=10), timedelta(minutes=45)])
PASSING = st.sampled_from([timedelta(seconds=by) for by in (1, 2, 10, 61, 300, 1_260)])
AGO = st.sampled_from([timedelta(0), timedelta(0), timedelta(minutes=3)])
PROVIDERS = st.sampled_from(["calendar", "mail"])
HOST_IDS = st.sampled_from(["h1", "h2"])
WORDS = st.sampled_from([Verdict.DONE, Verdict.DENIED])
PLACES = st.integers(0, 7)

ALL_ACTS = frozenset(
    {"send", "decide", "start", "say", "finish", "fail", "wait"}
    | {"answer", "delegate", "interrupt", "complete", "restrict"}
)

done: Counter[str] = Counter()


def need_for_a_sign_in(place: int, provider: str, within: timedelta) -> Need:
    return Need(id=f"w{place}", kind=WaitKind.AUTHORISATION, provider=provider, within=within)


def need_for_a_review(place: int, reviewer: str, within: timedelta) -> Need:
    subject = f"{place} {within}"
    return Need(id=f"w{place}", kind=WaitKind.REVIEW, reviewer=reviewer, subject=subject, within=within)


def need_for_the_host(wait_id: str, within: timedelta) -> Need:
    return Need(id=wait_id, kind=WaitKind.HOST, within=within)


NEEDS = st.lists(
    st.one_of(
        st.builds(need_for_a_sign_in, st.integers(0, 9), PROVIDERS, BRIEF),
        st.builds(need_for_a_review, st.integers(0, 9), st.sampled_from(PEOPLE), BRIEF),
        st.builds(need_for_the_host, HOST_IDS, BRIEF),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda need: need.id,
)


def some_in[F: Callable[..., Any]](*states: State) -> Callable[[F], F]:
    """Only while a task stands so: an act that is always refused shows little."""
    return precondition(lambda machine: machine.company.in_states(*states))


class AnyOrder(RuleBasedStateMachine):
    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.company = Company(engine)
        self.children: dict[str, str] = {}

    @initialize(with_input=st.booleans())
    def begin(self, *, with_input: bool) -> None:
        self.company.create(ALICE, with_input=with_input)

    def any_task(self, place: int) -> str:
        known = [*self.company.tasks]
        return known[-1 - place % len(known)]

    def one_in(self, place: int, *states: State) -> str:
        """A task that stands so as a rule, and once in a while any other."""
        fitting = self.company.in_states(*states)
        return fitting[place % len(fitting)] if fitting and place else self.any_task(place)

    @precondition(lambda self: len(self.company.tasks) < MOST_TASKS)
    @rule(person=st.sampled_from(PEOPLE), with_input=st.booleans())
    def somebody_creates_a_task(self, person: str, *, with_input: bool) -> None:
        self.company.create(person, with_input=with_input)

    @some_in(State.IDLE, State.SUSPENDED, State.RUNNING, State.TERMINAL)
    @rule(place=PLACES)
    def somebody_sends_something(self, place: int) -> None:
        self.company.send(self.any_task(place))

    @some_in(*TO_START)
    @rule(place=PLACES, acts=st.lists(st.sampled_from(["say", "finish", "fail"]), max_size=3))
    def the_host_takes_a_turn(self, place: int, acts: list[str]) -> None:
        task_id = self.one_in(place, *TO_START)
        self.company.start(task_id)
        for act in acts:
            getattr(self.company, act)(task_id)

    @some_in(State.RUNNING)
    @rule(place=PLACES, act=st.sampled_from(["say", "finish", "fail"]))
    def the_host_goes_on(self, place: int, act: str) -> None:
        getattr(self.company, act)(self.one_in(place, State.RUNNING))

    @some_in(State.RUNNING, *TO_START)
    @rule(place=PLACES, needs=NEEDS, begins=st.booleans())
    def the_host_waits(self, place: int, needs: list[Need], *, begins: bool) -> None:
        task_id = self.one_in(place, *(TO_START if begins else (State.RUNNING,)))
        if begins:
            self.company.start(task_id)
        self.company.wait(task_id, needs)

    @some_in(State.RUNNING)
    @rule(place=PLACES)
    def the_host_waits_for_a_child(self, place: int) -> None:
        task_id = self.one_in(place, State.RUNNING)
        if child := self.children.get(task_id):
            self.company.wait(task_id, [Need(id="child", kind=WaitKind.CHILD, child=child)])

    @precondition(lambda self: len(self.company.tasks) < MOST_TASKS)
    @some_in(State.RUNNING, *TO_START)
    @rule(place=PLACES, begins=st.booleans())
    def the_host_delegates(self, place: int, *, begins: bool) -> None:
        parent = self.one_in(place, *(TO_START if begins else (State.RUNNING,)))
        if begins:
            self.company.start(parent)
        if child := self.company.delegate(parent, f"call {self.company.said}"):
            self.children[parent] = child

    @some_in(*IN_A_TURN)
    @rule(place=PLACES, wait_id=HOST_IDS, verdict=WORDS)
    def the_host_has_word(self, place: int, wait_id: str, verdict: Verdict) -> None:
        self.company.answer(self.one_in(place, State.SUSPENDED, State.RUNNING), wait_id, verdict)

    @rule(person=st.sampled_from(PEOPLE), provider=PROVIDERS, ago=AGO)
    def somebody_signs_in(self, person: str, provider: str, ago: timedelta) -> None:
        self.company.sign_in(person, provider, ago)

    @precondition(lambda self: self.company.reviews)
    @rule(place=PLACES, is_reviewer=st.sampled_from([True, True, False]), verdict=WORDS)
    def somebody_decides(self, place: int, verdict: Verdict, *, is_reviewer: bool) -> None:
        known = [*self.company.reviews.items()]
        review_id, reviewer = known[-1 - place % len(known)]
        other = next(person for person in PEOPLE if person != reviewer)
        self.company.decide(review_id, reviewer if is_reviewer else other, verdict)

    @some_in(*IN_A_TURN)
    @rule(place=PLACES)
    def the_host_interrupts(self, place: int) -> None:
        self.company.interrupt(self.one_in(place, *IN_A_TURN))

    @precondition(lambda self: self.company.said > ACTS / 4)
    @rule(place=PLACES, act=st.sampled_from(["complete", "abandon", "restrict"]))
    def the_host_ends_a_task(self, place: int, act: str) -> None:
        getattr(self.company, act)(self.any_task(place))

    @rule(by=PASSING)
    def time_passes(self, by: timedelta) -> None:
        self.company.time_passes(by)

    @invariant()
    def what_is_seen_is_what_is_owed(self) -> None:
        self.company.check()

    def teardown(self) -> None:
        """Nobody does anything any more, and still everything ends."""
        try:
            self.company.check_nothing_is_parked()
        finally:
            done.update(self.company.done)
            self.company.close()


@pytest.mark.timeout(60 + LIVES * ACTS)
def test_in_whatever_order_all_that_is_seen_is_what_is_owed(ministack_engine: Engine) -> None:
    # The same lives each time, unless others are asked for.
    usual = settings(derandomize=f"{LIVES}x{ACTS}" == USUAL, deadline=None, print_blob=True)
    done.clear()

    run_state_machine_as_test(
        lambda: AnyOrder(ministack_engine),  # type: ignore[arg-type]
        settings=settings(usual, max_examples=LIVES, stateful_step_count=ACTS),
    )

    # Else it would have shown nothing.
    assert {name for name, count in done.items() if count} == ALL_ACTS
