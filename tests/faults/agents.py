"""Agents that behave in the ways that matter when things break, and manifests for them."""

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tests.support.engines import make_queue
from tests.support.laboratory import BOB, Laboratory
from turnkeeper.agents.protocol import (
    Delegate,
    Need,
    NotAsked,
    OutcomeUnknown,
    Pause,
    Say,
    Step,
    Steps,
    TurnView,
    texts,
)
from turnkeeper.domain.manifest import parse
from turnkeeper.domain.waits import WaitKind
from turnkeeper.store import agents

HOST = "tests"
"""The principal whose the agents are."""
BRIEFLY = timedelta(minutes=5)


@dataclass(slots=True)
class Talker:
    """Says *count* things in each turn, the same whenever it is repeated; *meanwhile* runs before each."""

    count: int = 2
    meanwhile: Callable[[TurnView, int], object] = lambda _turn, _ordinal: None

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        for ordinal in range(1, self.count):
            self.meanwhile(turn, ordinal)
            yield Say(f"turn {turn.number} says {ordinal}")
        self.meanwhile(turn, self.count)
        return Say(f"turn {turn.number} says {self.count}")


class Vanished(BaseException):
    """The worker is gone, in the middle of its agent's work; nothing in the product catches this."""


class Vanishing:
    """Vanishes in the first *attempts* attempts of its first turn, before it says anything; then says two things."""

    def __init__(self, attempts: int = 1) -> None:
        self.attempts = attempts

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.number == 1 and turn.attempt <= self.attempts:
            raise Vanished
        yield Say(f"turn {turn.number} says 1")
        return Say(f"turn {turn.number} says 2")


class Stumbler:
    """Says one thing, then raises in its first *failures* attempts."""

    def __init__(self, failures: int = 1) -> None:
        self.failures = failures

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say(f"turn {turn.number} begins")
        if turn.attempt <= self.failures:
            raise RuntimeError("stumbled")
        return Say(f"turn {turn.number} ends")


class Unasked:
    """Cannot be asked in its first attempt; then says two things."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.number == 1 and turn.fence == 1:
            raise NotAsked
        yield Say(f"turn {turn.number} says 1")
        return Say(f"turn {turn.number} says 2")


class Unknowing:
    """Nobody knows what became of its first attempt; then it says two things."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.number == 1 and turn.attempt == 1:
            raise OutcomeUnknown
        yield Say(f"turn {turn.number} says 1")
        return Say(f"turn {turn.number} says 2")


class Waiter:
    """Suspends its turn until a host has done something, and then says so."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if not turn.resolutions:
            yield Pause((Need(id="host", kind=WaitKind.HOST, within=BRIEFLY),), memo={"turn": turn.number})
        return Say(f"turn {turn.number} went on")


class Asker:
    """Suspends its turn until its user signed in and Bob approved, and then says what became of that."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if not turn.resolutions:
            sign_in = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider="calendar", within=BRIEFLY)
            approval = Need(
                id="approval", kind=WaitKind.REVIEW, reviewer=BOB, subject="Go on?", within=BRIEFLY
            )
            yield Pause((sign_in, approval), memo={"turn": turn.number})
        return Say(f"turn {turn.number} was told " + ", ".join(one.verdict for one in turn.resolutions))


class Delegator:
    """Has `echo` do its work, waits for that, and says what it heard."""

    def run(self, turn: TurnView) -> Steps:
        if not turn.resolutions:
            child = yield Delegate(call="work", agent="echo_for_tests", text="do it")
            yield Pause((Need(id="work", kind=WaitKind.CHILD, child=child, within=BRIEFLY),), memo="asked")
        heard = [text for entry in turn.child(turn.resolutions[0].child or "") for text in texts(entry)]
        return Say(f"turn {turn.number} heard " + ", ".join(heard))


def enlist(
    lab: Laboratory,
    name: str,
    agent: Callable[[], object],
    *,
    runs: str = "function",
    repeatable: bool = True,
    attempts: int = 3,
    lifespan: str = "7d",
    max_age: str = "90d",
    turn_limit: str = "1h",
    delegates_from: Sequence[str] = (),
    guardrails: Mapping[str, object] | None = None,
) -> str:
    """The laboratory has an agent *name*, of the host "tests"; returns the name."""
    terms: dict[str, object] = {
        "runs": runs,
        "repeatable": repeatable,
        "attempts": attempts,
        "lifespan": lifespan,
        "turn_limit": turn_limit,
    }
    if delegates_from:
        terms["delegates_from"] = [*delegates_from]
    document: dict[str, object] = {
        "name": name,
        "description": "For tests.",
        "limits": {"max_age": max_age},
        "turnkeeper": terms,
    }
    if guardrails:
        document["guardrails"] = guardrails
    manifest = parse(json.dumps(document), owner=HOST)
    if runs == "external" and HOST not in lab.host_urls:
        lab.host_urls[HOST] = make_queue(lab.sqs)
    agents.keep(lab.runtime.table, manifest)
    lab.agents[name] = agent  # type: ignore[assignment]
    return name
