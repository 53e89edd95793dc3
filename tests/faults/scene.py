"""One scene: what is there before, who acts, and which of the writes that it makes is meant.

A scene runs once undisturbed and once with something going wrong; `seen` says what must then be the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.faults.soundness import Items
from tests.support.callbook import THE_TEST, as_function
from tests.support.faults import WRITE
from tests.support.laboratory import Laboratory
from turnkeeper.domain.errors import TaskIsTerminal
from turnkeeper.domain.reviews import Review
from turnkeeper.domain.task import Task
from turnkeeper.service.accepted import Accepted
from turnkeeper.store.items import task_from_item

type Act = Callable[[Laboratory, Laboratory, str], object]
"""What the spoiled process does, beside the healthy one, to the task of an id."""
type Told = str
"""What the one who acted was told, with nothing random in it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """*act* (by the spoiled process, beside the healthy one) makes as its *nth* *operation* the write in question."""

    name: str
    arrange: Callable[[Laboratory], str]
    act: Act
    operation: str = WRITE
    nth: int = 1
    third: Callable[[Laboratory, str], object] = lambda lab, task_id: lab.send(task_id, "third")
    """What another process writes right after this one's write."""
    is_answered: bool = True
    """Its actor is told how it ended; the sweep and the heartbeat only go on."""
    takes_a_turn: bool = False
    """Its actor is a worker that a wake-up brought."""

    @property
    def makes_a_task(self) -> bool:
        """The task it is about is not there before."""
        return self.name.startswith("create")

    @property
    def has_key(self) -> bool:
        """Its actor sends an idempotency key."""
        return self.name.endswith("with key")

    def __str__(self) -> str:
        return self.name

    def run(self, spoiled: Laboratory, healthy: Laboratory, task_id: str) -> Told:
        """Let the scene happen, and say what its actor was told."""
        try:
            result = self.act(spoiled, healthy, task_id)
        except TaskIsTerminal as refusal:
            result = refusal
        return told(result)


def try_to_write(lab: Laboratory, task_id: str) -> object:
    """Send an input where the task may have ended."""
    try:
        return lab.send(task_id, "third")
    except TaskIsTerminal:
        return None


def told(result: object) -> Told:
    """*result* with nothing random in it."""
    if isinstance(result, Accepted):
        return f"{result.task.phase}, received {result.received_at}, {result.task.received} so far"
    if isinstance(result, Review):
        return f"{result.decision}"
    if isinstance(result, Task):
        return f"{result.phase}, {result.terminal_reason}"
    return repr(result)


def new_task(lab: Laboratory, known: str) -> str:
    """The id of the task in the table that is not *known*."""
    (found,) = [
        pk for pk, sk in lab.everything() if pk.startswith("TASK#") and sk == "TASK" and pk != f"TASK#{known}"
    ]
    return found.removeprefix("TASK#")


def seen(items: Items) -> dict[str, Any]:
    """Everything about a task that is not random: its state, its journal, its conversation."""
    task = task_from_item(items["TASK"])
    random = {"pk", "sk", "nonce", "decided_nonce", "previous", "write_revision", "contents", "state"}
    random |= {"child", "token"}
    beside = {
        ("TX" if key.startswith("TX#") else key): {
            name: value for name, value in item.items() if name not in random
        }
        for key, item in items.items()
        if key != "TASK"
    }
    waits = tuple(replace(wait, child=wait.child and "child") for wait in task.waits)
    named = replace(
        task, id="", waits=waits, revision="", write_revision="", log_head="", expiry_revision=None
    )
    return {"task": named, **beside}


@as_function(THE_TEST)
def wake_ups(lab: Laboratory) -> int:
    """How many wake-ups wait, hidden ones too."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    answer = lab.sqs.get_queue_attributes(QueueUrl=lab.queue_url, AttributeNames=names)
    return sum(int(count) for count in answer["Attributes"].values())
