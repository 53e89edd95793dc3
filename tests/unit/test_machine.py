"""A task under everything that can happen to it, in any order, while its writers' clocks disagree by 2 s."""

import random
from collections import Counter
from datetime import timedelta
from functools import cache

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.support.specimens import CONTENT, DAY, MINUTE, SECOND
from tests.unit.life import MEDDLING, WORK, Life, Need
from tests.unit.test_rules import ALLOWED
from turnkeeper.domain.instants import MICROSECOND
from turnkeeper.domain.judging import outstanding
from turnkeeper.domain.rules import HELD, IN_A_TURN, State, Transition
from turnkeeper.domain.task import NOTHING_USED, Runs, Terms, Usage
from turnkeeper.domain.transitions import Answer
from turnkeeper.domain.waits import Verdict, WaitKind

NOTHING = timedelta(0)
HOUR = 60 * MINUTE
TO_TAKE_UP = {State.QUEUED, State.RUNNING, State.BETWEEN_ATTEMPTS, State.RUNNABLE}
ENOUGH = 4
"""Pending inputs; else most tasks would only ever be sent more."""

PASSING = [None, NOTHING, MICROSECOND, 5 * SECOND, MINUTE]
KINDS = [kind for kind in WaitKind if kind is not WaitKind.RECONCILE]
LIFESPANS = [7 * DAY, 5 * MINUTE, SECOND, NOTHING]
MAX_AGES = [DAY, 20 * MINUTE, MINUTE]
TURN_LIMITS = [DAY, 5 * MINUTE, NOTHING]
MAX_TURNS = [None, 5, 1]
MOST_USED = [NOTHING_USED, Usage(tool_calls=20), Usage(prompt_tokens=0, completion_tokens=50)]
BACKOFFS = [(2 * SECOND, 8 * SECOND, 30 * SECOND), (NOTHING,), ()]

skews = st.timedeltas(NOTHING, 2 * SECOND)
terms = st.builds(
    Terms,
    lifespan=st.sampled_from(LIFESPANS),
    max_age=st.sampled_from(MAX_AGES),
    repeatable=st.booleans(),
    attempts=st.sampled_from([3, 2, 1]),
    backoff=st.sampled_from(BACKOFFS),
    owner=st.just("deployment"),
    runs=st.sampled_from(Runs),
    function=st.none(),
    turn_limit=st.sampled_from(TURN_LIMITS),
    max_turns=st.sampled_from(MAX_TURNS),
    usage=st.sampled_from(MOST_USED),
    unknown=st.just({}),
)
needs = st.lists(st.tuples(st.sampled_from(KINDS), st.timedeltas(NOTHING, HOUR)), min_size=1, max_size=16)


