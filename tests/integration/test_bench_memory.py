"""The bench's table in memory answers as engines do: each use case costs the same on it, to the byte."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from bench import results
from bench.memory import Memory, NotSpoken
from tests.support.engines import Engine
from tests.support.use_cases import USE_CASES

THERE = "attribute_exists(pk)"
NEW = "attribute_not_exists(pk)"


def item(sk: str, **more: str) -> dict[str, Any]:
    return {name: {"S": value} for name, value in {"pk": "a", "sk": sk, **more}.items()}


def put(sk: str, condition: str = NEW, **more: str) -> dict[str, Any]:
    return {"Put": {"TableName": "t", "Item": item(sk, **more), "ConditionExpression": condition}}


def between(first: str, last: str, **more: Any) -> dict[str, Any]:
    values = {":pk": {"S": "a"}, ":first": {"S": first}, ":last": {"S": last}}
    key = "pk = :pk AND sk BETWEEN :first AND :last"
    return {"KeyConditionExpression": key, "ExpressionAttributeValues": values, **more}


@pytest.fixture
def memory() -> Memory:
    made = Memory()
    for number in range(5):
        made.put(item(f"{number}"))
    return made


@pytest.mark.parametrize("name", USE_CASES)
def test_a_use_case_costs_the_same_on_the_table_in_memory(moto_engine: Engine, name: str) -> None:
    case = USE_CASES[name]

    cost = case.cost(moto_engine, table=Memory())

    assert tuple(sorted(cost.calls)) == case.calls
    assert (cost.used["read_unit"], cost.used["write_unit"]) == (case.read, case.written)
    kept = results.read().parts["accounting"].found[name]
    assert (cost.bytes_read, cost.bytes_written) == (kept["bytes_read"], kept["bytes_written"])


def test_a_transaction_of_which_one_condition_fails_writes_nothing_and_says_which(memory: Memory) -> None:
    with pytest.raises(ClientError) as refused:
        memory.transact_write_items(TransactItems=[put("new"), put("3"), put("2", THERE, is_="changed")])

    reasons: Any = refused.value.response["CancellationReasons"]
    assert [reason["Code"] for reason in reasons] == ["None", "ConditionalCheckFailed", "None"]
    assert reasons[1]["Item"] == item("3")
    assert sorted(sk for _, sk in memory.items) == ["0", "1", "2", "3", "4"]
    assert memory.items["a", "2"] == item("2")


def test_a_write_by_itself_is_refused_with_what_is_there(memory: Memory) -> None:
    with pytest.raises(ClientError) as refused:
        memory.put_item(**put("1")["Put"])

    assert refused.value.response["Error"]["Code"] == "ConditionalCheckFailedException"


def test_pages_follow_each_other_in_both_directions_until_there_is_no_more(memory: Memory) -> None:
    for forward, expected in ((True, ["1", "2", "3"]), (False, ["3", "2", "1"])):
        seen: list[str] = []
        start: dict[str, Any] = {}
        while True:
            answer = memory.query(**between("1", "3", Limit=2, ScanIndexForward=forward), **start)
            seen += [one["sk"]["S"] for one in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}

        assert seen == expected


def test_a_part_of_an_item_is_what_was_asked_for_of_it() -> None:
    memory = Memory()
    memory.put({**item("1", text="t", more="m"), "turn": {"M": {"state": {"S": "on"}, "at": {"S": "9"}}}})
    names = {"#state": "state"}

    answer = memory.get_item(
        Key=item("1"),
        ProjectionExpression="text, gone, turn.#state, turn.gone",
        ExpressionAttributeNames=names,
    )

    assert answer["Item"] == {"text": {"S": "t"}, "turn": {"M": {"state": {"S": "on"}}}}


def test_a_page_ends_at_1_mb() -> None:
    memory = Memory()
    for number in range(30):
        memory.put(item(f"{number:02}", text="x" * 100_000))

    answer = memory.query(**between("00", "99"))

    assert len(answer["Items"]) == 10
    assert answer["LastEvaluatedKey"] == item("09")


def test_what_the_store_does_not_write_is_refused_and_not_guessed(memory: Memory) -> None:
    update = {"TableName": "t", "Key": item("1"), "ExpressionAttributeValues": {":one": {"N": "1"}}}

    with pytest.raises(NotSpoken):
        memory.put_item(**put("9", "size(pk) = :one")["Put"])
    with pytest.raises(NotSpoken):
        memory.update_item(**update, UpdateExpression="SET looks = looks + :one")
    with pytest.raises(NotSpoken):
        memory.query(**between("1", "2", KeyConditionExpression="begins_with(pk, :pk)"))
    assert memory.items["a", "1"] == item("1")
