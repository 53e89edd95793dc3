"""The checking client itself: it is shown one wrong call for each rule, and right ones at the very limit."""

from collections.abc import Callable
from typing import Any

import botocore.session
import pytest
from botocore.config import Config

from tests.support.limits import AwsWouldRefuse, dynamodb, s3, sqs, watch
from tests.support.limits.values import check_value

PK, SK = {"S": "TASK#1"}, {"S": "TASK"}
ITEM = {"pk": PK, "sk": SK}
KIB, MIB = 1024, 1024 * 1024
URL = "https://sqs.eu-central-1.amazonaws.com/000000000000/wake.fifo"

type Request = dict[str, Any]


def text(size: int) -> dict[str, str]:
    return {"S": "x" * size}


def item(number: int = 1, **attributes: Any) -> Request:
    return {"pk": {"S": f"TASK#{number}"}, "sk": SK, **attributes}


def put(number: int = 1, **attributes: Any) -> Request:
    return {"Put": {"TableName": "tasks", "Item": item(number, **attributes)}}


def transaction(*operations: Request, **more: Any) -> Request:
    return {"TransactItems": list(operations), **more}


def update(**request: Any) -> Request:
    return {"TableName": "tasks", "Key": ITEM, **request}


def query(condition: str = "pk = :pk", values: Request | None = None, **more: Any) -> Request:
    given = {":pk": PK, **(values or {})}
    return {"KeyConditionExpression": condition, "ExpressionAttributeValues": given, **more}


def between(first: str, last: str, **more: Any) -> Request:
    values = {":first": {"S": first}, ":last": {"S": last}}
    return query("pk = :pk AND sk BETWEEN :first AND :last", values, **more)


def nested(depth: int) -> Request:
    value: Request = {"S": ""}
    for _ in range(depth - 1):
        value = {"M": {"inner": value}}
    return value


def message(**more: Any) -> Request:
    ids = {"MessageGroupId": "g", "MessageDeduplicationId": "d"}
    return {"QueueUrl": URL, "MessageBody": "{}", **ids, **more}


def entries(count: int, **more: Any) -> Request:
    one = {name: value for name, value in message(**more).items() if name != "QueueUrl"}
    return {"QueueUrl": URL, "Entries": [{"Id": str(number), **one} for number in range(count)]}


ROOM = 400 * KIB - len("pk") - len("TASK#1") - len("sk") - len("TASK") - len("body")
OPERANDS = ", ".join(f":v{number}" for number in range(101))
HUNDRED_AND_ONE = {f":v{number}": {"N": "1"} for number in range(101)}
HUNDRED = {f":v{number}": {"N": "1"} for number in range(100)}


