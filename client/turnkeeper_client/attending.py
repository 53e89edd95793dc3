"""What is done about a wake-up, as a plan; whoever runs it has the agent and keeps the turn alive meanwhile."""

import logging
from dataclasses import dataclass
from datetime import datetime

from turnkeeper_client import hosts, turns
from turnkeeper_client.errors import Invalid, Malformed, TooLarge
from turnkeeper_client.host_results import Driven
from turnkeeper_client.plans import Raw
from turnkeeper_client.results import Said
from turnkeeper_client.turns import NOT_OURS, Held, TurnOver

log = logging.getLogger("turnkeeper_client")

CANNOT_BE_SAID = (Invalid, Malformed, TooLarge, TypeError, ValueError)
"""What comes of an answer that is no message, or none that a task takes."""


@dataclass(frozen=True, slots=True)
class Think:
    """The agent's part: an answer to what was *held*, as a `Thought`."""

    held: Held


@dataclass(frozen=True, slots=True)
class Judge:
    """Somebody's word on a task whose turn was lost: a `Word`, or None where nobody knows yet."""

    driven: Driven


@dataclass(frozen=True, slots=True)
class Thought:
    """What the agent says last, if anything, or that its attempt failed."""

    says: Said | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """What became of a lost turn: `repeat`, `done` with what is to tell, or `failed` with an *outcome*."""

    answer: str
    says: Said | None = None
    outcome: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How a worker keeps time; the defaults go with the deployment's (a lease of 60 s)."""

    heartbeat_s: float = 20.0
    hide_s: int = 65
    """How long nobody else sees a wake-up that is worked on; each heartbeat begins it anew."""
    listen_s: int = 20
    """How long one look into the queue waits for something."""
    longest_pause_s: float = 30.0
    """The most that a worker waits before it tries a queue or a server again that fails."""


PACE = Pace()


def attend(task_id: str) -> Raw[datetime | None, Think | Judge]:
    """What there was to do for a task; when to look again where its next attempt begins later."""
    try:
        held = yield from turns.take(task_id)
    except (*NOT_OURS, TurnOver):
        yield from _reconcile(task_id)
        return None
    thought: Thought = yield Think(held)
    try:
        failed = thought.failed
        if not failed and not held.is_over:
            try:
                yield from turns.finish(held, thought.says)
            except CANNOT_BE_SAID as refused:
                log.warning("what the agent says of task %s cannot be said: %s", task_id, refused)
                failed = True
        if failed and not held.is_over:
            driven = yield from turns.fail(held)
            return None if driven.turn is None else driven.turn.retry_at
    except TurnOver:
        log.info("the turn of task %s is somebody else's by now", task_id)
    return None


def _reconcile(task_id: str) -> Raw[None, Judge]:
    try:
        driven = yield from hosts.task(task_id)
        if not driven.is_lost:
            return
        word: Word | None = yield Judge(driven)
        if word is None:
            log.warning("a turn of task %s was lost; say what became of it: reconcile", task_id)
        else:
            yield from hosts.reconcile(task_id, word.answer, says=word.says, outcome=word.outcome)
    except NOT_OURS:
        log.info("task %s has nothing to do for us", task_id)
