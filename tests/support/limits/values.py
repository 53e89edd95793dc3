"""DynamoDB's rules for values, keys and items, by its page of constraints."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from tests.support.capacity import item_size
from tests.support.limits.refusal import refuse, refuse_unless
from tests.support.schema import INDEXES, KEY

LARGEST_ITEM = 400 * 1024
LONGEST_KEYS = (2048, 1024)
"""Bytes of a partition key and of a sort key, of the table as of an index."""
DEEPEST = 32
MOST_DIGITS = 38
LEAST, MOST = Decimal("1E-130"), Decimal("9.9999999999999999999999999999999999999E+125")
LONGEST_NAME, LONGEST_INDEXED_NAME = 65_535, 255

type Wire = Mapping[str, Any]


def check_item(item: Wire) -> None:
    """A whole item that is put: its size, its keys, its values."""
    check_key({name: item[name] for name in KEY if name in item})
    check_attributes(item)
    size = item_size(item)
    refuse_unless(
        size <= LARGEST_ITEM, f"an item is at most {LARGEST_ITEM} bytes with its names; this is {size}"
    )


def check_attributes(item: Wire) -> None:
    """Attributes of an item, by their names: what an index is by, and the values."""
    for name, value in item.items():
        refuse_unless(0 < len(name.encode()) <= LONGEST_NAME, "an attribute's name has 1 to 65535 bytes")
        check_value(value)
        check_indexed(name, value)


def check_key(key: Wire, *, names: Sequence[str] = KEY) -> None:
    """A key names exactly what the table is keyed by, as text, neither empty nor too long."""
    refuse_unless(set(key) == set(names), f"a key is {', '.join(names)} and nothing else, not {sorted(key)}")
    for name, longest in zip(names, LONGEST_KEYS, strict=True):
        _check_text(name, key[name], longest)


def check_indexed(name: str, value: Wire) -> None:
    """An attribute that an index is by is text as well, neither empty nor too long."""
    for index in INDEXES.values():
        for indexed, longest in zip(index, LONGEST_KEYS, strict=True):
            if name == indexed:
                _check_text(name, value, longest)


def check_value(value: Wire, depth: int = 1) -> None:
    """One attribute value and all that is in it."""
    refuse_unless(len(value) == 1, f"an attribute value has exactly one type, not {sorted(value)}")
    refuse_unless(depth <= DEEPEST, f"documents are nested at most {DEEPEST} deep")
    ((kind, held),) = value.items()
    match kind:
        case "N":
            _check_number(held)
        case "M":
            refuse_unless(all(held), "a name in a map is not empty")
            for inner in held.values():
                check_value(inner, depth + 1)
        case "L":
            for inner in held:
                check_value(inner, depth + 1)
        case "SS" | "NS" | "BS":
            refuse_unless(held, "a set is not empty")
            refuse_unless(len(set(held)) == len(held), "a set has nothing twice")
        case "NULL":
            refuse_unless(held is True, "a null is true")
        case "S" | "B" | "BOOL":
            pass
        case _:
            refuse(f"there is no type {kind}")


def _check_text(name: str, value: Wire, longest: int) -> None:
    text = value.get("S")
    refuse_unless(isinstance(text, str), f"{name} is a key of the table or an index, so it is text")
    size = len(str(text).encode())
    refuse_unless(0 < size <= longest, f"{name} is a key, so it has 1 to {longest} bytes; this has {size}")


def _check_number(text: str) -> None:
    try:
        number = Decimal(text)
    except ArithmeticError:
        refuse(f"{text} is no number")
    refuse_unless(number.is_finite(), f"{text} is no number")
    # Not `normalize`, which rounds to the 28 digits of its context.
    digits = len("".join(map(str, number.as_tuple().digits)).strip("0"))
    refuse_unless(digits <= MOST_DIGITS, f"a number has at most {MOST_DIGITS} digits; this has {digits}")
    refuse_unless(not number or LEAST <= abs(number) <= MOST, f"{text} is too large or too small a number")
