"""Sixteen writers of every kind on one task, on real threads: what they saw can have happened in one order."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.faults.agents import HOST, Asker, enlist
from tests.faults.crowd import at_once, process
from tests.faults.extent import count
from tests.faults.healing import assert_ended_for_good, deliver
from tests.faults.history import BEGINNING, Seen, wrong
from tests.faults.soundness import assert_sound, said
from tests.faults.witness import Witness
from tests.support.hosting import report
from tests.support.laboratory import ALICE, BOB, Laboratory
from tests.support.laboratory import said as content
from turnkeeper.agents.echo import Echo
from turnkeeper.agents.protocol import Say, Steps, TurnView
from turnkeeper.asc.registry import Code
from turnkeeper.domain.errors import TaskError, TaskIsTerminal
from turnkeeper.domain.needs import Need
from turnkeeper.domain.task import Usage
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service import host_turns, reports
from turnkeeper.service.delegation import Call
from turnkeeper.service.grants import grant
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.reviews import decide, list_reviews
from turnkeeper.service.whole import whole

ROUNDS = 5
ENOUGH = 12
"""So many inputs are accepted before somebody ends the task."""


class Moody:
    """Waits for people in every third turn, and talks in the others; what it says after a wait names that."""

    def run(self, turn: TurnView) -> Steps:
        if turn.number % 3 == 0:
            return Asker().run(turn)
        return self._talk(turn, "".join(f" after {one.wait_id}" for one in turn.resolutions))

    def _talk(self, turn: TurnView, waited: str) -> Steps:
        for ordinal in range(1, 3):
            yield Say(f"turn {turn.number}{waited} says {ordinal}")
        return Say(f"turn {turn.number}{waited} says 3")


class Rush:
    """One task, and whoever does something to it."""

    def __init__(self, lab: Laboratory) -> None:
        self.lab = lab
        enlist(lab, "echo_for_tests", Echo, delegates_from=["agent"])
        self.task_id = lab.create("first", agent=enlist(lab, "agent", Moody)).task.id
        self.witness = Witness(self.task_id)
        self.accepted: list[str] = ["first"]
        self.done: Counter[str] = Counter()
        self.may_end = threading.Event()
        first = lab.journal(self.task_id)[0]["write_revision"]
        self.creation = Seen(who="creator", began=0, ended=1, value=first, replaced=BEGINNING)

    def writers(self) -> dict[str, Callable[[Laboratory, int], object]]:
        """Everybody, by name: what they do in each round."""
        return {
            "sender 1": partial(self._send, "one"),
            "sender 2": partial(self._send, "two"),
            "sender 3": partial(self._send, "three"),
            "sender with key": self._send_once,
            "worker 1": self._work,
            "worker 2": self._work,
            "sweep": lambda lab, _: lab.sweep(),
            "poller": self._poll,
            "reader": lambda lab, _: lab.page(self.task_id),
            "host that beats": lambda lab, _: host_turns.heartbeat(
                lab.runtime, self._asked(), fence=self._fence(lab), usage=Usage(tool_calls=1)
            ),
            "host that talks": self._talk,
            "host that waits": self._wait,
            "host that interrupts": lambda lab, _: host_turns.interrupt(lab.runtime, self._asked()),
            "host that delegates and reports": self._delegate,
            "people who allow": self._allow,
            "host that fails and ends": self._end,
        }

    def live(self, who: str, act: Callable[[Laboratory, int], object]) -> None:
        """*who* acts round after round, and once more when the task has ended."""
        lab = process(self.lab)
        client = self.witness.client(lab.dynamodb, who)
        lab.runtime = replace(lab.runtime, table=replace(lab.runtime.table, client=client))
        for round_ in range(ROUNDS):
            try:
                act(lab, round_)
            except TaskIsTerminal:
                break
            except TaskError:
                continue
            self.done[who] += 1
        if who != "host that fails and ends":
            assert self.may_end.wait(60)
            for late in range(2):
                try:
                    act(lab, ROUNDS + late)
                except TaskError:
                    continue

    def _asked(self) -> Asked:
        return Asked(principal=HOST, task_id=self.task_id, body="{}", key=None)

    def _fence(self, lab: Laboratory) -> int:
        return lab.stored(self.task_id).fence

    def _send(self, who: str, lab: Laboratory, round_: int) -> None:
        text = f"{who} says {round_}"
        lab.send(self.task_id, text)
        self.accepted.append(text)

    def _send_once(self, lab: Laboratory, round_: int) -> None:
        text = f"once {round_ // 2}"
        lab.send(self.task_id, text, key=text)
        if text not in self.accepted:
            self.accepted.append(text)

    def _work(self, lab: Laboratory, _round: int) -> None:
        deliver(lab, self.task_id)

    def _poll(self, lab: Laboratory, _round: int) -> None:
        for _ in range(4):
            began = time.monotonic_ns()
            # Whole, since a poll does not read which write it sees.
            task = whole(lab.runtime, caller=ALICE, task_id=self.task_id)
            self.witness.saw("somebody who reads", began, task)

    def _talk(self, lab: Laboratory, _round: int) -> None:
        task = lab.stored(self.task_id)
        ordinal = task.turn.outputs + 1 if task.turn else 1
        words = content(f"turn {task.turns} says {ordinal}")
        host_turns.output(lab.runtime, self._asked(), fence=task.fence, ordinal=ordinal, content=words)

    def _wait(self, lab: Laboratory, round_: int) -> None:
        fence, name = self._fence(lab), f"host {round_}"
        needs = [Need(id=name, kind=WaitKind.HOST)]
        host_turns.wait(lab.runtime, self._asked(), fence=fence, needs=needs, memo='"memo"')
        host_turns.resolve(lab.runtime, self._asked(), fence=fence, wait_id=name, verdict=Verdict.DONE)

    def _delegate(self, lab: Laboratory, round_: int) -> None:
        fence = self._fence(lab)
        call = Call(name=f"call {round_}", fence=fence, agent="echo_for_tests", content=content("do it"))
        reports.attach(lab.runtime, self._asked(), fence=fence, document=report(), unit=f"unit {round_}")
        host_turns.delegate(lab.runtime, principal=HOST, task_id=self.task_id, call=call)

    def _allow(self, lab: Laboratory, _round: int) -> None:
        grant(lab.runtime, principal=HOST, user=ALICE, provider="calendar", granted_at=None)
        for review in list_reviews(lab.runtime, caller=BOB, limit=10, cursor=None).reviews:
            decide(lab.runtime, caller=BOB, review_id=review.id, verdict=Verdict.DONE, comment=None)

    def _end(self, lab: Laboratory, round_: int) -> None:
        if round_ < ROUNDS - 1:
            host_turns.fail(lab.runtime, self._asked(), fence=self._fence(lab))
            return
        deadline = time.monotonic() + 60
        while len(self.accepted) < ENOUGH and time.monotonic() < deadline:
            time.sleep(0.01)
        try:
            host_turns.complete(lab.runtime, self._asked(), outcome=Code.SUCCESS, discard_pending=True)
        finally:
            self.may_end.set()


@pytest.mark.parametrize("rush", range(count(10, 1)))
def test_what_sixteen_writers_of_every_kind_see_and_write_has_one_order(lab: Laboratory, rush: int) -> None:
    assert rush >= 0
    storm = Rush(lab)
    writers = storm.writers()
    assert len(writers) == 16

    at_once(partial(storm.live, who, act) for who, act in writers.items())

    latest = lab.stored(storm.task_id)
    assert latest.is_terminal
    history = [storm.creation, *storm.witness.seen]
    assert [*wrong(history, latest=latest.write_revision)] == []
    items = assert_sound(lab, storm.task_id, accepted=storm.accepted)
    assert set(said(items, "MSG#").values()) <= {1}
    assert_ended_for_good(lab, storm.task_id)
    chain = {call.value for call in storm.witness.seen if call.is_write}
    assert {entry["write_revision"] for entry in lab.journal(storm.task_id)[1:]} <= chain
