"""Push: the table's stream brings whatever changes a task's status to `publish`, which tells it on a bus of our own.

No record blocks its shard: a batch that fails is halved, tried again for a bounded time, and let go into a queue.
"""

import json

from aws_cdk import Duration, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

TASK_IS_WRITTEN: dict[str, object] = {
    "eventName": ["INSERT", "MODIFY"],
    "dynamodb": {"Keys": {"sk": {"S": ["TASK"]}}},
}
"""The records that the function is called for: of a task's own item, and not of its deletion."""
LONGEST_AGE_SECONDS = 3_600
"""What could not be told for so long, a GET has told since."""
MOST_RETRIES = 100


class Push(Construct):
    """The event bus, and the queue of what could not be told on it."""

    def __init__(self, scope: Construct, id_: str, *, key: kms.IKey | None) -> None:
        super().__init__(scope, id_)
        # A bus must have a name, and the CDK's own would be every stage's. Its events are under a key that AWS owns; it
        # keeps none but those that a target did not take yet.
        self.bus = events.EventBus(self, "Bus", event_bus_name=Stack.of(self).stack_name)
        self.untold = sqs.Queue(
            self,
            "Untold",
            retention_period=Duration.days(14),
            encryption=sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED,
            encryption_master_key=key,
            enforce_ssl=True,
        )

    def follow(self, table: dynamodb.Table, publish: lambda_.Function) -> None:
        """Have *publish* be called for what is written into *table*."""
        # Not the construct that grants by itself: its rights would be wider than what this takes.
        lambda_.CfnEventSourceMapping(
            self,
            "Stream",
            function_name=publish.function_name,
            event_source_arn=table.table_stream_arn,
            starting_position="TRIM_HORIZON",
            batch_size=100,
            # Of one task, all records stay in one line.
            parallelization_factor=2,
            function_response_types=["ReportBatchItemFailures"],
            bisect_batch_on_function_error=True,
            maximum_retry_attempts=MOST_RETRIES,
            maximum_record_age_in_seconds=LONGEST_AGE_SECONDS,
            destination_config=_let_go_to(self.untold),
            filter_criteria=_only(TASK_IS_WRITTEN),
        )


def _let_go_to(queue: sqs.Queue) -> lambda_.CfnEventSourceMapping.DestinationConfigProperty:
    return lambda_.CfnEventSourceMapping.DestinationConfigProperty(
        on_failure=lambda_.CfnEventSourceMapping.OnFailureProperty(destination=queue.queue_arn)
    )


def _only(records: dict[str, object]) -> lambda_.CfnEventSourceMapping.FilterCriteriaProperty:
    pattern = lambda_.CfnEventSourceMapping.FilterProperty(pattern=json.dumps(records))
    return lambda_.CfnEventSourceMapping.FilterCriteriaProperty(filters=[pattern])
