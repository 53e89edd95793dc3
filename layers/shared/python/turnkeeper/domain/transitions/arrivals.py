"""What arrives from people: a task, and its inputs."""

from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper.domain import instants
from turnkeeper.domain.messages import Input
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import Pace, Phase, Task, Terms
from turnkeeper.domain.transitions.change import Change, Wake
from turnkeeper.domain.transitions.forms import queued


@dataclass(frozen=True, slots=True, kw_only=True)
class Birth:
    """Who starts a task with which agent, under which terms."""

    id: str
    agent: str
    agent_version: str
    terms: Terms
    responsible_user: str
    parent: str | None = None
    depth: int = 0


def create(birth: Birth, *, content: str | None, now: datetime, pace: Pace) -> Change:
    """A new task: idle, or processing when it comes with a first input."""
    expiry = now + min(birth.terms.lifespan, birth.terms.max_age)
    task = Task(
        id=birth.id,
        agent=birth.agent,
        agent_version=birth.agent_version,
        terms=birth.terms,
        responsible_user=birth.responsible_user,
        created_at=now,
        parent=birth.parent,
        depth=birth.depth,
        phase=Phase.IDLE,
        idle_expires_at=expiry,
        due_at=expiry,
    )
    if content is None:
        return Change(transition=Transition.CREATE, before=None, after=task)
    first = accept(task, content=content, now=now, pace=pace)
    return replace(first, transition=Transition.CREATE, before=None)


def accept(task: Task, *, content: str, now: datetime, pace: Pace) -> Change:
    """Queue an input; a turn in flight is not touched, and the input is committed by a later one (IN-1c)."""
    require(task, Transition.ACCEPT)
    arrived = Input(
        number=task.received + 1, received_at=instants.after(now, task.last_received_at), content=content
    )
    waiting = replace(task, received=arrived.number, last_received_at=arrived.received_at)
    if task.phase is Phase.IDLE or state_of(task) is State.WAITING:
        waiting = queued(waiting, now=now, pace=pace)
    return Change(transition=Transition.ACCEPT, before=task, after=waiting, input=arrived, wake=Wake.TASK)
