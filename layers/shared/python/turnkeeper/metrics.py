"""What a deployment counts for whoever operates it: each metric with every value its dimension can have.

A dimension that could hold anything else (a task, a user, a prompt, a URL, a message) cannot be named here, and so no
line has one (BND-OTEL, SEC-5). Each line of the log is one set of dimensions in CloudWatch's embedded metric format.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

log = logging.getLogger(__name__)


class Metric(StrEnum):
    """What is counted or measured."""

    TASKS_ENTERED = "TasksEntered"
    """Tasks that were created in, or came to, a phase; ended ones by how they ended."""
    TURNS = "Turns"
    """What workers and hosts did with turns."""
    WRITES = "Writes"
    """Changes that were committed."""
    CONFLICTS = "Conflicts"
    """Commits that somebody else's was faster than, and that were decided again."""
    SWEEP_LAG = "SweepLag"
    """How late the sweep was for the one that was due the longest."""
    OLDEST_RUNNABLE = "OldestRunnable"
    """Since when the one that waits the longest for a worker does; as far as it was due."""
    OLDEST_WAITING = "OldestWaiting"
    """Since when the one that waits the longest for somebody does; as far as it was due."""
    LOOKED = "Looked"
    """Due tasks that the sweep looked at."""
    LOOKS_FAILED = "LooksFailed"
    """Those of them that could not be looked at, or not deleted when that was due."""


class Unit(StrEnum):
    """CloudWatch's names."""

    COUNT = "Count"
    SECONDS = "Seconds"


UNITS: Mapping[Metric, Unit] = MappingProxyType(
    {
        metric: Unit.SECONDS
        if metric in {Metric.SWEEP_LAG, Metric.OLDEST_RUNNABLE, Metric.OLDEST_WAITING}
        else Unit.COUNT
        for metric in Metric
    }
)


class Turned(StrEnum):
    """What became of a turn: the dimension of `Metric.TURNS`."""

    STARTED = "started"
    RESUMED = "resumed"
    """Taken up again, after a wait or for another attempt."""
    FINISHED = "finished"
    FAILED = "failed"
    LOST = "lost"


DIMENSIONS: Mapping[Metric, tuple[str, frozenset[str]]] = MappingProxyType(
    {
        Metric.TASKS_ENTERED: (
            "phase",
            frozenset({"idle", "processing", "completed", "errored", "restricted"}),
        ),
        Metric.TURNS: ("outcome", frozenset(Turned)),
    }
)
"""The one dimension of a metric and all its values; a metric that is not here has none."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One value of one metric; *of* is its dimension's. `ValueError` where the metric has no such value."""

    metric: Metric
    value: float
    of: str | None = None

    def __post_init__(self) -> None:
        _, known = DIMENSIONS.get(self.metric, ("", frozenset({None})))
        if self.of not in known:
            raise ValueError(f"{self.metric} is not counted of {self.of!r}; see DIMENSIONS.")


type Meter = Callable[[Iterable[Measured]], None]
"""Whoever is told what was measured; it fails nothing."""


def told_to(namespace: str) -> Meter:
    """A meter that writes to the log what CloudWatch then keeps under *namespace*."""

    def tell(measured: Iterable[Measured]) -> None:
        together: dict[tuple[str, str] | None, list[Measured]] = {}
        for one in measured:
            dimension = (DIMENSIONS[one.metric][0], one.of) if one.of is not None else None
            together.setdefault(dimension, []).append(one)
        try:
            for dimension, ones in together.items():
                _write(namespace, dimension, ones)
        except Exception as error:  # noqa: BLE001 - what was done is done, counted or not
            log.warning("a metric was not written (%s)", type(error).__name__)

    return tell


def _write(namespace: str, dimension: tuple[str, str] | None, measured: Iterable[Measured]) -> None:
    # Loaded by whoever has something to count: a poll has not.
    from aws_lambda_powertools.metrics import EphemeralMetrics  # noqa: PLC0415

    line = EphemeralMetrics(namespace=namespace)
    if dimension is not None:
        line.add_dimension(*dimension)
    for one in measured:
        line.add_metric(one.metric, UNITS[one.metric], one.value)
    line.flush_metrics()