@pytest.mark.parametrize(
    ("operation", "request_", "rule"),
    [
        ("PutItem", put(body=text(ROOM + 1))["Put"], "at most 409600 bytes"),
        ("PutItem", {"Item": {"pk": PK}}, "a key is pk, sk"),
        ("PutItem", {"Item": {**ITEM, "pk": {"S": ""}}}, "1 to 2048 bytes"),
        ("PutItem", {"Item": {**ITEM, "pk": text(2049)}}, "1 to 2048 bytes"),
        ("PutItem", {"Item": {**ITEM, "sk": text(1025)}}, "1 to 1024 bytes"),
        ("PutItem", {"Item": {**ITEM, "sk": {"N": "1"}}}, "so it is text"),
        ("PutItem", {"Item": {**ITEM, "due_at": {"S": ""}}}, "due_at is a key"),
        ("PutItem", {"Item": {**ITEM, "due_shard": {"N": "1"}}}, "due_shard is a key"),
        ("PutItem", {"Item": {**ITEM, "responsible_user": text(2049)}}, "responsible_user is a key"),
        ("PutItem", {"Item": {**ITEM, "": {"S": "x"}}}, "1 to 65535 bytes"),
        ("GetItem", {"Key": {"pk": PK}}, "a key is pk, sk"),
        ("GetItem", {"Key": {**ITEM, "more": SK}}, "a key is pk, sk"),
        (
            "GetItem",
            {"Key": ITEM, "ProjectionExpression": "pk, #a", "ExpressionAttributeNames": {"#b": "b"}},
            "given and not",
        ),
        ("GetItem", {"Key": ITEM, "ProjectionExpression": "pk, status"}, "status is reserved"),
        ("GetItem", {"Key": ITEM, "ProjectionExpression": "x" * 4097}, "at most 4096 bytes"),
        ("DeleteItem", {"Key": ITEM, "ConditionExpression": ""}, "is not empty"),
        ("DeleteItem", {"Key": ITEM, "ConditionExpression": "a = 'b'"}, "is no expression"),
        ("UpdateItem", update(UpdateExpression="SET owner = :v"), "owner is reserved"),
        ("UpdateItem", update(UpdateExpression="SET a = :v"), "used and not given"),
        ("UpdateItem", update(UpdateExpression="SET a = #b"), "used and not given"),
        (
            "UpdateItem",
            update(
                UpdateExpression="SET a = :v", ExpressionAttributeValues={":v": {"S": ""}, ":w": {"S": ""}}
            ),
            "given and not used",
        ),
        (
            "UpdateItem",
            update(UpdateExpression="REMOVE a", ExpressionAttributeValues={}),
            "leave it out",
        ),
        (
            "UpdateItem",
            update(UpdateExpression="REMOVE a", ExpressionAttributeNames={"a": "b"}),
            "begins with #",
        ),
        (
            "UpdateItem",
            update(UpdateExpression="SET sk = :v", ExpressionAttributeValues={":v": SK}),
            "sk is the table's key",
        ),
        (
            "UpdateItem",
            update(
                UpdateExpression="SET #d = :v",
                ExpressionAttributeNames={"#d": "due_at"},
                ExpressionAttributeValues={":v": {"S": ""}},
            ),
            "due_at is a key",
        ),
        (
            "UpdateItem",
            update(UpdateExpression="SET a = :v", ExpressionAttributeValues={":v": text(400 * KIB)}),
            "an update makes an item",
        ),
        (
            "UpdateItem",
            update(
                UpdateExpression="REMOVE a",
                ConditionExpression=f"b IN ({OPERANDS})",
                ExpressionAttributeValues=HUNDRED_AND_ONE,
            ),
            "at most 100 operands",
        ),
        (
            "UpdateItem",
            update(
                UpdateExpression="REMOVE a", ConditionExpression=" OR ".join(["attribute_exists(b)"] * 151)
            ),
            "at most 300 operators",
        ),
        ("TransactWriteItems", transaction(), "1 to 100 operations"),
        ("TransactWriteItems", transaction(*map(put, range(101))), "1 to 100 operations"),
        (
            "TransactWriteItems",
            transaction(*(put(number, body=text(390 * KIB)) for number in range(11))),
            "at most 4194304 bytes",
        ),
        ("TransactWriteItems", transaction(put(), {"Delete": {"TableName": "tasks", "Key": ITEM}}), "once"),
        ("TransactWriteItems", transaction(put(), ClientRequestToken="t" * 37), "1 to 36 characters"),
        ("TransactWriteItems", transaction(put(body=text(ROOM + 1))), "at most 409600 bytes"),
        ("BatchGetItem", {"RequestItems": {"tasks": {"Keys": []}}}, "1 to 100 items"),
        (
            "BatchGetItem",
            {"RequestItems": {"tasks": {"Keys": [item(number) for number in range(101)]}}},
            "1 to 100 items",
        ),
        ("BatchGetItem", {"RequestItems": {"tasks": {"Keys": [ITEM, ITEM]}}}, "once"),
        (
            "BatchWriteItem",
            {"RequestItems": {"tasks": [{"PutRequest": {"Item": item(number)}} for number in range(26)]}},
            "1 to 25 items",
        ),
        (
            "BatchWriteItem",
            {
                "RequestItems": {
                    "tasks": [{"PutRequest": {"Item": ITEM}}, {"DeleteRequest": {"Key": ITEM}}],
                }
            },
            "once",
        ),
        ("Query", query("sk = :pk"), "by one pk"),
        ("Query", query("pk = :pk OR sk = :pk"), "not asked for that way"),
        ("Query", query("pk = :pk AND colour = :pk"), "by one pk"),
        ("Query", query("pk = :pk AND sk > :pk AND sk < :pk"), "stands in one condition"),
        ("Query", query("pk >= :pk"), "by one pk"),
        ("Query", query(IndexName="none"), "there is no index"),
        ("Query", query("due_shard = :pk", IndexName="due", ConsistentRead=True), "no consistent read"),
        ("Query", query(Limit=0), "at least one item"),
        ("Query", query("pk = :pk AND sk = :sk", {":sk": {"S": ""}}), "1 to 1024 bytes"),
        ("Query", query(FilterExpression="sk = :pk"), "a filter is not by a key"),
        ("Query", between("b", "a"), "from the lesser to the greater"),
        ("Query", between("a", "b", ExclusiveStartKey={"pk": PK}), "a start is"),
        ("Query", between("a", "b", ExclusiveStartKey={"pk": {"S": "TASK#2"}, "sk": {"S": "a"}}), "within"),
        ("Query", between("a", "b", ExclusiveStartKey={"pk": PK, "sk": {"S": "c"}}), "within"),
    ],
)
def test_the_checker_refuses_what_dynamodb_does(operation: str, request_: Request, rule: str) -> None:
    with pytest.raises(AwsWouldRefuse, match=rule):
        dynamodb.check(operation, request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("PutItem", put(body=text(ROOM))["Put"]),
        ("PutItem", {"Item": {"pk": text(2048), "sk": text(1024)}}),
        ("GetItem", {"Key": ITEM}),
        (
            "GetItem",
            {"Key": ITEM, "ProjectionExpression": "pk, #s", "ExpressionAttributeNames": {"#s": "status"}},
        ),
        (
            "UpdateItem",
            update(
                UpdateExpression="SET a = :v0 REMOVE b",
                ConditionExpression=f"b IN ({', '.join(HUNDRED)})",
                ExpressionAttributeValues=HUNDRED,
            ),
        ),
        ("TransactWriteItems", transaction(*map(put, range(100)), ClientRequestToken="t" * 36)),
        (
            "BatchGetItem",
            {"RequestItems": {"tasks": {"Keys": [item(number) for number in range(100)]}}},
        ),
        (
            "BatchWriteItem",
            {"RequestItems": {"tasks": [{"PutRequest": {"Item": item(number)}} for number in range(25)]}},
        ),
        ("Query", between("a", "a", ExclusiveStartKey={"pk": PK, "sk": {"S": "a"}}, ConsistentRead=True)),
        ("Query", query("pk = :pk AND begins_with(sk, :sk)", {":sk": {"S": "MSG#"}}, Limit=1)),
        ("Query", query("due_shard = :pk AND due_at <= :now", {":now": {"S": "2026"}}, IndexName="due")),
    ],
)
def test_the_checker_takes_what_is_just_right(operation: str, request_: Request) -> None:
    dynamodb.check(operation, request_)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ({"N": "1" * 39}, "at most 38 digits"),
        ({"N": "1E126"}, "too large or too small"),
        ({"N": "-1E-131"}, "too large or too small"),
        ({"N": "NaN"}, "no number"),
        ({"N": "one"}, "no number"),
        (nested(33), "at most 32 deep"),
        ({"L": [{"N": "NaN"}]}, "no number"),
        ({"M": {"": {"S": "x"}}}, "not empty"),
        ({"S": "x", "N": "1"}, "exactly one type"),
        ({"SS": []}, "a set is not empty"),
        ({"SS": ["a", "a"]}, "nothing twice"),
        ({"NULL": False}, "a null is true"),
        ({"X": "x"}, "no type X"),
    ],
)
def test_the_checker_refuses_a_value_that_dynamodb_does(value: Request, rule: str) -> None:
    with pytest.raises(AwsWouldRefuse, match=rule):
        check_value(value)


