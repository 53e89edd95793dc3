"""What every use case stands on: the table, the queue, the clock and the deployment's numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from turnkeeper.domain.pace import Pace
from turnkeeper.store.table import Table

if TYPE_CHECKING:
    # The poll has none of them, and does not load them.
    from turnkeeper.agents.models import Model
    from turnkeeper.metrics import Meter
    from turnkeeper.mounts import Mounts
    from turnkeeper.queue import WakeUps


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """One deployment as one process sees it; the poll has no queue."""

    table: Table
    queue: "WakeUps | None"
    host_functions: frozenset[str] = frozenset()
    """The Lambda functions that agents may name to run their turns."""
    mounts: "Mounts | None" = None
    """The roots of files; only the functions that people and hosts call have them."""
    reporters: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Who may report through a host beside the host itself, and on which scopes."""
    severities: Mapping[int, str] = field(default_factory=dict)
    """How urgent codes are here, where that differs from what they usually are."""
    models: "Mapping[str, Model]" = field(default_factory=dict)
    """The agents that are a model of Bedrock's, by name."""
    pace: Pace
    heartbeat: timedelta
    idempotency: timedelta
    clock: Callable[[], datetime]
    meter: "Meter" = lambda _: None
    """Who is told what was measured; nobody, as a rule of tests."""
    trace: Callable[[], str | None] = lambda: None
    """X-Ray's header of what is done now."""