class TaskLife(RuleBasedStateMachine):
    """Hypothesis at the wheel: it looks for the shortest way to break a task."""

    life: Life

    @initialize(terms=terms, content=st.none() | st.just(CONTENT))
    def create(self, terms: Terms, content: str | None) -> None:
        self.life = Life(terms, content)

    @rule(skew=skews, by=st.sampled_from(PASSING))
    def time_passes_and_the_sweep_looks(self, skew: timedelta, by: timedelta | None) -> None:
        self.life.look(skew, by)

    @precondition(lambda self: self.life.task.pending < ENOUGH)
    @rule(skew=skews)
    def the_user_sends_something(self, skew: timedelta) -> None:
        self.life.send(skew)

    @precondition(lambda self: self.life.state in TO_TAKE_UP)
    @rule(skew=skews)
    def a_worker_takes_it_up(self, skew: timedelta) -> None:
        if not self.life.task.held:
            self.life.take_up(skew)

    @precondition(lambda self: self.life.state is State.QUEUED)
    @rule(skew=skews, chance=st.randoms(use_true_random=False))
    def a_worker_takes_it_up_past_guardrails(self, skew: timedelta, chance: random.Random) -> None:
        self.life.judge(skew, chance)

    @precondition(lambda self: self.life.state in HELD)
    @rule(skew=skews, is_last=st.booleans())
    def an_output_waits_for_a_review(self, skew: timedelta, *, is_last: bool) -> None:
        self.life.hold_output(skew, is_last=is_last)

    @precondition(lambda self: self.life.state is State.RUNNABLE and bool(self.life.task.turn.output))
    @rule(skew=skews)
    def what_was_held_is_said(self, skew: timedelta) -> None:
        self.life.release_output(skew)

    @precondition(lambda self: bool(outstanding(self.life.task.held)))
    @rule(skew=skews, place=st.integers(0, 15), verdict=st.sampled_from(Verdict))
    def somebody_decides_on_an_input(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        self.life.decide(skew, place, verdict)

    @precondition(lambda self: self.life.state in HELD)
    @rule(skew=skews, act=st.sampled_from(sorted(WORK)), repeats=st.sampled_from([0, 0, 1]))
    def the_worker_goes_on(self, skew: timedelta, act: str, repeats: int) -> None:
        self.life.work(skew, act, repeats=repeats)

    @precondition(lambda self: self.life.state in HELD)
    @rule(skew=skews, needs=needs, memo=st.none() | st.just('"memo"'))
    def the_worker_suspends(self, skew: timedelta, needs: list[Need], memo: str | None) -> None:
        self.life.suspend(skew, needs, memo)

    @rule(skew=skews, late=st.integers(1, 2), act=st.sampled_from(sorted(WORK)))
    def another_worker_comes_too_late(self, skew: timedelta, late: int, act: str) -> None:
        before = self.life.task
        self.life.work(skew, act, late=late)
        assert self.life.task is before

    @precondition(lambda self: self.life.task.waits)
    @rule(skew=skews, place=st.integers(0, 15), verdict=st.sampled_from(Verdict))
    def somebody_resolves_a_wait(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        self.life.resolve(skew, place, verdict)

    @precondition(lambda self: self.life.state in IN_A_TURN)
    @rule(skew=skews, place=st.integers(0, 15), verdict=st.sampled_from(Verdict))
    def the_host_has_word_of_something(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        self.life.answer(skew, place, verdict)

    @precondition(lambda self: self.life.state in HELD)
    @rule(skew=skews, content=st.none() | st.just(CONTENT))
    def the_worker_delegates(self, skew: timedelta, content: str | None) -> None:
        self.life.delegate(skew, content)

    @precondition(lambda self: self.life.state in HELD)
    @rule(skew=skews, unreached=st.integers(0, 1))
    def the_worker_passes_on_a_report(self, skew: timedelta, unreached: int) -> None:
        self.life.attach(skew, unreached)

    @precondition(lambda self: self.life.is_to_reconcile)
    @rule(skew=skews, answer=st.sampled_from(Answer), output=st.none() | st.just(CONTENT))
    def its_host_says_what_became_of_it(self, skew: timedelta, answer: Answer, output: str | None) -> None:
        self.life.reconcile(skew, answer, output)

    @rule(skew=skews, act=st.sampled_from(sorted(MEDDLING)))
    def the_host_meddles(self, skew: timedelta, act: str) -> None:
        self.life.meddle(skew, act)

    @rule(skew=skews)
    def a_reader_comes(self, skew: timedelta) -> None:
        self.life.expire(skew)

    def teardown(self) -> None:
        """Nobody works on it any more, and still it ends: no task is parked for ever."""
        assert self.life.looks_until_the_end() >= 0


TestTaskLife = TaskLife.TestCase
TestTaskLife.settings = settings(max_examples=100, stateful_step_count=40)


def test_no_long_life_breaks_a_rule_and_every_transition_happens_in_it() -> None:
    happened = Counter(one for life in long_lives() for one in life.happened)

    nothing_to_write = {
        (State.TERMINAL, Transition.LOOK),
        (State.BETWEEN_ATTEMPTS, Transition.HEARTBEAT),
    }
    becomes_another_transition = {(State.IDLE, Transition.LOOK), (State.WAITING, Transition.LOOK)}
    possible = {(state, transition) for transition, state in ALLOWED}
    # The table's specimens hold no input beside a turn.
    beside = {(state, Transition.DECIDE) for state in IN_A_TURN | {State.QUEUED}}
    assert set(happened) == (possible | beside) - nothing_to_write - becomes_another_transition


@cache
def long_lives() -> list[Life]:
    """Nine hundred of them, the same each time."""
    return [long_life(random.Random(seed)) for seed in range(900)]  # noqa: S311 - no secret


def long_life(chance: random.Random, steps: int = 400) -> Life:
    """Live through *steps* acts, each one that can do something where the task stands."""
    life = Life(
        Terms(
            lifespan=chance.choice(LIFESPANS),
            max_age=chance.choice([90 * DAY, DAY]),
            repeatable=chance.random() < 0.7,
            attempts=chance.choice([3, 2, 1]),
            backoff=chance.choice(BACKOFFS),
            owner="deployment",
            runs=chance.choice(list(Runs)),
            turn_limit=chance.choice([DAY, 5 * MINUTE]),
            max_turns=chance.choice([None, None, 20]),
            usage=chance.choice([NOTHING_USED, NOTHING_USED, Usage(tool_calls=40)]),
        ),
        chance.choice([CONTENT, None]),
    )
    while steps and not life.task.is_terminal:
        steps -= 1
        live_on(life, chance, timedelta(seconds=chance.uniform(0, 2)))
    return life


def live_on(life: Life, chance: random.Random, skew: timedelta) -> None:
    acts = [
        "look",
        "expire",
        *["meddle"] * (chance.random() < (0.5 if life.state is State.WAITING else 0.05)),
    ]
    acts += ["send"] * (life.task.pending < ENOUGH)
    holds = life.state is State.RUNNABLE and life.task.turn and life.task.turn.output
    acts += (["release_output"] if holds else ["take_up"]) * 3 * (life.state in TO_TAKE_UP)
    acts += ["work", "work", "suspend"] * (life.state in HELD)
    acts += ["judge"] * 3 * (life.state is State.QUEUED)
    acts += ["decide"] * bool(outstanding(life.task.held))
    acts += ["hold_output"] * (life.state in HELD)
    acts += ["answer"] * (life.state in HELD)
    acts += ["delegate", "attach"] * (life.state in HELD)
    acts += ["resolve"] * 2 * (life.state is State.SUSPENDED)
    acts += ["reconcile"] * 2 * life.is_to_reconcile
    match chance.choice(acts):
        case "look":
            life.look(skew, chance.choice(PASSING))
        case "send":
            life.send(skew)
        case "expire":
            life.expire(skew)
        case "take_up":
            life.judge(skew, chance) if life.task.held else life.take_up(skew)
        case "work":
            late = chance.choice([0, 0, 0, 1])
            life.work(skew, chance.choice(sorted(WORK)), repeats=chance.choice([0, 0, 1]), late=late)
        case "meddle":
            life.meddle(skew, chance.choice(sorted(MEDDLING)))
        case act:
            wait(life, chance, skew, act)


def wait(life: Life, chance: random.Random, skew: timedelta, act: str) -> None:
    """Do one of the acts that are about waits and children."""
    match act:
        case "suspend":
            wanted: list[Need] = [
                (chance.choice(KINDS), timedelta(seconds=chance.uniform(0, 3600)))
                for _ in range(chance.choice([1, 2, 16]))
            ]
            life.suspend(skew, wanted, chance.choice([None, '"memo"']))
        case "resolve":
            life.resolve(skew, chance.randrange(16), chance.choice(list(Verdict)))
        case "judge":
            life.judge(skew, chance)
        case "hold_output":
            life.hold_output(skew, is_last=chance.random() < 0.5)
        case "release_output":
            life.release_output(skew)
        case "decide":
            life.decide(skew, chance.randrange(16), chance.choice(list(Verdict)))
        case "answer":
            life.answer(skew, chance.randrange(16), chance.choice(list(Verdict)))
        case "attach":
            life.attach(skew, chance.randrange(2))
        case "delegate":
            life.delegate(skew, chance.choice([None, CONTENT]))
        case _:
            life.reconcile(skew, chance.choice(list(Answer)), chance.choice([None, CONTENT]))
