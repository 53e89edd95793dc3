"""Every use case as it is counted: what is there before, then, after its `yield`, what counts; and what it may cost.

Tests hold each to its budget on both engines, the bench shows it, and docs/cost.md multiplies it with prices. Its name
is what it says of itself.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tests.support.agents import Talkative
from tests.support.engines import Engine
from tests.support.hosting import ACME, AGENT, manifest
from tests.support.laboratory import ALICE, BOB, said
from tests.support.metered import HOST, OTHER, REVIEW, SIGN_IN, Cost, Metered, asked, metered
from tests.support.records import record
from tests.support.states import busy, ended, idle
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.reviews import name_of
from turnkeeper.domain.task import Usage
from turnkeeper.domain.waits import Verdict
from turnkeeper.edge import etags
from turnkeeper.edge.answers import polled, status_text
from turnkeeper.service import agent_status, host_agents, host_turns
from turnkeeper.service.catalogue import list_agents, read
from turnkeeper.service.delegation import Call
from turnkeeper.service.grants import grant
from turnkeeper.service.notifications import list_calls
from turnkeeper.service.publishing import publish
from turnkeeper.service.retention import MARGIN, delete
from turnkeeper.service.reviews import decide, list_reviews
from turnkeeper.service.tasks import list_tasks

KB = "x" * (1_000 - len(said("")))
"""A text with which an input is 1 KB."""
GET, GETS, QUERY, UPDATE, SEND = "get_item", "batch_get_item", "query", "update_item", "send_message"
RECEIVE, HIDE, DONE = "receive_message", "change_message_visibility", "delete_message"
SHARDS = [QUERY] * 32
"""A sweep asks each shard: 16 of tasks that go on, 16 of ended ones."""
PEOPLE, WORKER, HOSTS, SWEEP, PUSH = "people", "the worker", "hosts", "the sweep", "push"

type Told = Callable[[Metered], Iterator[None]]


def write(items: int) -> str:
    """A transaction of so many items."""
    return f"transact_write_items of {items}"


@dataclass(frozen=True, slots=True)
class UseCase:
    """One of them, and what it may cost: no more, and no less without this list saying so."""

    name: str
    whose: str
    told: Told
    calls: tuple[str, ...]
    """In any order."""
    read: float
    written: int
    """Units, those of the indexes included."""

    def cost(self, engine: Engine, *, table: Any = None) -> Cost:
        """What it costs, on a table of its own, or on *table*, a client with one."""
        place = metered(engine, table=table)
        told = self.told(place)
        next(told)
        # Nobody acts in the very instant of what was before, in which a due time would seem to stand still.
        place.lab.clock.forward(seconds=1)
        place.forget()
        next(told, None)
        return place.cost()


USE_CASES: dict[str, UseCase] = {}
"""All of them, by the names of their functions."""


def costs(whose: str, calls: Sequence[str], *, read: float = 0, written: int = 0) -> Callable[[Told], Told]:
    """Have what is decorated be a use case with that budget."""

    def listed(told: Told) -> Told:
        name = str(told.__doc__).rstrip(".")
        USE_CASES[told.__name__] = UseCase(name, whose, told, tuple(sorted(calls)), read, written)
        return told

    return listed


@costs(PEOPLE, [GETS, write(2)], read=1, written=6)
def create(at: Metered) -> Iterator[None]:
    """Create a task without input."""
    yield
    at.lab.create()


@costs(PEOPLE, [GETS, write(3), SEND], read=1, written=10)
def create_with_input(at: Metered) -> Iterator[None]:
    """Create a task with an input of 1 KB."""
    yield
    at.lab.create(KB)


@costs(PEOPLE, [GETS, write(4), SEND], read=2, written=12)
def create_with_key(at: Metered) -> Iterator[None]:
    """The same with an idempotency key."""
    yield
    at.lab.create(KB, key="k")


@costs(PEOPLE, [GET, write(3), SEND], read=1, written=10)
def accept(at: Metered) -> Iterator[None]:
    """An input of 1 KB for an idle task."""
    task_id = idle(at.lab)
    yield
    at.lab.send(task_id, KB)


@costs(PEOPLE, [GET, write(3), SEND], read=1, written=8)
def accept_while_busy(at: Metered) -> Iterator[None]:
    """An input of 1 KB while a turn runs."""
    task_id = at.running()
    yield
    at.lab.send(task_id, KB)


@costs(PEOPLE, [GETS, write(4), SEND], read=2, written=10)
def accept_with_key(at: Metered) -> Iterator[None]:
    """The same with an idempotency key."""
    task_id = at.running()
    yield
    at.lab.send(task_id, KB, key="k")


@costs(PEOPLE, [GETS], read=2)
def accept_again(at: Metered) -> Iterator[None]:
    """The same key and input again."""
    task_id = at.running()
    at.lab.send(task_id, KB, key="k")
    yield
    at.lab.send(task_id, KB, key="k")


@costs(PEOPLE, [GET], read=1)
def poll(at: Metered) -> Iterator[None]:
    """Poll an idle task."""
    task_id = idle(at.lab)
    yield
    at.lab.poll(task_id)


@costs(PEOPLE, [GET], read=1)
def poll_while_busy(at: Metered) -> Iterator[None]:
    """Poll a task whose turn runs."""
    task_id = at.running()
    yield
    at.lab.poll(task_id)


@costs(PEOPLE, [GET], read=1)
def poll_while_waiting(at: Metered) -> Iterator[None]:
    """Poll a task that waits for a sign-in and a review."""
    task_id = at.waiting(SIGN_IN, REVIEW)
    yield
    at.lab.poll(task_id)


@costs(PEOPLE, [GET], read=1)
def poll_ended(at: Metered) -> Iterator[None]:
    """Poll a task that has ended."""
    task_id = ended(at.lab)
    yield
    at.lab.poll(task_id)


@costs(PEOPLE, [GET], read=1)
def poll_unchanged(at: Metered) -> Iterator[None]:
    """Poll what has not changed (304)."""
    task_id = busy(at.lab)
    tag = f'"{at.lab.poll(task_id).revision}"'
    yield
    task = at.lab.poll(task_id)
    assert polled(task, look_after=1, is_known=etags.matches(tag, task.revision))["statusCode"] == 304


@costs(PEOPLE, [GET], read=1)
def poll_anothers(at: Metered) -> Iterator[None]:
    """Poll another's task (404)."""
    task_id = busy(at.lab)
    yield
    try:
        at.lab.poll(task_id, caller=BOB)
    except TaskNotFound:
        return


