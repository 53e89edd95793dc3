"""Plain values to DynamoDB's wire form and back.

botocore has no such codec, and boto3's costs the poll's cold start a tenth (docs/decisions/0001).
"""

from collections.abc import Mapping
from typing import Any

type Plain = Any
type Item = dict[str, Any]


def to_wire(value: Plain) -> dict[str, Any]:
    """*value* as an attribute value. Sets and binary are not used here."""
    match value:
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | float():
            return {"N": _digits(value)}
        case None:
            return {"NULL": True}
        case Mapping():
            # Not `item_to_wire`: inside an attribute, what a newer version wrote as null stays.
            return {"M": {name: to_wire(inner) for name, inner in value.items()}}
        case list() | tuple():
            return {"L": [to_wire(element) for element in value]}
        case _:
            raise TypeError(f"{type(value).__name__} has no form in the table")


def _digits(number: float) -> str:
    """*number* in its shortest form, as an engine gives it back: so the same request stays the same when sent again."""
    return str(int(number) if number == int(number) else number)


def from_wire(attribute: Mapping[str, Any]) -> Plain:
    """The plain value of one attribute value; a kind we never write is a bug, and raises."""
    ((kind, value),) = attribute.items()
    match kind:
        case "S" | "BOOL":
            return value
        case "N":
            return int(value) if value.lstrip("-").isdecimal() else float(value)
        case "NULL":
            return None
        case "M":
            return item_from_wire(value)
        case "L":
            return [from_wire(element) for element in value]
        case _:
            raise TypeError(f"the table holds an attribute of kind {kind}, which is never written")


def item_to_wire(item: Mapping[str, Plain]) -> Item:
    """A whole item; an attribute that is None is absent."""
    return {name: to_wire(value) for name, value in item.items() if value is not None}


def item_from_wire(item: Mapping[str, Any]) -> Item:
    """A whole item as plain values."""
    return {name: from_wire(value) for name, value in item.items()}
