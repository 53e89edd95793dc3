"""What a turn hears from those it works with: kept beside the task, and never what decides where it stands (MOD-4)."""

from dataclasses import replace

from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.rules import Transition, require
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions.change import Change

MOST_REPORTS = 32
"""Of one task, since all of them are read with its envelope."""


def attach(task: Task, *, fence: int, report: str, unreached: int) -> Change:
    """The task has one more *report* (JSON), after which so many requested units are *unreached*."""
    require(task, Transition.ATTACH, fence=fence)
    if task.reports >= MOST_REPORTS:
        raise InvalidInput([Place("report", f"is one more than the {MOST_REPORTS} that a task may have")])
    after = replace(task, reports=task.reports + 1, unreached=unreached)
    return Change(transition=Transition.ATTACH, before=task, after=after, report=report)
