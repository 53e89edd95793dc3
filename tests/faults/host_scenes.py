"""Every kind of write that an external host makes, and what comes of it when nothing goes wrong."""

from collections.abc import Callable
from typing import Any

from tests.faults.agents import BRIEFLY, HOST, Talker, Waiter, enlist
from tests.faults.scene import Act, Scene, try_to_write
from tests.support.faults import UPDATE
from tests.support.hosting import report
from tests.support.laboratory import ALICE, BOB, Laboratory, said
from turnkeeper.agents.echo import Echo
from turnkeeper.asc.registry import Code
from turnkeeper.domain.needs import Need
from turnkeeper.domain.reviews import fence_of, name_of
from turnkeeper.domain.task import Usage
from turnkeeper.domain.transitions import Answer
from turnkeeper.domain.waits import Verdict, WaitKind
from turnkeeper.service import host_turns, reports
from turnkeeper.service.delegation import Call
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.reviews import decide
from turnkeeper.store import people

ASKS_AFTER = {"after": [{"condition": "output.message[0].text.endsWith('2')", "assert": f"review('{BOB}')"}]}
APPROVAL = Need(id="approval", kind=WaitKind.REVIEW, reviewer=BOB, subject="Go on?", within=BRIEFLY)
SIGN_IN = Need(id="sign-in", kind=WaitKind.AUTHORISATION, provider="calendar", within=BRIEFLY)
ITS_OWN = Need(id="host", kind=WaitKind.HOST, within=BRIEFLY)


def asked(task_id: str, *, key: str | None = None) -> Asked:
    return Asked(principal=HOST, task_id=task_id, body="{}", key=key)


def queued(lab: Laboratory, **terms: Any) -> str:
    """A task whose first turn its host may start."""
    return lab.create("first", agent=enlist(lab, "agent", Talker, runs="external", **terms)).task.id


def started(lab: Laboratory, **terms: Any) -> str:
    """A task whose turn its host runs."""
    task_id = queued(lab, **terms)
    host_turns.start(lab.runtime, asked(task_id))
    return task_id


def fence(lab: Laboratory, task_id: str) -> int:
    return lab.stored(task_id).fence


def _between_attempts(lab: Laboratory) -> str:
    task_id = started(lab)
    host_turns.fail(lab.runtime, asked(task_id), fence=fence(lab, task_id))
    lab.clock.forward(seconds=3)
    return task_id


def _granted_before(lab: Laboratory) -> str:
    task_id = started(lab)
    people.keep_grant(lab.runtime.table, owner=HOST, person=ALICE, provider="calendar", at=lab.clock.now)
    return task_id


def _suspended(lab: Laboratory) -> str:
    task_id = started(lab)
    host_turns.wait(lab.runtime, asked(task_id), fence=fence(lab, task_id), needs=[ITS_OWN], memo='"memo"')
    return task_id


def _approved(lab: Laboratory) -> str:
    """A task whose turn may say what was held, which Bob approved."""
    task_id = started(lab, guardrails=ASKS_AFTER)
    host_turns.output(
        lab.runtime, asked(task_id), fence=fence(lab, task_id), ordinal=1, content=said("to review: 2")
    )
    task = lab.stored(task_id)
    (wait,) = task.asks
    review_id = task_id + name_of(fence_of(task, wait), wait.id)
    decide(lab.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment="Yes")
    return task_id


def _lost(lab: Laboratory) -> str:
    """A task whose turn was lost, and may not be repeated unless its host says so."""
    task_id = started(lab, repeatable=False)
    lab.clock.forward(seconds=61)
    lab.sweep()
    return task_id


def _with_input_pending(lab: Laboratory) -> str:
    task_id = started(lab)
    lab.send(task_id, "meanwhile")
    return task_id


def delegating(lab: Laboratory) -> str:
    enlist(lab, "echo_for_tests", Echo, delegates_from=["agent"])
    return started(lab)


def _past_its_end(lab: Laboratory) -> str:
    """An idle task of an external host's agent whose announced end has come."""
    name = enlist(lab, "agent", Waiter, runs="external", lifespan="5s")
    task_id = lab.create(agent=name).task.id
    lab.clock.forward(seconds=5)
    return task_id


