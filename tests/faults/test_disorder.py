"""Wake-ups come twice, in any order, after any while, and to workers whose clocks disagree: each turn is taken once."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from tests.faults.agents import Stumbler, Talker, Vanished, enlist
from tests.faults.extent import count
from tests.faults.healing import deliver, sweep_until_quiet
from tests.faults.soundness import assert_sound, said
from tests.support.laboratory import PACE, Laboratory
from turnkeeper.agents.protocol import Agent, Steps, TurnView
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase
from turnkeeper.queue import task_of

WHILES = (0, 1, 3, 66, 301, 960, 86_400)
"""Seconds: before and after a back-off, past visibility, past the deduplication window, past most looks, a day."""
ACTS = 14


@dataclass
class Moody:
    """An agent that talks, stumbles or vanishes, as the dice have it, and is then better in its next attempt."""

    rng: random.Random

    def run(self, turn: TurnView) -> Steps:
        mood = self.rng.randrange(4) if turn.attempt == 1 else 0
        if mood == 1:
            raise Vanished
        agent: Agent = Stumbler() if mood == 2 else Talker(3)
        return agent.run(turn)


@dataclass
class Disorder:
    """One task, whose wake-ups are all kept, and delivered as the dice have it."""

    lab: Laboratory
    rng: random.Random
    task_ids: list[str] = field(default_factory=list)
    accepted: dict[str, list[str]] = field(default_factory=dict)
    letters: list[str] = field(default_factory=list)

    def create(self) -> None:
        task_id = self.lab.create("first", agent="agent").task.id
        self.task_ids.append(task_id)
        self.accepted[task_id] = ["first"]

    def send(self) -> None:
        task_id = self.rng.choice(self.task_ids)
        text = f"input {len(self.accepted[task_id])}"
        self.lab.send(task_id, text)
        self.accepted[task_id].append(text)

    def collect(self) -> None:
        """Take what lies in the queue; nothing is delivered but by the dice."""
        url = self.lab.queue_url
        while received := self.lab.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
            for message in received:
                self.letters.append(task_of(message["Body"]))
                self.lab.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])

    def deliver(self) -> None:
        """One of all that ever came, however often and however long ago."""
        self.collect()
        if not self.letters:
            return
        letter = self.rng.choice(self.letters)
        try:
            done = deliver(self.lab, letter)
        except Vanished:
            done = False
        if done and self.rng.random() < 0.5:
            self.letters.remove(letter)

    def wait(self) -> None:
        self.lab.clock.forward(seconds=self.rng.choice(WHILES))

    def live(self) -> None:
        self.create()
        self.create()
        acts = (self.send, self.deliver, self.deliver, self.deliver, self.wait, self.lab.sweep)
        for _ in range(ACTS):
            self.rng.choice(acts)()


@pytest.mark.parametrize("seed", range(count(300, 12)))
def test_whatever_is_delivered_how_often_and_when_each_input_is_answered_once(
    seed: int, moto_lab: Laboratory
) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same each time
    enlist(moto_lab, "agent", lambda: Moody(rng), lifespan="900d", max_age="900d", turn_limit="900d")
    disorder = Disorder(moto_lab, rng)

    disorder.live()
    moto_lab.agents["agent"] = lambda: Talker(3)
    for task_id in disorder.task_ids:
        disorder.collect()
        ended = sweep_until_quiet(moto_lab, task_id, most=5)

        assert (ended.phase, ended.pending) == (Phase.IDLE, 0)
        items = assert_sound(moto_lab, task_id, accepted=disorder.accepted[task_id])
        assert set(said(items, "MSG#").values()) <= {1}
        before = moto_lab.raw(task_id)
        assert all(deliver(moto_lab, task_id) for _ in range(3))
        assert moto_lab.raw(task_id) == before


def skewed(lab: Laboratory, seconds: float) -> Laboratory:
    """A process on *lab*'s table whose clock is that much ahead of the others', or behind."""
    other = Laboratory(
        lab.engine,
        clock=lab.clock,
        dynamodb=lab.dynamodb,
        sqs=lab.sqs,
        table=lab.table,
        queue_url=lab.queue_url,
        agents=dict(lab.agents),
    )
    other.runtime = replace(other.runtime, clock=lambda: lab.clock.now + timedelta(seconds=seconds))
    return other


def skews() -> Iterator[tuple[float, float, float]]:
    """Two clocks within two seconds of the true one, and when the other comes, around the end of the lease."""
    for one in (-2.0, 0.0, 2.0):
        for two in (-2.0, 0.0, 2.0):
            for at in (55.9, 56.0, 58.0, 60.0, 62.0, 63.9, 64.0):
                yield one, two, at


@pytest.mark.parametrize(("holder", "taker", "at"), list(skews()))
def test_of_two_workers_that_believe_they_own_a_turn_only_one_writes_whatever_their_clocks_say(
    holder: float, taker: float, at: float, moto_lab: Laboratory
) -> None:
    first, second = skewed(moto_lab, holder), skewed(moto_lab, taker)
    fences: list[int] = []

    def meanwhile(turn: TurnView, ordinal: int) -> None:
        if turn.fence == 1 and ordinal == 2:
            moto_lab.clock.forward(seconds=at)
            second.sweep()
            deliver(second, task_id)
            fences.append(moto_lab.stored(task_id).fence)

    task_id = moto_lab.create("first", agent=enlist(moto_lab, "agent", Talker)).task.id
    first.agents["agent"] = lambda: Talker(3, meanwhile)
    second.agents["agent"] = lambda: Talker(3)

    deliver(first, task_id)

    # The lease ends by the clock of whoever looks, at the instant that the holder's clock gave.
    is_over = at + taker >= PACE.lease.total_seconds() + holder
    assert fences == [2 if is_over else 1]
    task = moto_lab.stored(task_id)
    assert (task.phase, task.outputs, task.turns) == (Phase.IDLE, 3, 1)
    items = assert_sound(moto_lab, task_id, accepted=["first"])
    assert said(items, "MSG#") == {f"turn 1 says {n}": 1 for n in (1, 2, 3)}
    assert state_of(task) is State.IDLE
