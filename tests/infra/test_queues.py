"""The queue of wake-ups, and what AWS would refuse of it but the offline engine would not."""

from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise
from tests.infra.reading import function_of, of_type


@pytest.fixture(scope="module")
def queues(template: Template) -> dict[str, dict[str, Any]]:
    found = of_type(template, "SQS::Queue")
    ours = {name: queue for name, queue in found.items() if name.startswith("Queues")}
    return {"dead" if "DeadLetters" in name else "wake": queue for name, queue in ours.items()}


def test_a_wake_up_stays_hidden_at_least_as_long_as_a_turn_may_run(synthesise: Synthesise) -> None:
    for seconds in (900, 60):
        template = synthesise(turn_timeout_seconds=seconds, lease_seconds=30)
        (hidden,) = [
            queue["VisibilityTimeout"]
            for name, queue in of_type(template, "SQS::Queue").items()
            if "WakeUps" in name
        ]
        _, turns = function_of(template, "turns")

        assert turns["Timeout"] == seconds
        assert hidden >= turns["Timeout"]


def test_each_task_is_a_group_of_its_own_with_its_own_throughput(queues: dict[str, Any]) -> None:
    assert queues["wake"]["FifoQueue"] is True
    assert queues["wake"]["DeduplicationScope"] == "messageGroup"
    assert queues["wake"]["FifoThroughputLimit"] == "perMessageGroupId"


def test_two_wake_ups_with_the_same_words_are_two(queues: dict[str, Any]) -> None:
    assert queues["wake"]["ContentBasedDeduplication"] is False


def test_what_nobody_can_deliver_ends_in_a_dead_letter_queue_after_more_tries_than_any_agent_has(
    template: Template, queues: dict[str, Any]
) -> None:
    (dead,) = [name for name in of_type(template, "SQS::Queue") if "DeadLetters" in name]

    assert queues["wake"]["RedrivePolicy"] == {
        "deadLetterTargetArn": {"Fn::GetAtt": [dead, "Arn"]},
        "maxReceiveCount": 10,
    }
    assert queues["dead"]["FifoQueue"] is True


@pytest.mark.parametrize("name", ["wake", "dead"])
def test_a_queue_keeps_its_messages_encrypted_for_two_weeks(queues: dict[str, Any], name: str) -> None:
    assert queues[name]["MessageRetentionPeriod"] == 14 * 24 * 60 * 60
    assert queues[name]["SqsManagedSseEnabled"] is True


def test_a_queue_refuses_whoever_comes_without_tls(template: Template) -> None:
    refusals = [
        statement
        for policy in of_type(template, "SQS::QueuePolicy").values()
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    ]

    assert [(refusal["Effect"], refusal["Action"]) for refusal in refusals] == [("Deny", "sqs:*")] * 3


def test_a_worker_gets_one_wake_up_at_a_time_and_hands_back_only_what_failed(synthesise: Synthesise) -> None:
    template = synthesise(turns_concurrency=7)
    turns, _ = function_of(template, "turns")
    (wake,) = [name for name in of_type(template, "SQS::Queue") if "WakeUps" in name]

    (mapping,) = [
        found
        for found in of_type(template, "Lambda::EventSourceMapping").values()
        if found["FunctionName"] == {"Ref": turns}
    ]
    assert mapping == {
        "BatchSize": 1,
        "EventSourceArn": {"Fn::GetAtt": [wake, "Arn"]},
        "FunctionName": {"Ref": turns},
        "FunctionResponseTypes": ["ReportBatchItemFailures"],
        "ScalingConfig": {"MaximumConcurrency": 7},
    }


def test_no_function_reserves_concurrency_since_its_throttling_would_feed_the_dead_letter_queue(
    template: Template,
) -> None:
    for name, function in of_type(template, "Lambda::Function").items():
        assert "ReservedConcurrentExecutions" not in function, name
