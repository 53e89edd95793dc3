"""Measured values, every single one kept, with what sums them up."""

from collections.abc import Sequence
from statistics import median
from typing import Any


def spread(runs: Sequence[float]) -> dict[str, Any]:
    """*runs*, in their order, with their median, their least and their greatest."""
    return {"median": median(runs), "min": min(runs), "max": max(runs), "runs": list(runs)}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """How many times *theirs* each of *ours* is: run by run, since each pair was measured in one moment."""
    return spread([one / other for one, other in zip(ours, theirs, strict=True)])
