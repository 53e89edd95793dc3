"""What a change that was written counts as, and how late a look at what was due came."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType

from turnkeeper.domain.rules import Transition
from turnkeeper.domain.task import Pace, Task
from turnkeeper.domain.transitions import Change, is_runnable, runnable_for
from turnkeeper.metrics import Measured, Metric, Turned

TURNS: Mapping[Transition, Turned] = MappingProxyType(
    {
        Transition.START_TURN: Turned.STARTED,
        Transition.START_ATTEMPT: Turned.RESUMED,
        Transition.FINISH: Turned.FINISHED,
        Transition.FAIL_ATTEMPT: Turned.FAILED,
        Transition.LOSE_TURN: Turned.LOST,
    }
)
"""What the transitions of a turn are counted as."""


MAY_FINISH = frozenset({Transition.RELEASE_OUTPUT, Transition.RECONCILE})
"""What ends a turn well, too, where none is left: its last output was approved, or its host says it is done."""

CONFLICT = (Measured(Metric.CONFLICTS, 1),)


def written(change: Change) -> Iterator[Measured]:
    """What *change*, now that it is committed, adds to the counts."""
    yield Measured(Metric.WRITES, 1)
    if turned := _turned(change):
        yield Measured(Metric.TURNS, 1, turned)
    yield from _entered(change.before, change.after)
    if change.delegation is not None:
        yield from _entered(None, change.delegation.child.after)


def _turned(change: Change) -> Turned | None:
    if change.transition in MAY_FINISH and change.after.turn is None and not change.after.is_terminal:
        return Turned.FINISHED
    return TURNS.get(change.transition)


def _entered(before: Task | None, after: Task) -> Iterator[Measured]:
    if before is None or before.phase is not after.phase:
        yield Measured(Metric.TASKS_ENTERED, 1, after.terminal_reason or after.phase)


class Lateness:
    """What one sweep saw of how long others had been waiting; a sweep that saw nothing measured zeros."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._longest = dict.fromkeys(
            (Metric.SWEEP_LAG, Metric.OLDEST_RUNNABLE, Metric.OLDEST_WAITING), timedelta(0)
        )

    def see(self, task: Task, now: datetime) -> None:
        """Remember how long *task*, which was due, had waited."""
        if task.is_terminal:
            return
        self._remember(Metric.SWEEP_LAG, now - task.due_at)
        if is_runnable(task, now=now):
            self._remember(Metric.OLDEST_RUNNABLE, runnable_for(task, now=now, pace=self._pace))
        elif task.asks:
            self._remember(Metric.OLDEST_WAITING, now - min(wait.since for wait in task.asks))

    def measured(self) -> Iterator[Measured]:
        """The longest of each."""
        for metric, longest in self._longest.items():
            yield Measured(metric, longest.total_seconds())

    def _remember(self, metric: Metric, waited: timedelta) -> None:
        self._longest[metric] = max(self._longest[metric], waited)