def _under_its_fence(ask: Callable[..., object], **more: Any) -> Act:
    """The host asks that under the fence that the task has now."""

    def act(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
        return ask(spoiled.runtime, asked(task_id), fence=fence(healthy, task_id), **more)

    return act


def _just(ask: Callable[..., object], *, key: str | None = None, **more: Any) -> Act:
    return lambda spoiled, _healthy, task_id: ask(spoiled.runtime, asked(task_id, key=key), **more)


def _once(ask: Callable[..., object], **more: Any) -> Act:
    """The same under a key, and under the first fence there was."""
    return lambda spoiled, _healthy, task_id: ask(spoiled.runtime, asked(task_id, key="key"), fence=1, **more)


def delegate(spoiled: Laboratory, healthy: Laboratory, task_id: str) -> object:
    call = Call(name="work", fence=fence(healthy, task_id), agent="echo_for_tests", content=said("do it"))
    return host_turns.delegate(spoiled.runtime, principal=HOST, task_id=task_id, call=call)


def _read(spoiled: Laboratory, _healthy: Laboratory, task_id: str) -> object:
    return host_turns.read(spoiled.runtime, principal=HOST, task_id=task_id)


_output = host_turns.output
ONE = {"ordinal": 1, "content": said("turn 1 says 1")}
LAST = {"content": said("turn 1 says 2")}
USED = Usage(prompt_tokens=7, tool_calls=1)

HOST_SCENES = (
    Scene("host starts", queued, _just(host_turns.start)),
    Scene("host starts with key", queued, _just(host_turns.start, key="key")),
    Scene("host starts an attempt", _between_attempts, _just(host_turns.start)),
    Scene("host releases and starts", _approved, _just(host_turns.start)),
    Scene("host beats", started, _under_its_fence(host_turns.heartbeat), operation=UPDATE),
    Scene("host reports use", started, _under_its_fence(host_turns.heartbeat, usage=USED)),
    Scene("host says", started, _under_its_fence(_output, **ONE)),
    Scene("host says with key", started, _once(_output, **ONE)),
    Scene("host finishes", started, _under_its_fence(host_turns.finish, **LAST)),
    Scene("host finishes with key", started, _once(host_turns.finish, **LAST)),
    Scene(
        "host finishes with input pending", _with_input_pending, _under_its_fence(host_turns.finish, **LAST)
    ),
    Scene("host waits", started, _under_its_fence(host_turns.wait, needs=[APPROVAL, SIGN_IN], memo='"memo"')),
    Scene(
        "host waits for what is there",
        _granted_before,
        _under_its_fence(host_turns.wait, needs=[SIGN_IN], memo='"memo"'),
    ),
    Scene(
        "host resolves",
        _suspended,
        _under_its_fence(host_turns.resolve, wait_id="host", verdict=Verdict.DONE),
    ),
    Scene(
        "host resolves before it waits",
        started,
        _under_its_fence(host_turns.resolve, wait_id="host", verdict=Verdict.DONE),
    ),
    Scene("host delegates", delegating, delegate),
    Scene(
        "host attaches a report", started, _under_its_fence(reports.attach, document=report(), unit="search")
    ),
    Scene("host fails", started, _under_its_fence(host_turns.fail)),
    Scene("host interrupts", _with_input_pending, _just(host_turns.interrupt)),
    Scene(
        "host completes",
        started,
        _just(host_turns.complete, outcome=Code.SUCCESS, discard_pending=False),
        third=try_to_write,
    ),
    Scene(
        "host completes with key",
        started,
        _just(host_turns.complete, key="key", outcome=Code.SUCCESS, discard_pending=False),
        third=try_to_write,
    ),
    Scene(
        "host completes whatever waits",
        _with_input_pending,
        _just(host_turns.complete, outcome=Code.SUCCESS, discard_pending=True),
        third=try_to_write,
    ),
    Scene("host errors", started, _just(host_turns.error, outcome=Code.FATAL_ERROR), third=try_to_write),
    Scene("host locks", started, _just(host_turns.restrict), third=try_to_write),
    Scene(
        "host has it repeated",
        _lost,
        _just(host_turns.reconcile, answer=Answer.REPEAT, content=None, outcome=Code.FATAL_ERROR),
    ),
    Scene(
        "host says it was done",
        _lost,
        _just(
            host_turns.reconcile,
            answer=Answer.DONE,
            content=said("turn 1 says 1"),
            outcome=Code.FATAL_ERROR,
        ),
    ),
    Scene(
        "host says it failed",
        _lost,
        _just(host_turns.reconcile, answer=Answer.FAILED, content=None, outcome=Code.FATAL_ERROR),
        third=try_to_write,
    ),
    Scene("expire by a host", _past_its_end, _read, third=try_to_write),
)
