"""Which parts there are, and what a part is: a module that measures one thing, and says how that is shown.

`measure` gives plain JSON data, with nothing of this machine's paths or names; `tables` and `plots` show it, today's or
what was kept. It may take other arguments with a default, by which a test has it do little.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol, cast

from bench.tables import Plot, Table

type Found = Mapping[str, Any]

PARTS: Mapping[str, str] = {
    "cold": "bench.cold",
    "warm": "bench.warm",
    "accounting": "bench.accounting",
    "scale": "bench.scale",
    "contention": "bench.contention",
}
"""Each part's module by its name, in the order of the page."""


class Part(Protocol):
    """What a part's module has; `plots` only where there is something to plot."""

    TITLE: str
    ABOUT: str
    """What is measured, against what, and what it does not show, as Markdown."""
    ROUNDS: int
    """How often each sample is taken, if nobody says otherwise."""

    def measure(self, rounds: int) -> Found:
        """What was found, each sample taken *rounds* times."""

    def tables(self, found: Found) -> Sequence[Table]:
        """*found* as tables."""


class NoSuchPart(LookupError):
    """Nobody measures that; the message names what there is."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no part {name!r}; there are: {', '.join(PARTS)}")


def part(name: str) -> Part:
    """The part of that *name*; only now is it imported, since each needs something else."""
    if name not in PARTS:
        raise NoSuchPart(name)
    return cast("Part", import_module(PARTS[name]))


def plots(made: Part, found: Found) -> Sequence[Plot]:
    """The plots of *found*, where the part has some."""
    draw = getattr(made, "plots", None)
    return draw(found) if draw else ()
