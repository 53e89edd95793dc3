"""Plain values in DynamoDB's wire form: nothing is lost on the way there and back."""

from collections.abc import Mapping
from typing import Any

import pytest
from boto3.dynamodb.types import TypeDeserializer
from hypothesis import given
from hypothesis import strategies as st

from tests.support.specimens import NOW
from tests.support.strategies import texts, values
from turnkeeper.domain.task import Phase
from turnkeeper.store.wire import from_wire, item_from_wire, item_to_wire, to_wire


@given(values)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert same(from_wire(to_wire(value)), value)


@given(values)
def test_the_wire_form_is_the_one_that_aws_own_library_reads(value: Any) -> None:
    assert read_by_aws(to_wire(value)) == without_floats(value)


@given(st.dictionaries(texts, values, max_size=4))
def test_an_attribute_that_is_none_is_absent_from_an_item(item: dict[str, Any]) -> None:
    there = {name: value for name, value in item.items() if value is not None}

    assert same(item_from_wire(item_to_wire(item)), there)


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        (True, {"BOOL": True}),
        (0, {"N": "0"}),
        (7.5, {"N": "7.5"}),
        (None, {"NULL": True}),
        ("", {"S": ""}),
        ((1, "a"), {"L": [{"N": "1"}, {"S": "a"}]}),
        ({"a": {"b": None}}, {"M": {"a": {"M": {"b": {"NULL": True}}}}}),
        (Phase.IDLE, {"S": "idle"}),
    ],
)
def test_each_kind_has_its_wire_form(value: object, wire: dict[str, Any]) -> None:
    assert to_wire(value) == wire


@pytest.mark.parametrize("value", [NOW, {1, 2}, b"bytes", object()])
def test_a_kind_that_is_never_written_is_a_bug(value: object) -> None:
    with pytest.raises(TypeError, match="has no form in the table"):
        to_wire(value)


@pytest.mark.parametrize("wire", [{"B": b"bytes"}, {"SS": ["a"]}, {"NS": ["1"]}])
def test_a_kind_that_is_never_written_is_not_read(wire: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="is never written"):
        from_wire(wire)


def same(one: Any, other: Any) -> bool:
    """Tell equal values of equal kinds: for Python, 1 and True are one. A whole number has no kind in the table."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return isinstance(one, bool) == isinstance(other, bool) and one == other
    return type(one) is type(other) and bool(one == other)


def without_floats(value: Any) -> Any:
    """Return *value* with numbers as that library reads them: exactly as they are written."""
    if isinstance(value, Mapping):
        return {name: without_floats(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [without_floats(inner) for inner in value]
    if isinstance(value, float):
        return read_by_aws({"N": repr(value)})
    return value


def read_by_aws(wire: Any) -> Any:
    return TypeDeserializer().deserialize(wire)
