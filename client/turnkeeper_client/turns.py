"""A turn in somebody's hands: what may be done with it, and that nothing may be once it is over or somebody else's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from turnkeeper_client import hosts
from turnkeeper_client.errors import Conflict, NotFound, TurnkeeperError, WrongState
from turnkeeper_client.host_results import Driven, TurnState
from turnkeeper_client.hosts import Usage
from turnkeeper_client.plans import Plan
from turnkeeper_client.results import Entry, Said, Task

NOT_OURS = (Conflict, NotFound, WrongState)
RUNNING = "running"
TO_BE_CORRECTED = "after_correction"
"""What a refusal says of a name that was used before for something else; the turn is still ours then."""


class TurnOver(TurnkeeperError):
    """The turn is suspended, has ended or is somebody else's by now: stop, and write nothing more."""

    def __init__(self) -> None:
        super().__init__("The turn is not held any more; stop, and write nothing more.")


@dataclass(slots=True)
class Held:
    """A turn that this process holds: what it is about, and how far it has come."""

    task: Task
    turn: TurnState
    inputs: tuple[Entry, ...]
    """What the agent is to answer."""
    next_output: int = field(init=False)
    is_over: bool = False
    """It was suspended, or is lost."""

    def __post_init__(self) -> None:
        self.next_output = self.turn.first_output

    @property
    def id(self) -> str:
        """The task's."""
        return self.task.id


def take(task_id: str) -> Plan[Held]:
    """The turn of a task, begun, tried again or resumed, with its inputs."""
    driven = yield from hosts.start(task_id)
    if driven.turn is None:
        raise TurnOver
    return Held(driven.task, driven.turn, (yield from _inputs(task_id, driven.turn)))


def emit(held: Held, says: Said, *, usage: Usage | None = None) -> Plan[None]:
    """One more output of the turn. `TurnOver` when it may not go on: it waits for a review, or is somebody else's."""
    number = held.next_output
    driven = yield from _while_held(
        held, lambda: hosts.emit(held.id, held.turn.fence, number, says, usage=usage)
    )
    held.next_output += 1
    _go_on(held, driven)


def beat(held: Held, *, usage: Usage | None = None) -> Plan[None]:
    """The lease renewed, and what was used counted."""
    _go_on(
        held,
        (yield from _while_held(held, lambda: hosts.heartbeat(held.id, held.turn.fence, usage=usage))),
    )


def wait(held: Held, waits: Iterable[Mapping[str, Any]], *, memo: Any = None) -> Plan[None]:
    """The turn suspended on *waits*; whoever wrote it has to return now. The *memo* comes back when it goes on."""
    asked = list(waits)
    yield from _while_held(held, lambda: hosts.wait(held.id, held.turn.fence, asked, memo=memo))
    held.is_over = True


def delegate(held: Held, call: str, agent: str, says: Said | None = None) -> Plan[Task]:
    """The child that this *call* of the turn made, once; wait for it with the kind `child`."""
    return (yield from _while_held(held, lambda: hosts.delegate(held.id, held.turn.fence, call, agent, says)))


def report(
    held: Held, envelope: Mapping[str, Any], *, unit: str | None = None, requested: bool = False
) -> Plan[None]:
    """What somebody else, or a part of the work, came to, passed on."""
    fence = held.turn.fence
    yield from _while_held(
        held, lambda: hosts.report(held.id, fence, envelope, unit=unit, requested=requested)
    )


def finish(held: Held, says: Said | None) -> Plan[None]:
    """The turn ended, with what is said last."""
    yield from _while_held(held, lambda: hosts.finish(held.id, held.turn.fence, says))
    held.is_over = True


def fail(held: Held) -> Plan[Driven]:
    """The task after the attempt was given up."""
    driven = yield from _while_held(held, lambda: hosts.fail(held.id, held.turn.fence))
    held.is_over = True
    return driven


def _while_held[T](held: Held, plan: Callable[[], Plan[T]]) -> Plan[T]:
    if held.is_over:
        raise TurnOver
    try:
        return (yield from plan())
    except NOT_OURS as refused:
        if refused.retry.strategy == TO_BE_CORRECTED:
            raise
        held.is_over = True
        raise TurnOver from refused


def _go_on(held: Held, driven: Driven) -> None:
    if driven.turn is None or driven.turn.state != RUNNING or driven.turn.fence != held.turn.fence:
        held.is_over = True
        raise TurnOver


def _inputs(task_id: str, turn: TurnState) -> Plan[tuple[Entry, ...]]:
    """The turn's inputs: they come first after its cursor, and what is not committed belongs to a later turn."""
    found: list[Entry] = []
    after = turn.inputs_after
    while True:
        page = yield from hosts.messages(task_id, after=after)
        found += [entry for entry in page.messages if entry.type == "input" and entry.committed_at]
        after = page.next
        if not page.more:
            return tuple(found)
