"""Every kind of write that people, workers and the sweep make, and with `host_scenes` every kind there is."""

from collections.abc import Callable
from typing import Any

from tests.faults.agents import (
    Asker,
    Delegator,
    Stumbler,
    Talker,
    Unasked,
    Unknowing,
    Vanished,
    Vanishing,
    Waiter,
    enlist,
)
from tests.faults.healing import deliver
from tests.faults.host_scenes import HOST_SCENES
from tests.faults.scene import Scene, new_task, try_to_write
from tests.support.faults import UPDATE
from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.agents.echo import Echo
from turnkeeper.agents.protocol import TurnView
from turnkeeper.domain.reviews import fence_of, name_of
from turnkeeper.domain.waits import Verdict
from turnkeeper.service import host_turns
from turnkeeper.service.grants import grant
from turnkeeper.service.hold import Hold
from turnkeeper.service.reviews import decide
from turnkeeper.store import people


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
LOCKS = {"after": [{"assert": "false", "on_fail": "lock_task"}]}
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


def _settle(spoiled: Laboratory, _healthy: Laboratory, task_id: str) -> object:
    return deliver(spoiled, task_id)


PEOPLES_SCENES = (
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
    Scene("start turn", _queued_for(Talker), _attend, nth=1, takes_a_turn=True),
    Scene("emit", _queued_for(Talker), _attend, nth=2, takes_a_turn=True),
    Scene("finish", _queued_for(Talker), _attend, nth=3, takes_a_turn=True),
    Scene("finish with input pending", _interrupted_by_input, _attend, nth=3, takes_a_turn=True),
    Scene("fail attempt", _queued_for(Stumbler), _attend, nth=3, takes_a_turn=True),
    Scene(
        "fail the last attempt",
        _queued_for(Stumbler, attempts=1),
        _attend,
        nth=3,
        third=try_to_write,
        takes_a_turn=True,
    ),
    Scene("turn that cannot be asked", _queued_for(Unasked), _attend, nth=2, takes_a_turn=True),
    Scene("turn of which nobody knows", _queued_for(Unknowing), _attend, nth=2, takes_a_turn=True),
    Scene(
        "lock by a guardrail",
        _queued_for(Talker, guardrails=LOCKS),
        _attend,
        nth=2,
        third=try_to_write,
        takes_a_turn=True,
    ),
    Scene("suspend", _queued_for(Waiter), _attend, nth=2, takes_a_turn=True),
    Scene("wait for people", _queued_for(Asker), _attend, nth=2, takes_a_turn=True),
    Scene("grant", _asked, _grant, is_answered=False),
    Scene("decide", _asked, _decide),
    Scene("the host's word", _at_the_host, _answer),
    Scene("delegate", _delegating, _attend, nth=2, takes_a_turn=True),
    Scene(
        "start past a transform", _queued_for(Talker, guardrails=CHANGES), _attend, nth=1, takes_a_turn=True
    ),
    Scene("refuse an input", _queued_for(Talker, guardrails=REFUSES), _attend, nth=1, takes_a_turn=True),
    Scene("hold an input", _queued_for(Talker, guardrails=ASKS_BEFORE), _attend, nth=1, takes_a_turn=True),
    Scene("decide on an input", _input_held, _decide_on_what_is_held),
    Scene("hold an output", _queued_for(Talker, guardrails=ASKS_AFTER), _attend, nth=3, takes_a_turn=True),
    Scene("release an output", _output_held, _attend, nth=1, takes_a_turn=True),
    Scene("settle by a worker", _granted_unseen, _settle),
    Scene("settle by the sweep", _granted_unseen, _sweep, is_answered=False),
    Scene("lose turn", _lost, _sweep, is_answered=False),
    Scene("start attempt", _lost, _recover, nth=1, takes_a_turn=True),
    Scene(
        "expire by a reader",
        _past_its_end,
        lambda spoiled, _healthy, task_id: spoiled.poll(task_id),
        third=try_to_write,
    ),
    Scene(
        "expire by a writer",
        _past_its_end,
        lambda spoiled, _healthy, task_id: spoiled.send(task_id, "too late"),
        third=try_to_write,
    ),
    Scene(
        "expire by the sweep",
        _past_its_end,
        _sweep,
        third=try_to_write,
        is_answered=False,
    ),
    Scene("time out", _unreconciled, _sweep, third=try_to_write, is_answered=False),
    Scene("end of max_age", _too_old, _sweep, third=try_to_write, is_answered=False),
    Scene("heartbeat", running, _renew, operation=UPDATE, is_answered=False),
    Scene(
        "look",
        forgotten,
        _sweep,
        operation=UPDATE,
        is_answered=False,
    ),
)

SCENES = (*PEOPLES_SCENES, *HOST_SCENES)
