"""Samples and what is told of them: median, least and most; a ratio is taken pair by pair, since machines are noisy."""

from collections.abc import Iterable, Sequence
from statistics import median, quantiles
from typing import TypedDict


class Summary(TypedDict):
    """What is told of some samples."""

    median: float
    min: float
    max: float
    samples: int


def summary(samples: Sequence[float]) -> Summary:
    """What is told of *samples*, of which there is one at least."""
    if not samples:
        raise ValueError("there is nothing to tell of no sample")
    return {
        "median": float(f"{median(samples):.4g}"),
        "min": float(f"{min(samples):.4g}"),
        "max": float(f"{max(samples):.4g}"),
        "samples": len(samples),
    }


def ratio(ours: Sequence[float], theirs: Sequence[float]) -> Summary:
    """How many times *theirs* each of *ours* is; the n-th of both were taken beside each other in one run."""
    return summary([our / their for our, their in zip(ours, theirs, strict=True)])


def percentile(samples: Sequence[float], percent: int) -> float:
    """The sample that *percent* of all do not exceed."""
    if len(samples) == 1:
        return samples[0]
    return quantiles(samples, n=100, method="inclusive")[percent - 1]


def number(value: float) -> str:
    """*value* as it stands in a table: three digits that count, or whole."""
    if value == int(value) or abs(value) >= 1_000:  # noqa: PLR2004 - no digit behind the point counts any more
        return f"{value:,.0f}"
    return f"{value:.3g}"


def cells(told: Summary) -> tuple[str, str, str]:
    """Median, least and most of a summary, for a table."""
    return number(told["median"]), number(told["min"]), number(told["max"])


def row(*given: object) -> tuple[str, ...]:
    """A row of a table; numbers are written as everywhere."""
    return tuple(number(one) if isinstance(one, (int, float)) else str(one) for one in given)


def total(samples: Iterable[float]) -> float:
    """Their sum, for a table."""
    return float(f"{sum(samples):.4g}")
