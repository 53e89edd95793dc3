"""Many at once: processes of their own on one table, on real threads that start at the same moment."""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tests.faults.tally import Tried, tried
from tests.faults.victims import OURS
from tests.support.laboratory import START, Laboratory
from turnkeeper.domain.errors import TaskError
from turnkeeper.queue import WakeUps
from turnkeeper.service.runtime import Runtime
from turnkeeper.store.patience import Patience

LONG_S = 60
FASTER = 2
"""Pauses are so much shorter than they are in earnest."""


def process(lab: Laboratory, *, clock: Callable[[], datetime] | None = None) -> Laboratory:
    """Another process on *lab*'s table and queue, with clients and, if need be, a *clock* of its own."""
    other = Laboratory(
        lab.engine,
        clock=lab.clock,
        dynamodb=lab.engine.client("dynamodb", attempts=OURS),
        sqs=lab.engine.client("sqs"),
        table=lab.table,
        queue_url=lab.queue_url,
        host_urls=lab.host_urls,
        bucket=lab.bucket,
        agents=lab.agents,
    )
    table = replace(
        other.runtime.table, patience=lambda: Patience(seconds=LONG_S, sleep=lambda s: time.sleep(s / FASTER))
    )
    runtime: Runtime = replace(
        other.runtime, table=table, queue=WakeUps(other.sqs, lab.queue_url, lab.host_urls)
    )
    other.runtime = replace(runtime, clock=clock) if clock else runtime
    return other


def at_once(jobs: Iterable[Callable[[], object]]) -> list[Any]:
    """What each job returned, or was refused, when all began at the same moment; anything else is raised."""
    waiting = list(jobs)
    tried(Tried.RACES, len(waiting))
    barrier = threading.Barrier(len(waiting))
    results: list[object] = [None] * len(waiting)
    failures: list[Exception] = []

    def run(place: int, job: Callable[[], object]) -> None:
        barrier.wait(LONG_S)
        try:
            results[place] = job()
        except TaskError as refusal:
            results[place] = refusal
        except Exception as failure:  # noqa: BLE001 - raised again below, on the test's own thread
            failures.append(failure)

    threads = [
        threading.Thread(target=run, args=(place, job), name=f"job {place}", daemon=True)
        for place, job in enumerate(waiting)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG_S)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]
    return results


@dataclass(frozen=True, slots=True)
class Skewed:
    """A clock that goes, *by* ahead of the test's (or behind)."""

    by: timedelta
    began: float

    def __call__(self) -> datetime:
        return START + timedelta(seconds=time.monotonic() - self.began) + self.by
