"""Measured values, every single one kept, with what sums them up, and how they are written in a table."""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import Any


def spread(runs: Sequence[float]) -> dict[str, Any]:
    """*runs*, in their order, with their median, their least and their greatest."""
    return {"median": median(runs), "min": min(runs), "max": max(runs), "runs": list(runs)}


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> dict[str, Any]:
    """How many times *theirs* each of *ours* is: run by run, since each pair was measured in one moment."""
    return spread([one / other for one, other in zip(ours, theirs, strict=True)])


def percentile(runs: Sequence[float], percent: int) -> float:
    """The value that *percent* of *runs* do not exceed."""
    if len(runs) == 1:
        return runs[0]
    return quantiles(runs, n=100, method="inclusive")[percent - 1]


def number(value: float) -> str:
    """*value* as it stands in a table: three digits that count, or whole."""
    if value == int(value) or abs(value) >= 1_000:  # noqa: PLR2004 - no digit behind the point counts any more
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cell(found: Mapping[str, Any], *, times: float = 1) -> str:
    """Median, and least and greatest behind it, of a spread, *times* so much."""
    middle, least, greatest = (number(found[name] * times) for name in ("median", "min", "max"))
    return f"{middle} ({least} to {greatest})"


def row(*given: object) -> tuple[str, ...]:
    """A row of a table; numbers are written as everywhere."""
    return tuple(number(one) if isinstance(one, (int, float)) else str(one) for one in given)
