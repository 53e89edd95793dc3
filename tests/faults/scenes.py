"""Every kind of write the product makes, as a scene: what is there before, who acts, and which write is meant.

A scene runs once undisturbed and once with something going wrong; `seen` says what must then be the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.faults.agents import Asker, Delegator, Stumbler, Talker, Vanished, Vanishing, Waiter, enlist
from tests.faults.soundness import Items
from tests.support.faults import UPDATE, WRITE
from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.agents.echo import Echo
from turnkeeper.agents.protocol import TurnView
from turnkeeper.domain.errors import TaskIsTerminal
from turnkeeper.domain.reviews import Review, fence_of, name_of
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import Verdict
from turnkeeper.service import host_turns
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.grants import grant
from turnkeeper.service.hold import Hold
from turnkeeper.service.reviews import decide
from turnkeeper.store import people
from turnkeeper.store.items import task_from_item

type Told = str
"""What the one who acted was told, with nothing random in it."""


@dataclass(frozen=True, slots=True)
class Scene:
    """*act* (by the spoiled process, beside the healthy one) makes as its *nth* *operation* the write in question."""

    name: str
    arrange: Callable[[Laboratory], str]
    act: Callable[[Laboratory, Laboratory, str], object]
    operation: str = WRITE
    nth: int = 1
    third: Callable[[Laboratory, str], object] = lambda lab, task_id: lab.send(task_id, "third")
    """What another process writes right after this one's write."""
    is_answered: bool = True
    """Its actor is told how it ended; the sweep and the heartbeat only go on."""

    @property
    def makes_a_task(self) -> bool:
        """The task it is about is not there before."""
        return self.name.startswith("create")

    @property
    def has_key(self) -> bool:
        """Its actor sends an idempotency key."""
        return self.name.endswith("with key")

    @property
    def takes_a_turn(self) -> bool:
        """Its actor is a worker that a wake-up brought."""
        return self.act in {_attend, _recover}

    def __str__(self) -> str:
        return self.name

    def run(self, spoiled: Laboratory, healthy: Laboratory, task_id: str) -> Told:
        """Let the scene happen, and say what its actor was told."""
        try:
            result = self.act(spoiled, healthy, task_id)
        except TaskIsTerminal as refusal:
            result = refusal
        return told(result)


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


def wake_ups(lab: Laboratory) -> int:
    """How many wake-ups wait, hidden ones too."""
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    answer = lab.sqs.get_queue_attributes(QueueUrl=lab.queue_url, AttributeNames=names)
    return sum(int(count) for count in answer["Attributes"].values())


def _idle(lab: Laboratory) -> str:
    return lab.create().task.id


def _past_its_end(lab: Laboratory) -> str:
    task = lab.create(agent="mayfly").task
    lab.clock.forward(seconds=5)
    return task.id


def _queued_for(agent: Callable[[], object], **terms: Any) -> Callable[[Laboratory], str]:
    def arrange(lab: Laboratory) -> str:
        return lab.create("first", agent=enlist(lab, "agent", agent, **terms)).task.id

    return arrange


def _lost(lab: Laboratory) -> str:
    """A task whose worker went silent: its lease is over, its wake-up hidden."""
    task_id = running(lab)
    lab.clock.forward(seconds=61)
    return task_id


def running(lab: Laboratory, **terms: Any) -> str:
    """A task whose turn was started by a worker that does nothing more."""
    task_id = _queued_for(Vanishing, **terms)(lab)
    message = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]
    try:
        lab.attend(message)
    except Vanished:
        return task_id
    raise AssertionError("the worker did not vanish")


def _unreconciled(lab: Laboratory) -> str:
    """A task whose turn was lost and may not be repeated, and nobody said for a day what became of it."""
    task_id = running(lab, repeatable=False)
    lab.clock.forward(seconds=61)
    lab.sweep()
    lab.clock.forward(days=1)
    return task_id


def _too_old(lab: Laboratory) -> str:
    """A task that still has something to do at the end of its `max_age`."""
    task_id = _queued_for(Talker, max_age="1h")(lab)
    lab.clock.forward(hours=1)
    return task_id


