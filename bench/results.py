"""What was found, kept in `results.json`: each part with the command that makes it, when, and on which machine.

Whatever reads it, the page too, refuses a part without its command and one of an unknown form.
"""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from bench.machine import BUSY, Machine

KEPT = Path(__file__).with_name("results.json")


class Taken(BaseModel):
    """One run of one part."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    on: str
    """The day."""
    rounds: int
    seconds: float
    load_before: float
    taken_by_others: float
    """The share of the processors that others took meanwhile."""
    machine: Machine
    found: dict[str, Any]

    @property
    def is_busy(self) -> bool:
        """Others were at work, so its times are not to be trusted; counts are."""
        return self.taken_by_others > BUSY


class Results(BaseModel):
    """Every part's last run, by its name."""

    model_config = ConfigDict(extra="forbid")

    parts: dict[str, Taken] = {}


def read(path: Path = KEPT) -> Results:
    """What is kept; nothing where nothing was ever measured."""
    if not path.exists():
        return Results()
    return Results.model_validate_json(path.read_text(encoding="utf-8"))


def keep(results: Results, path: Path = KEPT) -> None:
    """Have *results* be what is kept."""
    text = results.model_dump_json(indent=1)
    one_line = re.sub(r"\[[-+.,\d\se]*\]", lambda numbers: " ".join(numbers.group().split()), text)
    path.write_text(one_line + "\n", encoding="utf-8")
