"""Wake-ups travel through FIFO queues, ours and each external host's own; what nobody could handle ends beside them."""

from aws_cdk import Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sqs as sqs
from constructs import Construct

MAX_RECEIVES = 10
"""More than the attempts of any agent, so that only what nobody can handle becomes a dead letter."""

RECEIVE = [
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:ChangeMessageVisibility",
    "sqs:GetQueueAttributes",
]
"""What it takes to be woken: nothing that puts a message in, and nothing about any other queue."""


class Queues(Construct):
    """Wake-ups, one FIFO group per task, and the letters nobody could deliver."""

    def __init__(self, scope: Construct, id_: str, *, visibility_seconds: int, key: kms.IKey | None) -> None:
        super().__init__(scope, id_)
        encryption = sqs.QueueEncryption.KMS if key else sqs.QueueEncryption.SQS_MANAGED
        self.dead_letters = sqs.Queue(
            self,
            "DeadLetters",
            fifo=True,
            retention_period=Duration.days(14),
            encryption=encryption,
            encryption_master_key=key,
            enforce_ssl=True,
        )
        self.wake_ups = sqs.Queue(
            self,
            "WakeUps",
            fifo=True,
            # A deduplication id is always sent: two wake-ups with the same words are not the same wake-up.
            content_based_deduplication=False,
            deduplication_scope=sqs.DeduplicationScope.MESSAGE_GROUP,
            fifo_throughput_limit=sqs.FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
            visibility_timeout=Duration.seconds(visibility_seconds),
            retention_period=Duration.days(14),
            encryption=encryption,
            encryption_master_key=key,
            enforce_ssl=True,
            dead_letter_queue=sqs.DeadLetterQueue(queue=self.dead_letters, max_receive_count=MAX_RECEIVES),
        )

    def let_receive(self, arn: str) -> None:
        """Let the role or user *arn* be woken by this queue."""
        self.wake_ups.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ArnPrincipal(arn)], actions=RECEIVE, resources=[self.wake_ups.queue_arn]
            )
        )