def _interrupted_by_input(lab: Laboratory) -> str:
    """A task whose next turn meets an input that is sent while it runs."""
    task_ids: list[str] = []

    def meanwhile(turn: TurnView, ordinal: int) -> None:
        if (turn.number, turn.attempt, ordinal) == (1, 1, 1):
            lab.send(task_ids[0], "meanwhile")

    task_ids.append(_queued_for(lambda: Talker(meanwhile=meanwhile))(lab))
    return task_ids[0]


def forgotten(lab: Laboratory) -> str:
    """A task whose wake-up was lost."""
    task_id = _queued_for(Talker)(lab)
    lab.sqs.purge_queue(QueueUrl=lab.queue_url)
    lab.clock.forward(seconds=61)
    return task_id


def _asked(lab: Laboratory) -> str:
    """A task whose turn waits for its user to sign in and for Bob to approve."""
    task_id = _queued_for(Asker)(lab)
    lab.work()
    assert lab.stored(task_id).waits
    return task_id


def _granted_unseen(lab: Laboratory) -> str:
    """A task that waits for a sign-in that there was, of which nobody told it."""
    task_id = _asked(lab)
    people.keep_grant(lab.runtime.table, owner="tests", person=ALICE, provider="calendar", at=lab.clock.now)
    lab.clock.forward(seconds=61)
    return task_id


def _at_the_host(lab: Laboratory) -> str:
    """A task whose turn waits for its host's word."""
    task_id = _queued_for(Waiter)(lab)
    lab.work()
    return task_id


def _delegating(lab: Laboratory) -> str:
    """A task whose turn will give `echo` one."""
    enlist(lab, "echo_for_tests", Echo, delegates_from=["agent"])
    return _queued_for(Delegator)(lab)


CHANGES = {"before": [{"transform": "input.put('message', [{'mimeType': 'text/plain', 'text': 'changed'}])"}]}
REFUSES = {"before": [{"assert": "false", "deny_message": "No."}]}
ASKS_BEFORE = {"before": [{"assert": f"review('{BOB}')"}]}
ASKS_AFTER = {"after": [{"condition": "output.message[0].text.endsWith('2')", "assert": f"review('{BOB}')"}]}


def _input_held(lab: Laboratory) -> str:
    """A task whose only input is held until Bob approves it."""
    task_id = _queued_for(Talker, guardrails=ASKS_BEFORE)(lab)
    lab.work()
    assert lab.stored(task_id).held
    return task_id


def _output_held(lab: Laboratory) -> str:
    """A task whose turn may say its last, which Bob approved."""
    task_id = _queued_for(Talker, guardrails=ASKS_AFTER)(lab)
    lab.work()
    _decide_on(lab, task_id)
    return task_id


def _decide_on(lab: Laboratory, task_id: str) -> object:
    return _decide_on_what_is_held(lab, lab, task_id)


