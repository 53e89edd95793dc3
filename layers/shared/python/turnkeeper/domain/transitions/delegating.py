"""Delegation: a turn creates a child task; the same human answers for it (TS-3), and its end never ends its parent."""

from dataclasses import replace
from datetime import datetime

from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Pace, Task
from turnkeeper.domain.transitions.arrivals import Birth, create
from turnkeeper.domain.transitions.change import Change, Delegation
from turnkeeper.domain.transitions.forms import turn_of

CALL_BYTES = 255
DEEPEST = 8
MOST_CHILDREN = 32
"""Of one turn."""


def delegate(
    task: Task,
    *,
    fence: int,
    call: str,
    body: str,
    birth: Birth,
    content: str | None,
    now: datetime,
    pace: Pace,
) -> Change:
    """The turn has one more child; *birth* says of which agent, the rest it inherits.

    That *call* made none before is the store's to hold: both tasks and the call are one write.
    """
    require(task, Transition.DELEGATE, fence=fence)
    if task.depth >= DEEPEST:
        raise InvalidInput([Place("agent", f"is {DEEPEST} delegations deep, and there may be no more")])
    turn = turn_of(task)
    if turn.children >= MOST_CHILDREN:
        raise InvalidInput([Place("call", f"is one more than the {MOST_CHILDREN} children a turn may have")])
    inherited = replace(birth, responsible_user=task.responsible_user, parent=task.id, depth=task.depth + 1)
    child = create(inherited, content=content, now=now, pace=pace)
    return Change(
        transition=Transition.DELEGATE,
        before=task,
        after=replace(task, turn=replace(turn, children=turn.children + 1)),
        delegation=Delegation(call=call, body=body, child=child),
    )
