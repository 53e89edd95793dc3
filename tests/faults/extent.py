"""How much is tried: everything with `make faults`; with `make test` each row once or twice, always the same ones."""

import os
from collections.abc import Iterable, Sequence
from itertools import product

EVERYTHING = os.environ.get("FAULTS") == "all"


def pairs[R, C](rows: Iterable[R], columns: Iterable[C], *, each: int = 1) -> list[tuple[R, C]]:
    """Each row with every column; in the shorter form with *each* of them, in turn, so that all have their turn."""
    listed, choice = list(rows), list(columns)
    if EVERYTHING:
        return list(product(listed, choice))
    return [
        (row, choice[(place * each + more) % len(choice)])
        for place, row in enumerate(listed)
        for more in range(min(each, len(choice)))
    ]


def some[R](rows: Sequence[R], *, each: int) -> Sequence[R]:
    """All of them; in the shorter form each *each*-th."""
    return rows if EVERYTHING else rows[::each]


def count(everything: int, fewer: int) -> int:
    """How many to try of what has no end."""
    return everything if EVERYTHING else fewer
