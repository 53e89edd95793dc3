"""Push: what is followed, on what terms, and where that goes which nobody could tell."""

import json

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise
from tests.infra.reading import function_of, of_type, only


def test_what_was_written_before_and_after_is_in_the_stream(template: Template) -> None:
    stream = only(template, "DynamoDB::Table")["StreamSpecification"]

    assert stream == {"StreamViewType": "NEW_AND_OLD_IMAGES"}


def test_no_record_blocks_its_shard_and_none_is_told_for_nothing(template: Template) -> None:
    (table,) = of_type(template, "DynamoDB::Table")
    publish, _ = function_of(template, "publish")
    (mapping,) = [
        mapping
        for mapping in of_type(template, "Lambda::EventSourceMapping").values()
        if mapping["EventSourceArn"] == {"Fn::GetAtt": [table, "StreamArn"]}
    ]

    assert mapping["FunctionName"] == {"Ref": publish}
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BisectBatchOnFunctionError"] is True
    assert (mapping["MaximumRetryAttempts"], mapping["MaximumRecordAgeInSeconds"]) == (100, 3_600)
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert (mapping["BatchSize"], mapping["ParallelizationFactor"]) == (100, 2)
    assert mapping["DestinationConfig"] == {
        "OnFailure": {"Destination": {"Fn::GetAtt": [untold_of(template), "Arn"]}}
    }
    (pattern,) = [json.loads(one["Pattern"]) for one in mapping["FilterCriteria"]["Filters"]]
    assert pattern == {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": ["TASK"]}}}}


def test_the_queue_of_the_untold_is_encrypted_and_closed_and_keeps_for_two_weeks(
    template: Template, synthesise: Synthesise
) -> None:
    queue = of_type(template, "SQS::Queue")[untold_of(template)]
    own = synthesise(encryption_key="own")

    assert queue["SqsManagedSseEnabled"] is True
    assert queue["MessageRetentionPeriod"] == 14 * 86_400
    assert "KmsMasterKeyId" in of_type(own, "SQS::Queue")[untold_of(own)]


def test_the_bus_is_one_stacks_own_and_nobody_beyond_the_account_is_let_onto_it(template: Template) -> None:
    # As the stack of the tests is called: the one name that is a stage's own.
    assert only(template, "Events::EventBus")["Name"] == "turnkeeper-test"
    assert of_type(template, "Events::EventBusPolicy") == {}


def untold_of(template: Template) -> str:
    """Return the logical id of the queue of what could not be told."""
    (found,) = [name for name in of_type(template, "SQS::Queue") if name.startswith("PushUntold")]
    return found
