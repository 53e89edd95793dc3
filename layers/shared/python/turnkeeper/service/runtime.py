"""What every use case stands on: the table, the queue, the clock and the deployment's numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from turnkeeper.domain.task import Pace
from turnkeeper.queue import WakeUps
from turnkeeper.store.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """One deployment as one process sees it; the poll has no queue."""

    table: Table
    queue: WakeUps | None
    pace: Pace
    heartbeat: timedelta
    idempotency: timedelta
    clock: Callable[[], datetime]