@costs(PEOPLE, [GET, GET, write(2)], read=2, written=6)
def poll_expiring(at: Metered) -> Iterator[None]:
    """Poll a task past its announced end, the first time."""
    task_id = at.lab.create(agent="mayfly").task.id
    at.lab.clock.forward(seconds=6)
    yield
    at.lab.poll(task_id)


@costs(PEOPLE, [GET, QUERY, QUERY], read=8)
def messages(at: Metered) -> Iterator[None]:
    """Read a page of 20 messages of 1 KB."""
    task_id = _conversation(at, turns=10)
    yield
    at.lab.page(task_id, limit=20)


@costs(PEOPLE, [GET, QUERY], read=2)
def messages_nothing_new(at: Metered) -> Iterator[None]:
    """Follow a conversation in which nothing is new."""
    task_id = _conversation(at, turns=10)
    after = at.lab.page(task_id).next
    yield
    at.lab.page(task_id, after=after)


@costs(PEOPLE, [QUERY, GETS], read=20.5)
def tasks(at: Metered) -> Iterator[None]:
    """List 20 of my tasks."""
    for _ in range(25):
        at.lab.create()
    yield
    list_tasks(at.lab.runtime, caller=ALICE, phase=None, agent=None, limit=20, cursor=None)


@costs(PEOPLE, [GET], read=1)
def envelope(at: Metered) -> Iterator[None]:
    """Read where a task stands (agent-status)."""
    task_id = at.waiting(SIGN_IN, REVIEW)
    yield
    agent_status.for_person(
        at.lab.runtime, caller=ALICE, task_id=task_id, develops=False, is_known=lambda _: False
    )


@costs(PEOPLE, [QUERY, GETS], read=4)
def notifications(at: Metered) -> Iterator[None]:
    """List what waits for me, over three tasks."""
    for _ in range(3):
        at.waiting(SIGN_IN)
    yield
    list_calls(at.lab.runtime, caller=ALICE, limit=20, cursor=None)


@costs(PEOPLE, [QUERY, GETS], read=4)
def reviews(at: Metered) -> Iterator[None]:
    """List three reviews that wait for my decision."""
    for _ in range(3):
        at.waiting(REVIEW)
    yield
    list_reviews(at.lab.runtime, caller=BOB, limit=20, cursor=None)


@costs(PEOPLE, [QUERY, GETS], read=8)
def agents(at: Metered) -> Iterator[None]:
    """List what I can start, hosts' agents among it."""
    for name in ("helper", "librarian"):
        document = json.dumps(manifest(name))
        host_agents.register(at.lab.runtime, principal=ACME.principal, name=name, document=document)
    yield
    list_agents(at.lab.runtime, limit=20, cursor=None)


@costs(PEOPLE, [GET], read=1)
def agent(at: Metered) -> Iterator[None]:
    """Read what an agent takes."""
    yield
    read(at.lab.runtime, "echo")