@pytest.mark.parametrize(
    "value", [{"N": "1" * 38}, {"N": "0"}, {"N": "1E125"}, nested(32), {"S": ""}, {"SS": ["a", "b"]}]
)
def test_the_checker_takes_a_value_at_its_limit(value: Request) -> None:
    check_value(value)


def test_the_checker_sees_an_item_that_grew_too_large_by_updates() -> None:
    dynamodb.check_answer({"Item": item(body=text(ROOM))})
    with pytest.raises(AwsWouldRefuse, match="has grown"):
        dynamodb.check_answer({"Items": [item(body=text(ROOM + 1))]})


@pytest.mark.parametrize(
    ("operation", "request_", "rule"),
    [
        ("SendMessage", message(MessageBody=""), "is not empty"),
        ("SendMessage", message(MessageBody="x" * (MIB + 1)), "at most 1048576 bytes"),
        ("SendMessage", message(MessageBody="\x00"), "characters that XML has"),
        ("SendMessage", message(MessageBody="\ufffe"), "characters that XML has"),
        ("SendMessage", message(MessageGroupId=""), "MessageGroupId is 1 to 128"),
        ("SendMessage", message(MessageGroupId="g" * 129), "MessageGroupId is 1 to 128"),
        ("SendMessage", message(MessageGroupId="a b"), "MessageGroupId is 1 to 128"),
        ("SendMessage", message(MessageDeduplicationId="é"), "MessageDeduplicationId is 1 to 128"),
        ("SendMessage", {"QueueUrl": URL, "MessageBody": "{}"}, "MessageGroupId is 1 to 128"),
        ("SendMessage", message(DelaySeconds=1), "no delay of its own"),
        (
            "SendMessage",
            {"QueueUrl": "https://sqs/q", "MessageBody": "x", "DelaySeconds": 901},
            "DelaySeconds is 0 to 900",
        ),
        ("SendMessage", message(MessageSystemAttributes={"Other": {}}), "only AWSTraceHeader"),
        (
            "SendMessage",
            message(MessageAttributes={f"a{number}": {"DataType": "String"} for number in range(11)}),
            "at most 10 attributes",
        ),
        ("SendMessageBatch", entries(0), "1 to 10 entries"),
        ("SendMessageBatch", entries(11), "1 to 10 entries"),
        ("SendMessageBatch", entries(2, Id="same"), "an id of its own"),
        ("SendMessageBatch", entries(1, Id="a.b"), "1 to 80 of"),
        ("SendMessageBatch", entries(2, MessageBody="x" * (MIB // 2 + 1)), "at most 1048576 bytes"),
        ("DeleteMessageBatch", entries(11), "1 to 10 entries"),
        ("ChangeMessageVisibility", {"VisibilityTimeout": 43_201}, "0 to 43200"),
        ("ChangeMessageVisibility", {"VisibilityTimeout": -1}, "0 to 43200"),
        ("ChangeMessageVisibilityBatch", entries(1, VisibilityTimeout=43_201), "0 to 43200"),
        ("ReceiveMessage", {"MaxNumberOfMessages": 11}, "1 to 10"),
        ("ReceiveMessage", {"MaxNumberOfMessages": 0}, "1 to 10"),
        ("ReceiveMessage", {"WaitTimeSeconds": 21}, "0 to 20"),
        ("ReceiveMessage", {"VisibilityTimeout": 43_201}, "0 to 43200"),
    ],
)
def test_the_checker_refuses_what_sqs_does(operation: str, request_: Request, rule: str) -> None:
    with pytest.raises(AwsWouldRefuse, match=rule):
        sqs.check(operation, request_)


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("SendMessage", message(MessageBody="x" * MIB, MessageGroupId="!" * 128)),
        ("SendMessage", {"QueueUrl": "https://sqs/q", "MessageBody": "x", "DelaySeconds": 900}),
        ("SendMessageBatch", entries(10)),
        ("ChangeMessageVisibility", {"VisibilityTimeout": 43_200}),
        ("ReceiveMessage", {"MaxNumberOfMessages": 10, "WaitTimeSeconds": 20, "VisibilityTimeout": 0}),
    ],
)
def test_the_checker_takes_what_sqs_just_takes(operation: str, request_: Request) -> None:
    sqs.check(operation, request_)


def test_the_checker_refuses_what_s3_does() -> None:
    s3.check("PutObject", {"Key": "é" * 512, "Metadata": {"a": "b" * 2047}})
    for request, rule in (
        ({"Key": "é" * 513}, "1 to 1024 bytes"),
        ({"Key": ""}, "1 to 1024 bytes"),
        ({"Key": "k", "Metadata": {"a": "b" * 2048}}, "at most 2048 bytes"),
    ):
        with pytest.raises(AwsWouldRefuse, match=rule):
            s3.check("PutObject", request)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """A client of a watched session, which nothing is behind."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    session = botocore.session.get_session()
    watch(session)
    watch(session)

    def make(service: str) -> Any:
        return session.create_client(
            service,
            region_name="eu-central-1",
            endpoint_url="http://127.0.0.1:9",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=1),
        )

    return make


def test_every_client_of_a_watched_session_refuses_before_anything_is_sent(
    client: Callable[[str], Any],
) -> None:
    with pytest.raises(AwsWouldRefuse, match="1 to 100 operations"):
        client("dynamodb").transact_write_items(**transaction())
    with pytest.raises(AwsWouldRefuse, match="is not empty"):
        client("sqs").send_message(**message(MessageBody=""))
    with pytest.raises(AwsWouldRefuse, match="1 to 1024 bytes"):
        client("s3").head_object(Bucket="files", Key="k" * 1025)


def test_a_url_of_a_watched_session_lasts_a_week_at_most(client: Callable[[str], Any]) -> None:
    files = client("s3")
    week = {"ClientMethod": "get_object", "Params": {"Bucket": "files", "Key": "k"}}

    assert files.generate_presigned_url(**week, ExpiresIn=604_800)
    for seconds in (0, 604_801):
        with pytest.raises(AwsWouldRefuse, match="a URL lasts"):
            files.generate_presigned_url(**week, ExpiresIn=seconds)
    with pytest.raises(AwsWouldRefuse, match="1 to 1024 bytes"):
        files.generate_presigned_url(
            ClientMethod="get_object", Params={"Bucket": "files", "Key": "k" * 1025}, ExpiresIn=60
        )
