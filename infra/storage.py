"""One table holds everything; two narrow indexes find a person's tasks and whatever is due."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.stage import Stage

MINE, DUE = "mine", "due"


class Storage(Construct):
    """The task table, with its index of a person's tasks and its index of due times."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage, key: kms.IKey | None) -> None:
        super().__init__(scope, id_)
        self.table = dynamodb.Table(
            self,
            "Table",
            partition_key=string("pk"),
            sort_key=string("sk"),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            encryption=dynamodb.TableEncryption.CUSTOMER_MANAGED
            if key
            else dynamodb.TableEncryption.AWS_MANAGED,
            encryption_key=key,
            time_to_live_attribute="expires_at",
            stream=dynamodb.StreamViewType.NEW_AND_OLD_IMAGES,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=stage.point_in_time_recovery
            ),
            deletion_protection=stage.deletion_protection,
            removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
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

    @property
    def resource(self) -> dynamodb.CfnTable:
        """The table as the template has it."""
        cfn = self.table.node.default_child
        assert isinstance(cfn, dynamodb.CfnTable)  # noqa: S101 - what a table of the CDK's is made of
        return cfn

    def index_arn(self, name: str) -> str:
        """Return the ARN of the index *name*, for a grant that reaches nothing else."""
        return f"{self.table.table_arn}/index/{name}"


def string(name: str) -> dynamodb.Attribute:
    """Return a key attribute that holds a string."""
    return dynamodb.Attribute(name=name, type=dynamodb.AttributeType.STRING)
