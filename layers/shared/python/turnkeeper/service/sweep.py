"""Looking at whatever is due: expiries, lost wake-ups, leases, deadlines. Looking is harmless.

So lost messages, crashes and late sweeps all heal by this one path. The index only says where to look; what to do is
decided on the task itself. Ended tasks come last: only their retention is due, and that is in no hurry.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper import traces
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import TaskError
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.metrics import Measured, Metric
from turnkeeper.service.change import apply
from turnkeeper.service.metering import Lateness
from turnkeeper.service.retention import CutShort, delete
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.waiting import settle
from turnkeeper.store import tasks
from turnkeeper.store.items import due_shards

ACTOR = "sweep"
SECONDS_EACH = 2.0

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Swept:
    """What one sweep did."""

    looked: int = 0
    changed: int = 0
    deleted: int = 0
    failed: int = 0
    cut_short: bool = False


def sweep(runtime: Runtime, *, may_go_on: Callable[[], bool] = lambda: True) -> Swept:
    """Look at every task that is due now, then delete what was kept long enough, until *may_go_on* says no.

    A task that fails blocks no other. `StoreIsUnavailable` when the index cannot be read.
    """
    runtime = _in_a_hurry(runtime)
    now = runtime.clock()
    swept, lateness = Swept(), Lateness(runtime.pace)
    _sweep(runtime, now, swept, lateness, may_go_on)
    runtime.meter(
        (
            *lateness.measured(),
            Measured(Metric.LOOKED, swept.looked),
            Measured(Metric.LOOKS_FAILED, swept.failed),
        )
    )
    return swept


def _sweep(
    runtime: Runtime, now: datetime, swept: Swept, lateness: Lateness, may_go_on: Callable[[], bool]
) -> None:
    for ended in (False, True):
        # Beginning with another shard each minute, so that a cut sweep starves none.
        for shard in due_shards(now.minute, ended=ended):
            for task_id in tasks.due(runtime.table, shard, now=now):
                if not may_go_on():
                    swept.cut_short = True
                    return
                if ended:
                    _delete(runtime, task_id, swept, may_go_on)
                else:
                    _look(runtime, task_id, swept, lateness)


def _in_a_hurry(runtime: Runtime) -> Runtime:
    """*runtime* with little patience: there are others to look at, and the next sweep comes in a minute."""
    table = runtime.table
    return replace(runtime, table=replace(table, patience=lambda: table.patience().once_more(SECONDS_EACH)))


def _look(runtime: Runtime, task_id: str, swept: Swept, lateness: Lateness) -> None:
    def decide(current: Task, now: datetime) -> Change:
        return transitions.look(current, now=now, pace=runtime.pace)

    swept.looked += 1
    try:
        task = tasks.read(runtime.table, task_id)
        if task is not None:
            lateness.see(task, runtime.clock())
            settled = settle(runtime, task, actor=ACTOR)
            is_change = apply(runtime, settled, decide, actor=ACTOR).is_change
            swept.changed += is_change or settled is not task
    except TaskError as error:  # busy, or its partition does not answer: the next sweep tries again
        swept.failed += 1
        log.warning("a look was refused (%s)", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - one task's fault must not stop the others
        swept.failed += 1
        log.error("a look failed; it is put off: %s", traces.line(error))  # noqa: TRY400 - without its words
        tasks.put_off(runtime.table, task_id, pace=runtime.pace, now=runtime.clock())


def _delete(runtime: Runtime, task_id: str, swept: Swept, may_go_on: Callable[[], bool]) -> None:
    try:
        swept.deleted += delete(runtime, task_id, may_go_on=may_go_on)
    except CutShort:
        swept.cut_short = True
    except TaskError as error:  # it stays where it is, and the next sweep goes on
        swept.failed += 1
        log.warning("an ended task is deleted later (%s)", type(error).__name__)
    except Exception as error:  # noqa: BLE001 - one task's fault must not stop the others
        swept.failed += 1
        log.error("an ended task could not be deleted: %s", traces.line(error))  # noqa: TRY400 - without its words
