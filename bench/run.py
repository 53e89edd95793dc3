"""One run: each part in a process of its own, so that one that fails takes no other's figures with it."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import ROOT
from bench.machine import Descendants, busy_seconds, load, this_machine
from bench.parts import part
from bench.results import Results, Taken

PATIENCE_S = 420
"""No part takes longer; one that does has failed."""


class PartFailed(Exception):
    """A part came to no figures; the message is its last word."""


type Measure = Callable[[str, int], dict[str, Any]]


def apart(name: str, rounds: int) -> dict[str, Any]:
    """What the part *name* finds, in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        found = Path(place, "found.json")
        command = [sys.executable, "-m", "bench.measure", name, str(rounds), str(found)]
        try:
            subprocess.run(command, cwd=ROOT, check=True, timeout=PATIENCE_S, stdin=subprocess.DEVNULL)
        except subprocess.CalledProcessError as failed:
            raise PartFailed(f"it ended with {failed.returncode}; what it said is above") from failed
        except subprocess.TimeoutExpired as late:
            raise PartFailed(f"it was not done after {PATIENCE_S} s") from late
        measured: dict[str, Any] = json.loads(found.read_text(encoding="utf-8"))
        return measured


def taken(name: str, rounds: int | None, *, measure: Measure = apart) -> Taken:
    """The part *name*, measured now; as often as it knows by itself, if *rounds* is None."""
    rounds = rounds or part(name).ROUNDS
    load_before, busy, began = load(), busy_seconds(), perf_counter()
    with Descendants() as ours:
        found = measure(name, rounds)
    seconds, machine = perf_counter() - began, this_machine()
    others = busy_seconds() - busy - ours.seconds
    return Taken(
        command=f"make bench PART={name}",
        on=f"{datetime.now(UTC):%Y-%m-%d}",
        rounds=rounds,
        seconds=round(seconds, 1),
        load_before=load_before,
        taken_by_others=round(max(others, 0) / (seconds * machine.cores), 2),
        machine=machine,
        found=found,
    )


def run(
    names: Sequence[str],
    rounds: int | None,
    kept: Results,
    *,
    measure: Measure = apart,
    told: Callable[[str, Taken | Exception], None],
) -> list[str]:
    """The parts of *names* that failed; what the others found is in *kept*, and each was *told* when it was done."""
    failed = []
    for name in names:
        try:
            kept.parts[name] = taken(name, rounds, measure=measure)
        except (PartFailed, ValueError) as failure:
            failed.append(name)
            told(name, failure)
        else:
            told(name, kept.parts[name])
    return failed
