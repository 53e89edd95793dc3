"""A follower that pages with `next` while inputs and turns go on misses nothing and sees nothing twice."""

import json
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from tests.support.laboratory import Laboratory
from turnkeeper.agents.protocol import Agent, Need, Pause, Say, Step, TurnView
from turnkeeper.domain.waits import WaitKind
from turnkeeper.service.turns import ComeBackLater, attend

SEEDS = range(4)
LAST_ATTEMPT = 3


@dataclass
class Follower:
    """Somebody who reads a conversation bit by bit, and remembers what was shown."""

    lab: Laboratory
    task_id: str
    next: str | None = None
    committed: list[dict[str, Any]] = field(default_factory=list)
    waiting: list[dict[str, Any]] = field(default_factory=list)

    def read(self, limit: int) -> bool:
        """Read one page; whether there is more."""
        page = self.lab.page(self.task_id, after=self.next, limit=limit)
        entries = [json.loads(entry) for entry in page.entries]
        assert len(entries) <= limit
        self.committed += [entry for entry in entries if "committed_at" in entry]
        self.waiting += [entry for entry in entries if "committed_at" not in entry]
        self.next = page.next
        return page.more


@dataclass
class Erratic:
    """Says some, pauses some, raises some; and *meanwhile* anything may happen."""

    chance: random.Random
    meanwhile: Callable[[TurnView], None]

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        for ordinal in range(turn.number % 4 if turn.memo is None else 0):
            yield Say(f"{turn.number}.{ordinal}")
            self.meanwhile(turn)
            if turn.attempt < LAST_ATTEMPT and self.chance.random() < 0.2:
                raise RuntimeError("nothing lasts")
        if turn.number % 3 == 0 and turn.memo is None:
            yield Pause((Need(id="c", kind=WaitKind.HOST, within=timedelta(seconds=20)),), memo="seen")
        return Say(f"{turn.number} at last") if turn.number % 2 else None


@dataclass
class Bustle:
    """A task with its user, its workers, its sweep and its followers, all at odds about the time."""

    lab: Laboratory
    chance: random.Random
    task_id: str = ""
    sent: int = 0
    followers: list[Follower] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.task_id = self.lab.create("0").task.id
        self.followers = [Follower(self.lab, self.task_id) for _ in range(3)]

    def go_on(self) -> None:
        self.happen()
        act = self.chance.random()
        if act < 0.6:
            self.work(Erratic(self.chance, self.during_a_turn))
        elif act < 0.7:
            self.lab.clock.forward(seconds=30)
            self.lab.sweep()

    def happen(self) -> None:
        self.lab.clock.forward(seconds=self.chance.choice([-1, 0, 0.5, 3]))
        act = self.chance.random()
        if act < 0.4:
            for _ in range(self.chance.choice([1, 1, 2, 5])):
                self.sent += 1
                self.lab.send(self.task_id, str(self.sent))
        elif act < 0.9:
            self.chance.choice(self.followers).read(self.chance.choice([1, 2, 3, 50]))

    def during_a_turn(self, turn: TurnView) -> None:
        self.happen()
        if turn.attempt == 1 and self.chance.random() < 0.2:
            self.lab.clock.forward(seconds=61)
            self.work(Erratic(self.chance, lambda _: None))

    def work(self, agent: Agent) -> None:
        try:
            attend(self.lab.runtime, self.task_id, hide=lambda _: None, agent_of=lambda _: agent)
        except ComeBackLater:
            self.lab.clock.forward(seconds=10)


@pytest.mark.clause("IO-3", "IO-4", "IN-1c")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_follower_sees_every_entry_exactly_once_as_committed_and_in_order(
    lab: Laboratory, seed: int
) -> None:
    bustle = Bustle(lab, random.Random(seed))  # noqa: S311 - no secret
    for _ in range(35):
        bustle.go_on()

    for follower in bustle.followers:
        while follower.read(bustle.chance.choice([2, 3, 50])):
            pass
    whole = lab.conversation(bustle.task_id)
    committed = [entry for entry in whole if "committed_at" in entry]
    pending = [entry for entry in whole if "committed_at" not in entry]

    assert said_by("input", whole) == [str(number) for number in range(bustle.sent + 1)]
    assert len(set(said_by("output", whole))) == len(said_by("output", whole)) > 5
    for follower in bustle.followers:
        assert follower.committed == committed
        assert shown_once_each(follower.waiting)
        assert follower.waiting[len(follower.waiting) - len(pending) :] == pending


def said_by(kind: str, entries: list[dict[str, Any]]) -> list[str]:
    return [part["text"] for entry in entries if entry["type"] == kind for part in entry["message"]]


def shown_once_each(entries: list[dict[str, Any]]) -> bool:
    shown = [entry["received_at"] for entry in entries]
    return shown == sorted(set(shown))