@costs(PEOPLE, [GETS, GETS, write(4), SEND], read=4, written=10)
def decision(at: Metered) -> Iterator[None]:
    """Decide a review."""
    review_id = at.waiting(REVIEW) + name_of(1, "review")
    yield
    decide(at.lab.runtime, caller=BOB, review_id=review_id, verdict=Verdict.DONE, comment="Yes")


@costs(WORKER, [GET, write(3), write(3), QUERY, RECEIVE, HIDE, DONE], read=2, written=18)
def turn(at: Metered) -> Iterator[None]:
    """A turn with one output, from its wake-up on."""
    at.lab.create(KB)
    yield
    at.attend()


@costs(WORKER, [GET, write(3), write(3), QUERY, RECEIVE, HIDE, DONE], read=7, written=18)
def turn_of_twenty(at: Metered) -> Iterator[None]:
    """The same for twenty inputs of 1 KB."""
    task_id = at.lab.create(KB).task.id
    for _ in range(19):
        at.lab.send(task_id, KB)
    yield
    at.attend()


@costs(WORKER, [GET, write(3), write(3), write(3), write(3), QUERY, RECEIVE, HIDE, DONE], read=2, written=28)
def turn_with_three_outputs(at: Metered) -> Iterator[None]:
    """A turn with three outputs."""
    at.lab.agents["echo"] = Talkative
    at.lab.create(KB)
    yield
    at.attend()


@costs(WORKER, [GET, RECEIVE, DONE], read=1)
def stray_wake_up(at: Metered) -> Iterator[None]:
    """A wake-up with nothing to do."""
    task_id = idle(at.lab)
    at.lab.sqs.send_message(
        QueueUrl=at.lab.queue_url,
        MessageBody=json.dumps({"task": task_id}),
        MessageGroupId="stray",
        MessageDeduplicationId=task_id,
    )
    yield
    at.attend()


@costs(HOSTS, [write(3)], written=6)
def registration(at: Metered) -> Iterator[None]:
    """Register an agent."""
    document = json.dumps(manifest(lifespan="1h"))
    yield
    host_agents.register(at.lab.runtime, principal=ACME.principal, name=AGENT, document=document)


@costs(HOSTS, [GET, write(3)], read=1, written=8)
def host_start(at: Metered) -> Iterator[None]:
    """Start a turn."""
    task_id = at.queued()
    yield
    host_turns.start(at.lab.runtime, asked(task_id))


@costs(HOSTS, [GET, UPDATE], read=1, written=1)
def host_heartbeat(at: Metered) -> Iterator[None]:
    """A heartbeat."""
    task_id = at.running()
    at.lab.clock.forward(seconds=20)
    yield
    host_turns.heartbeat(at.lab.runtime, asked(task_id), fence=1)


@costs(HOSTS, [GET, write(2)], read=1, written=4)
def host_usage(at: Metered) -> Iterator[None]:
    """A heartbeat that tells what was used."""
    task_id = at.running()
    yield
    host_turns.heartbeat(at.lab.runtime, asked(task_id), fence=1, usage=Usage(tool_calls=1))


@costs(HOSTS, [GET, write(3)], read=1, written=8)
def host_output(at: Metered) -> Iterator[None]:
    """Say something of 1 KB along the way."""
    task_id = at.running()
    yield
    host_turns.output(at.lab.runtime, asked(task_id), fence=1, ordinal=1, content=said(KB))


@costs(HOSTS, [GET, write(2)], read=1, written=6)
def host_finish(at: Metered) -> Iterator[None]:
    """Finish a turn without a word."""
    task_id = at.running()
    yield
    host_turns.finish(at.lab.runtime, asked(task_id), fence=1, content=None)


@costs(HOSTS, [GET, write(3)], read=1, written=10)
def host_finish_with_a_word(at: Metered) -> Iterator[None]:
    """Finish a turn with an output of 1 KB."""
    task_id = at.running()
    yield
    host_turns.finish(at.lab.runtime, asked(task_id), fence=1, content=said(KB))


@costs(HOSTS, [GET, write(2)], read=1, written=6)
def host_fail(at: Metered) -> Iterator[None]:
    """Report an attempt as failed."""
    task_id = at.running()
    yield
    host_turns.fail(at.lab.runtime, asked(task_id), fence=1)


@costs(HOSTS, [GET, write(3)], read=1, written=8)
def host_wait(at: Metered) -> Iterator[None]:
    """Wait for the host's own word."""
    task_id = at.running()
    yield
    at.wait(task_id, HOST)


@costs(HOSTS, [GET, GETS, GETS, write(4)], read=3, written=10)
def host_wait_for_sign_in(at: Metered) -> Iterator[None]:
    """Wait for a sign-in."""
    task_id = at.running()
    yield
    at.wait(task_id, SIGN_IN)


