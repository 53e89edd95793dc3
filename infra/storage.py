"""One table holds everything; two narrow indexes find a person's tasks and whatever is due."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

MINE, DUE = "mine", "due"


class Storage(Construct):
    """The task table, with its index of a person's tasks and its index of due times."""

    def __init__(self, scope: Construct, id_: str, *, keep_data: bool) -> None:
        super().__init__(scope, id_)
        self.table = dynamodb.Table(
            self,
            "Table",
            partition_key=string("pk"),
            sort_key=string("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.AWS_MANAGED,
            time_to_live_attribute="expires_at",
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=keep_data,
            removal_policy=RemovalPolicy.RETAIN if keep_data else RemovalPolicy.DESTROY,
        )
        for name, partition, sort in (
            (MINE, "responsible_user", "created_key"),
            (DUE, "due_shard", "due_at"),
        ):
            self.table.add_global_secondary_index(
                index_name=name,
                partition_key=string(partition),
                sort_key=string(sort),
                projection_type=dynamodb.ProjectionType.KEYS_ONLY,
            )

    def index_arn(self, name: str) -> str:
        """Return the ARN of the index *name*, for a grant that reaches nothing else."""
        return f"{self.table.table_arn}/index/{name}"


def string(name: str) -> dynamodb.Attribute:
    """Return a key attribute that holds a string."""
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
