"""What an item weighs and what a call costs, by AWS's published rules: engines do not compute it right.

Names and texts count their UTF-8 bytes; a number about one byte per two significant digits and one more; a
map or a list three bytes, and one per element; a set three bytes; a truth value and a null one byte.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache
from math import ceil
from typing import Any

READ_UNIT = 4 * 1024
WRITE_UNIT = 1024

type Wire = Mapping[str, Any]


def item_size(item: Wire) -> int:
    """Return the bytes of an item in its wire form, as AWS meters them."""
    return sum(_text(name) + value_size(value) for name, value in item.items())


def value_size(attribute: Wire) -> int:
    """Return the bytes of one attribute value, its name aside."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "B":
            return _text(value)
        case "N":
            return _number(value)
        case "BOOL" | "NULL":
            return 1
        case "SS" | "NS":
            return 3 + sum(value_size({kind[0]: inner}) for inner in value)
        case "M":
            return 3 + sum(1 + _text(name) + value_size(inner) for name, inner in value.items())
        case "L":
            return 3 + sum(1 + value_size(inner) for inner in value)
        case _:
            raise TypeError(f"no rule for attributes of kind {kind}")


def read_units(sizes: Iterable[int], *, consistent: bool) -> float:
    """Return what reading items of *sizes* one by one costs: a missing one costs as much as a small one."""
    return sum(max(1, ceil(size / READ_UNIT)) for size in sizes) * (1 if consistent else 0.5)


def query_units(size: int, *, consistent: bool) -> float:
    """Return what a Query costs that read *size* bytes in all, however many items they were."""
    return max(1, ceil(size / READ_UNIT)) * (1 if consistent else 0.5)


def write_units(sizes: Iterable[int], *, transaction: bool) -> int:
    """Return what writing items of *sizes* costs; in a transaction each is written twice."""
    return sum(max(1, ceil(size / WRITE_UNIT)) for size in sizes) * (2 if transaction else 1)


def _text(text: str | bytes) -> int:
    return len(text.encode() if isinstance(text, str) else text)


@lru_cache(10_000)
def _number(text: str) -> int:
    number = Decimal(text).normalize()
    digits = len(number.as_tuple().digits)
    return ceil(digits / 2) + (2 if number < 0 else 1)
