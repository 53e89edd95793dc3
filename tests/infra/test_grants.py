"""Least privilege: exactly which actions each function may take, on exactly what."""

from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.infra.reading import files_of, function_of, of_type

LOG = {"logs:CreateLogStream", "logs:PutLogEvents"}
TRACE = {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}
CONSUME = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
}
ONE_TASK = {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"}
MANY = {"dynamodb:BatchGetItem", "dynamodb:Query"}
# Pointers to what waits for somebody go with the wait.
ENDS_WAITS = {"dynamodb:DeleteItem"}

GET_FILES = {"s3:GetObject", "s3:GetObjectVersion"}
FILES = {
    "files/task/*": GET_FILES | {"s3:PutObject"},
    "files/agent/*": GET_FILES,
    "files/workspace/*": GET_FILES,
}

GRANTS = {
    "status": {"table": ONE_TASK},
    "tasks": {
        "table": ONE_TASK | MANY | ENDS_WAITS,
        "table/index/mine": {"dynamodb:Query"},
        "queue": {"sqs:SendMessage"},
        **FILES,
    },
    "host": {"table": ONE_TASK | MANY | ENDS_WAITS, "queue": {"sqs:SendMessage"}, **FILES},
    "turns": {"table": ONE_TASK | MANY | ENDS_WAITS, "queue": CONSUME | {"sqs:SendMessage"}},
    "sweep": {
        "table": ONE_TASK | MANY | ENDS_WAITS | {"dynamodb:BatchWriteItem"},
        "table/index/due": {"dynamodb:Query"},
        "queue": {"sqs:SendMessage"},
        "files if {'StringLike': {'s3:prefix': 'task/*'}}": {"s3:ListBucketVersions"},
        "files/task/*": {"s3:DeleteObject", "s3:DeleteObjectVersion"},
    },
    # Nothing of the table itself: what was written comes by the stream.
    "publish": {
        "table's stream": {"dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"},
        "table/stream/*": {"dynamodb:ListStreams"},
        "bus": {"events:PutEvents"},
        "untold": {"sqs:SendMessage"},
    },
}


@pytest.mark.parametrize("name", GRANTS)
def test_a_function_may_do_exactly_what_its_work_takes(template: Template, name: str) -> None:
    # A trace has no ARN: X-Ray is the one wildcard.
    assert granted(template, name) == GRANTS[name] | {"its log": LOG, "*": TRACE}


@pytest.mark.parametrize("name", GRANTS)
def test_a_role_is_one_functions_own_and_holds_nothing_that_aws_manages(
    template: Template, name: str
) -> None:
    role_id = role_of(template, name)
    role = of_type(template, "IAM::Role")[role_id]

    assert "ManagedPolicyArns" not in role
    assert [statement["Principal"] for statement in role["AssumeRolePolicyDocument"]["Statement"]] == [
        {"Service": "lambda.amazonaws.com"}
    ]
    assert [other for other in GRANTS if role_of(template, other) == role_id] == [name]


def test_there_is_no_role_and_no_policy_but_the_functions(template: Template) -> None:
    assert len(of_type(template, "IAM::Role")) == len(GRANTS)
    assert len(of_type(template, "IAM::Policy")) == len(GRANTS)


def role_of(template: Template, name: str) -> str:
    """Return the logical id of the role of the function *name*."""
    role_id: str = function_of(template, name)[1]["Role"]["Fn::GetAtt"][0]
    return role_id


def granted(template: Template, name: str) -> dict[str, set[str]]:
    """Return the actions that the function *name* may take, by the name of what it may take them on."""
    role_id = role_of(template, name)
    found: dict[str, set[str]] = {}
    for policy in of_type(template, "IAM::Policy").values():
        if {"Ref": role_id} not in policy["Roles"]:
            continue
        for statement in policy["PolicyDocument"]["Statement"]:
            assert statement["Effect"] == "Allow"
            for resource in as_list(statement["Resource"]):
                only_if = f" if {statement['Condition']}" if "Condition" in statement else ""
                where = named(template, name, resource) + only_if
                found.setdefault(where, set()).update(as_list(statement["Action"]))
    return found


def named(template: Template, name: str, resource: Any) -> str:
    """Return what *resource* is: the table, an index, a root of files, a queue or the function's own log."""
    match resource:
        case "*":
            return "*"
        case {"Fn::GetAtt": [logical_id, "StreamArn"]}:
            return f"{named(template, name, {'Fn::GetAtt': [logical_id, 'Arn']})}'s stream"
        case {"Fn::GetAtt": [logical_id, "Arn"]}:
            return named_of_ours(template, name, logical_id)
        case str(arn):
            return arn
        case {"Fn::Join": ["", [arn, suffix]]}:
            return named(template, name, arn) + str(suffix)
    raise AssertionError(resource)


def named_of_ours(template: Template, name: str, logical_id: str) -> str:
    """Return what the resource of this *logical_id* is to the function *name*."""
    (table,), (bucket, _) = of_type(template, "DynamoDB::Table"), files_of(template)
    (bus,) = of_type(template, "Events::EventBus")
    construct, _, is_queue = logical_id.partition("WakeUps")
    if is_queue:
        return "queue" if construct == "Queues" else construct
    if logical_id.startswith("PushUntold"):
        return "untold"
    log = function_of(template, name)[1]["LoggingConfig"]["LogGroup"]["Ref"]
    return {table: "table", bucket: "files", log: "its log", bus: "bus"}[logical_id]


def as_list(one_or_many: Any) -> list[Any]:
    """Return a list, as which a policy may write one thing alone."""
    return one_or_many if isinstance(one_or_many, list) else [one_or_many]
