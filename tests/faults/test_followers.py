"""Following a conversation while it is written: each committed entry once, in order, whatever goes on meanwhile."""

import json
import threading
import time
from datetime import timedelta
from functools import partial
from typing import Any

from tests.faults.agents import Talker, enlist
from tests.faults.crowd import Skewed, at_once, process
from tests.faults.soundness import assert_sound
from tests.support.laboratory import Laboratory, texts
from turnkeeper.domain.task import Phase

type Entries = list[dict[str, Any]]

SENDERS, EACH, WORKERS = 3, 8, 2


class Storm:
    """Senders, workers, a sweep and followers on one task, until everything that was sent is answered."""

    def __init__(self, lab: Laboratory) -> None:
        self.lab, self.began = lab, time.monotonic()
        enlist(lab, "agent", Talker)
        self.task_id = lab.create(agent="agent").task.id
        self.sent = [f"{n} says {m}" for n in range(SENDERS) for m in range(EACH)]
        self.is_over = threading.Event()

    def other(self, skew: float) -> Laboratory:
        """A process of its own, whose clock is *skew* seconds ahead."""
        return process(self.lab, clock=Skewed(timedelta(seconds=skew), self.began))

    def send(self, n: int) -> None:
        """Send one after the other."""
        lab = self.other(n - 1)
        for m in range(EACH):
            lab.send(self.task_id, f"{n} says {m}", key=f"{n}-{m}")

    def work(self, n: int) -> None:
        """Attend to wake-ups until everything is answered."""
        lab = self.other(2 - 4 * n)
        while not self.is_over.is_set():
            for message in lab.sqs.receive_message(QueueUrl=lab.queue_url).get("Messages", ()):
                lab.attend(message)
            task = lab.stored(self.task_id)
            if task.phase is Phase.IDLE and task.committed == len(self.sent):
                self.is_over.set()

    def sweep(self) -> None:
        """Sweep again and again."""
        lab = self.other(0)
        while not self.is_over.wait(0.05):
            lab.sweep()

    def follow(self, limit: int) -> Entries:
        """What a follower has seen committed, who asks for a few entries at a time and goes on from `next`."""
        lab, seen = self.other(0), list[dict[str, Any]]()
        after: str | None = None
        while True:
            was_over = self.is_over.is_set()
            page = lab.page(self.task_id, after=after, limit=limit)
            seen += [entry for entry in map(json.loads, page.entries) if "committed_at" in entry]
            after = page.next
            if was_over and not page.more:
                return seen


def test_a_follower_sees_each_entry_once_as_committed_and_in_order(lab: Laboratory) -> None:
    storm = Storm(lab)

    seen = at_once(
        [
            *(partial(storm.follow, limit) for limit in (2, 7)),
            *(partial(storm.send, n) for n in range(SENDERS)),
            *(partial(storm.work, n) for n in range(WORKERS)),
            storm.sweep,
        ]
    )

    whole = lab.conversation(storm.task_id)
    assert [entry["committed_at"] for entry in whole] == sorted(entry["committed_at"] for entry in whole)
    assert seen[0] == whole
    assert seen[1] == whole
    assert_sound(lab, storm.task_id, accepted=storm.sent)
    assert [text for kind, text in texts(whole) if kind == "output"] == [
        f"turn {turn} says {n}" for turn in range(1, lab.stored(storm.task_id).turns + 1) for n in (1, 2)
    ]
