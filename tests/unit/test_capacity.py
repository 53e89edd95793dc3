"""The measuring tape itself, against sizes that AWS documents."""

from typing import Any

import pytest

from bench.memory import Memory
from tests.support.capacity import item_size, query_units, read_units, value_size, write_units
from tests.support.metering import Metering, used


@pytest.mark.parametrize(
    ("attribute", "size"),
    [
        ({"S": ""}, 0),
        ({"S": "é€"}, 5),
        ({"N": "0"}, 2),
        ({"N": "27"}, 2),
        ({"N": "-27"}, 3),
        ({"N": "12345"}, 4),
        ({"N": "1000000"}, 2),
        ({"N": "604800.0"}, 3),
        ({"BOOL": True}, 1),
        ({"NULL": True}, 1),
        ({"B": b"bytes"}, 5),
        ({"L": []}, 3),
        ({"SS": ["ab", "c"]}, 3 + 2 + 1),
        ({"M": {}}, 3),
        ({"L": [{"S": "ab"}, {"N": "1"}]}, 3 + (1 + 2) + (1 + 2)),
        ({"M": {"name": {"S": "ab"}}}, 3 + (1 + 4 + 2)),
    ],
)
def test_a_value_weighs_what_aws_says(attribute: dict[str, Any], size: int) -> None:
    assert value_size(attribute) == size


def test_an_item_weighs_its_names_and_its_values() -> None:
    assert item_size({"pk": {"S": "TASK#1"}, "n": {"N": "27"}}) == 2 + 6 + 1 + 2


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (4096, 1), (4097, 2)])
def test_a_consistent_read_costs_one_unit_per_4_kb_begun(size: int, units: int) -> None:
    assert read_units([size], consistent=True) == units
    assert read_units([size], consistent=False) == units / 2
    assert query_units(size, consistent=True) == units


def test_items_read_one_by_one_are_each_rounded_up_and_those_of_a_query_together() -> None:
    assert read_units([100, 100], consistent=True) == 2
    assert query_units(200, consistent=True) == 1


@pytest.mark.parametrize(("size", "units"), [(1, 1), (1024, 1), (1025, 2)])
def test_a_write_costs_one_unit_per_kb_begun_and_twice_that_in_a_transaction(size: int, units: int) -> None:
    assert write_units([size], transaction=False) == units
    assert write_units([size, 1], transaction=True) == 2 * (units + 1)


@pytest.mark.parametrize("only", [{}, {"ProjectionExpression": "pk"}])
def test_a_read_of_a_part_is_metered_as_one_of_the_whole(only: dict[str, str]) -> None:
    memory = Memory()
    memory.put({"pk": {"S": "a"}, "sk": {"S": "b"}, "text": {"S": "x" * 5_000}})
    client = Metering(memory)

    client.get_item(TableName="t", Key={"pk": {"S": "a"}, "sk": {"S": "b"}}, ConsistentRead=True, **only)

    assert used(client.calls[0])["read_unit"] == 2
