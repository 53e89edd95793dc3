"""A second process on a laboratory's table and queue: its calls are spoiled, the laboratory's own never are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tests.support.faults import Faults, Stopwatch, faults_of
from tests.support.laboratory import Laboratory
from turnkeeper.service import rules
from turnkeeper.store.patience import Patience

PATIENCE_S = 10.0
OURS, THE_SDKS = 1, 3
"""How often the SDK tries a call: as the product tells it to, and as it does by itself."""


@dataclass(slots=True)
class Victim:
    """*lab* is the spoiled process; what goes wrong with it is up to *faults*, and takes time on *stopwatch*."""

    lab: Laboratory
    faults: Faults
    stopwatch: Stopwatch


@contextmanager
def victim_of(lab: Laboratory, stopwatch: Stopwatch, *, attempts: int = OURS) -> Iterator[Victim]:
    """A victim beside *lab*, with clients of its own and the patience of the product on *stopwatch*."""
    process = Laboratory(
        lab.engine,
        clock=lab.clock,
        dynamodb=lab.engine.client("dynamodb", attempts=attempts),
        sqs=lab.engine.client("sqs"),
        table=lab.table,
        queue_url=lab.queue_url,
        host_urls=lab.host_urls,
        bucket=lab.bucket,
        agents=lab.agents,
    )

    def patience() -> Patience:
        return Patience(seconds=PATIENCE_S, clock=stopwatch, sleep=stopwatch.sleep)

    process.runtime = replace(process.runtime, table=replace(process.runtime.table, patience=patience))
    with faults_of(process.dynamodb, process.sqs, passes=stopwatch.sleep) as faults:
        yield Victim(process, faults, stopwatch)


def starts_anew(victim: Victim) -> None:
    """Have *victim* be a process that just started: nothing went wrong yet, and it has read no manifest."""
    victim.faults.clear()
    rules._documents.clear()  # noqa: SLF001 - what a process keeps
