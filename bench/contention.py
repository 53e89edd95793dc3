"""Contention: up to 64 writers send to one task at once, and each write is conditional on what its writer read.

What is shown is how often a writer must decide again, and that nothing is lost or doubled by it.
"""

import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.figures import percentile, row
from bench.tables import Line, Plot, Table
from offline.engine import Engine as Emulator
from tests.support.counting import Counting
from tests.support.engines import Engine
from tests.support.laboratory import ALICE, Laboratory, said
from turnkeeper.domain.errors import StoreIsBusy, StoreIsUnavailable
from turnkeeper.service.inputs import accept
from turnkeeper.service.runtime import Runtime
from turnkeeper.store.patience import Patience

TITLE = "Many writers on one task"
ROUNDS = 2
COMMAND = "make bench PART=contention"
ABOUT = """\
So many writers send one input after another to one task, all at once, each with a client of its own. A write is
conditional on what its writer read, so whoever was overtaken reads and decides again, within 10 seconds. The store is
the offline engine over HTTP, and writers are threads of one process: their times are those of this machine, not AWS's.
Tries per success are what carries over. That every input that was acknowledged is there once, and no other, is checked
at each step; the measurement stops where it is not."""
WRITERS = (1, 2, 4, 8, 16, 32, 64)


class NotAsAcknowledged(Exception):
    """The conversation is not what its writers were told."""


@dataclass(slots=True)
class Writer:
    """One who sends, and what came of it."""

    runtime: Runtime
    client: Counting
    task_id: str
    texts: Sequence[str]
    taken: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    failure: Exception | None = None

    def send(self, begin: threading.Barrier) -> None:
        """Send all of it, as fast as answers come."""
        try:
            begin.wait()
            for text in self.texts:
                self._send(text)
        except Exception as failure:  # noqa: BLE001 - it is raised by who waits for the thread
            self.failure = failure

    def _send(self, text: str) -> None:
        began = perf_counter()
        try:
            accept(self.runtime, caller=ALICE, task_id=self.task_id, content=said(text), key=None)
        except (StoreIsBusy, StoreIsUnavailable):  # a 503 that says that nothing was stored
            self.refused += 1
        else:
            self.taken.append(text)
        self.seconds.append(perf_counter() - began)

    @property
    def tries(self) -> int:
        """How many transactions it sent."""
        return sum(call.operation == "transact_write_items" for call in self.client.calls)


def measure(
    rounds: int, *, writers: Sequence[int] = WRITERS, sends: int = 128, engine: Engine | None = None
) -> Mapping[str, Any]:
    """For each number of *writers*: what became of *sends* inputs, and at least one of each writer, *rounds* times."""
    with _engine(engine) as found:
        return {"steps": [_step(found, count, sends, rounds) for count in writers]}


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """One row for each number of writers."""
    columns = (
        "writers",
        "inputs",
        "refused (503)",
        "tries per success",
        "p50 ms",
        "p95 ms",
        "lost",
        "doubled",
    )
    rows = [
        row(
            step["writers"],
            step["inputs"],
            step["refused"],
            step["tries"] / (step["inputs"] - step["refused"]),
            percentile(step["ms"], 50),
            percentile(step["ms"], 95),
            step["lost"],
            step["doubled"],
        )
        for step in found["steps"]
    ]
    return (Table(TITLE, columns, rows, COMMAND),)


def plots(found: Mapping[str, Any]) -> Sequence[Plot]:
    """Tries, and times."""
    steps = found["steps"]
    tries = [(step["writers"], step["tries"] / (step["inputs"] - step["refused"])) for step in steps]
    times = {
        f"p{percent}": [(step["writers"], percentile(step["ms"], percent)) for step in steps]
        for percent in (50, 95)
    }
    return (
        Plot("contention", TITLE, "writers at once", "tries per success", [Line("tries", tries)]),
        Plot(
            "contention-times",
            TITLE,
            "writers at once",
            "milliseconds for one input",
            [Line(name, points) for name, points in times.items()],
            log_y=True,
        ),
    )


def compared(taken: Counter[str], stored: Counter[str]) -> tuple[int, int]:
    """How many inputs that were *taken* are not *stored*, and how many too often: none, or `NotAsAcknowledged`."""
    lost, doubled = (taken - stored).total(), (stored - taken).total()
    if lost or doubled:
        raise NotAsAcknowledged(f"{lost} inputs were lost, and {doubled} are there that nobody was told of")
    return lost, doubled


def _step(engine: Engine, count: int, sends: int, rounds: int) -> dict[str, Any]:
    runs = [_run(engine, count, -(-sends // count)) for _ in range(rounds)]
    together: Counter[str] = sum((Counter(run["counts"]) for run in runs), Counter())
    return {
        "writers": count,
        **{name: together[name] for name in ("inputs", "refused", "tries", "lost", "doubled")},
        "ms": [ms for run in runs for ms in run["ms"]],
    }


def _run(engine: Engine, count: int, each: int) -> dict[str, Any]:
    lab = Laboratory(engine)
    task_id = lab.create().task.id
    crowd = [_writer(lab, task_id, [f"{number}-{text}" for text in range(each)]) for number in range(count)]
    begin = threading.Barrier(count)
    threads = [threading.Thread(target=writer.send, args=(begin,)) for writer in crowd]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in crowd:
        if writer.failure:
            raise writer.failure
    taken = Counter(text for writer in crowd for text in writer.taken)
    stored = Counter(part["text"] for entry in lab.conversation(task_id) for part in entry["message"])
    lost, doubled = compared(taken, stored)
    return {
        "counts": {
            "inputs": count * each,
            "refused": sum(writer.refused for writer in crowd),
            "tries": sum(writer.tries for writer in crowd),
            "lost": lost,
            "doubled": doubled,
        },
        "ms": [round(seconds * 1_000, 2) for writer in crowd for seconds in writer.seconds],
    }


def _writer(lab: Laboratory, task_id: str, texts: Sequence[str]) -> Writer:
    client = Counting(
        lab.engine.client("dynamodb", attempts=1)
    )  # as deployed: the store tries again by itself
    table = replace(lab.runtime.table, client=client, patience=Patience)
    return Writer(lab.another_process(table=table), client, task_id, texts)


@contextmanager
def _engine(given: Engine | None) -> Iterator[Engine]:
    if given:
        yield given
        return
    with tempfile.TemporaryDirectory() as place, Emulator(Path(place)) as emulator:
        yield Engine("ministack", emulator.endpoint_url)