def _decide_on_what_is_held(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    task = healthy.stored(task_id)
    (wait,) = task.asks
    review_id = task_id + name_of(fence_of(task, wait), wait.id)
    return decide(spoiled.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment="Yes")


def _grant(spoiled: Laboratory, _healthy: Laboratory, _task_id: str) -> object:
    return grant(spoiled.runtime, principal="tests", user=ALICE, provider="calendar", granted_at=None)


def _decide(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    review_id = task_id + name_of(healthy.stored(task_id).fence, "approval")
    return decide(spoiled.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment="Yes")


def _answer(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    asked = host_turns.Asked(principal="tests", task_id=task_id, body="{}", key=None)
    fence = healthy.stored(task_id).fence
    return host_turns.resolve(spoiled.runtime, asked, fence=fence, wait_id="host", verdict=Verdict.DONE)


def _sweep(spoiled: Laboratory, _healthy: Laboratory, _task_id: str) -> object:
    return spoiled.sweep()


def _attend(spoiled: Laboratory, healthy: Laboratory, _task_id: str) -> object:
    message = healthy.sqs.receive_message(QueueUrl=healthy.queue_url)["Messages"][0]
    return healthy.attend(message, runtime=spoiled.runtime)


def _recover(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    healthy.sweep()
    return _attend(spoiled, healthy, task_id)


def _renew(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    task = healthy.stored(task_id)
    assert task.turn is not None
    healthy.clock.forward(seconds=20)
    hold = Hold(spoiled.runtime, task, task.turn, lambda _lasts: None)
    hold.renew()
    return hold.was_lost


def _try_to_write(lab: Laboratory, task_id: str) -> object:
    try:
        return lab.send(task_id, "third")
    except TaskIsTerminal:
        return None


SCENES = (
    Scene(
        "create",
        _idle,
        lambda spoiled, _healthy, _known: spoiled.create(),
        third=lambda lab, known: lab.send(new_task(lab, known), "third"),
    ),
    Scene(
        "create with input",
        _idle,
        lambda spoiled, _healthy, _known: spoiled.create("first"),
        third=lambda lab, known: lab.send(new_task(lab, known), "third"),
    ),
    Scene(
        "create with key",
        _idle,
        lambda spoiled, _healthy, _known: spoiled.create("first", key="key"),
        third=lambda lab, known: lab.send(new_task(lab, known), "third"),
    ),
    Scene("input", _idle, lambda spoiled, _healthy, task_id: spoiled.send(task_id, "second")),
    Scene(
        "input with key", _idle, lambda spoiled, _healthy, task_id: spoiled.send(task_id, "second", key="key")
    ),
    Scene("start turn", _queued_for(Talker), _attend, nth=1),
    Scene("emit", _queued_for(Talker), _attend, nth=2),
    Scene("finish", _queued_for(Talker), _attend, nth=3),
    Scene("finish with input pending", _interrupted_by_input, _attend, nth=3),
    Scene("fail attempt", _queued_for(Stumbler), _attend, nth=3),
    Scene("fail the last attempt", _queued_for(Stumbler, attempts=1), _attend, nth=3, third=_try_to_write),
    Scene("suspend", _queued_for(Waiter), _attend, nth=2),
    Scene("wait for people", _queued_for(Asker), _attend, nth=2),
    Scene("grant", _asked, _grant, is_answered=False),
    Scene("decide", _asked, _decide),
    Scene("the host's word", _at_the_host, _answer),
    Scene("delegate", _delegating, _attend, nth=2),
    Scene("start past a transform", _queued_for(Talker, guardrails=CHANGES), _attend, nth=1),
    Scene("refuse an input", _queued_for(Talker, guardrails=REFUSES), _attend, nth=1),
    Scene("hold an input", _queued_for(Talker, guardrails=ASKS_BEFORE), _attend, nth=1),
    Scene("decide on an input", _input_held, _decide_on_what_is_held),
    Scene("hold an output", _queued_for(Talker, guardrails=ASKS_AFTER), _attend, nth=3),
    Scene("release an output", _output_held, _attend, nth=1),
    Scene("settle by the sweep", _granted_unseen, _sweep, is_answered=False),
    Scene("lose turn", _lost, _sweep, is_answered=False),
    Scene("start attempt", _lost, _recover, nth=1),
    Scene(
        "expire by a reader",
        _past_its_end,
        lambda spoiled, _healthy, task_id: spoiled.poll(task_id),
        third=_try_to_write,
    ),
    Scene(
        "expire by a writer",
        _past_its_end,
        lambda spoiled, _healthy, task_id: spoiled.send(task_id, "too late"),
        third=_try_to_write,
    ),
    Scene(
        "expire by the sweep",
        _past_its_end,
        _sweep,
        third=_try_to_write,
        is_answered=False,
    ),
    Scene("time out", _unreconciled, _sweep, third=_try_to_write, is_answered=False),
    Scene("end of max_age", _too_old, _sweep, third=_try_to_write, is_answered=False),
    Scene("heartbeat", running, _renew, operation=UPDATE, is_answered=False),
    Scene(
        "look",
        forgotten,
        _sweep,
        operation=UPDATE,
        is_answered=False,
    ),
)