@costs(HOSTS, [GET, write(5)], read=1, written=12)
def host_wait_for_review(at: Metered) -> Iterator[None]:
    """Wait for a review."""
    task_id = at.running()
    yield
    at.wait(task_id, REVIEW)


@costs(HOSTS, [GET, write(2), SEND], read=1, written=6)
def host_resolve(at: Metered) -> Iterator[None]:
    """Resolve the host's own wait."""
    task_id = at.waiting(HOST)
    yield
    host_turns.resolve(at.lab.runtime, asked(task_id), fence=1, wait_id="host", verdict=Verdict.DONE)


@costs(HOSTS, [UPDATE, QUERY, GETS, GETS, write(3), SEND], read=3, written=9)
def host_grant(at: Metered) -> Iterator[None]:
    """Record a grant for which one task waits."""
    at.waiting(SIGN_IN)
    at.lab.clock.forward(seconds=1)
    yield
    grant(at.lab.runtime, principal=ACME.principal, user=ALICE, provider="calendar", granted_at=None)


@costs(HOSTS, [GET, GET, GET, GETS, write(6), SEND], read=4, written=14)
def host_child(at: Metered) -> Iterator[None]:
    """Have another agent work: a child task."""
    task_id = at.running()
    call = Call(name="c", fence=1, agent=OTHER, content=said("go"))
    yield
    host_turns.delegate(at.lab.runtime, principal=ACME.principal, task_id=task_id, call=call)


@costs(HOSTS, [GET, write(4)], read=1, written=12)
def host_restrict(at: Metered) -> Iterator[None]:
    """End a task that waits for a sign-in and a review."""
    task_id = at.waiting(SIGN_IN, REVIEW)
    yield
    host_turns.restrict(at.lab.runtime, asked(task_id))


@costs(SWEEP, [*SHARDS], read=16)
def sweep(at: Metered) -> Iterator[None]:
    """A sweep with nothing due among 25 tasks."""
    for _ in range(25):
        at.lab.create()
    yield
    at.lab.sweep()


@costs(SWEEP, [*SHARDS, GET, write(2)], read=17, written=6)
def sweep_expiry(at: Metered) -> Iterator[None]:
    """A sweep that ends one task."""
    at.lab.create(agent="mayfly")
    at.lab.clock.forward(seconds=6)
    yield
    assert at.lab.sweep().changed == 1


@costs(SWEEP, [*SHARDS, GET, UPDATE, SEND], read=17, written=3)
def sweep_lost_wake_up(at: Metered) -> Iterator[None]:
    """A sweep that sends one lost wake-up again."""
    busy(at.lab)
    at.lab.clock.forward(seconds=61)
    yield
    assert at.lab.sweep().changed == 1


@costs(SWEEP, [*SHARDS, GET, write(2), SEND], read=17, written=6)
def sweep_lost_turn(at: Metered) -> Iterator[None]:
    """A sweep that finds a worker gone."""
    at.running()
    at.lab.clock.forward(seconds=61)
    yield
    assert at.lab.sweep().changed == 1


@costs(SWEEP, [*SHARDS, GET, GETS, UPDATE], read=18, written=3)
def sweep_waiting(at: Metered) -> Iterator[None]:
    """A sweep that looks after one suspended task."""
    at.waiting(SIGN_IN)
    at.lab.clock.forward(seconds=61)
    yield
    assert at.lab.sweep().looked == 1


@costs(SWEEP, [GET, QUERY, "batch_write_item", "delete_item", "list_object_versions"], read=3, written=12)
def deletion(at: Metered) -> Iterator[None]:
    """Delete one task of one turn."""
    task_id = _conversation(at, turns=1, agent="mayfly")
    at.lab.clock.forward(seconds=6)
    at.lab.poll(task_id)
    at.lab.clock.now = at.lab.stored(task_id).due_at + MARGIN + timedelta(seconds=1)
    yield
    assert delete(at.lab.runtime, task_id, may_go_on=lambda: True)


@costs(PUSH, ["put_events"])
def push(at: Metered) -> Iterator[None]:
    """Tell one new status on the bus."""
    made = record(None, at.lab.raw(idle(at.lab)))
    yield
    assert publish(at.bus, [made], as_text=status_text) == []


@costs(PUSH, ["put_events"])
def push_ten(at: Metered) -> Iterator[None]:
    """Tell ten new statuses on the bus, in one batch."""
    made = [record(None, at.lab.raw(idle(at.lab))) for _ in range(10)]
    yield
    assert publish(at.bus, made, as_text=status_text) == []


def _conversation(at: Metered, *, turns: int, agent: str = "echo") -> str:
    """A task with so many turns, of an input of 1 KB and an output each."""
    task_id = at.lab.create(KB, agent=agent).task.id
    at.lab.work()
    for _ in range(turns - 1):
        at.lab.send(task_id, KB)
        at.lab.work()
    return task_id
