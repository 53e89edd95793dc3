"""What is at rest is under keys that AWS keeps, or under one key of the deployment's own.

With AWS's keys nobody has to be let in. A key of one's own is a second lock: whoever may read the table must be let
into the key as well, and only for reading the table.
"""

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.stage import Stage

OWN = "own"
USE = [
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:GenerateDataKeyWithoutPlaintext",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
]
"""What a service does with a key in the name of whoever reads or writes through it."""


class Keys(Construct):
    """The key of the deployment's own, where it has one."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage) -> None:
        super().__init__(scope, id_)
        self.own: kms.IKey | None = None
        if stage.encryption_key == OWN:
            self.own = kms.Key(
                self,
                "Key",
                description=f"What Turnkeeper ({stage.stage}) keeps.",
                enable_key_rotation=True,
                pending_window=Duration.days(30 if stage.keep_data else 7),
                removal_policy=RemovalPolicy.RETAIN if stage.keep_data else RemovalPolicy.DESTROY,
            )
            self._let_logs_in(self.own)
            if stage.operations:
                self._let_alarms_in(self.own)
        elif stage.encryption_key is not None:
            # Its policy is its owner's: docs/guide/deploy.md says what it must allow.
            self.own = kms.Key.from_key_arn(self, "Key", stage.encryption_key)

    def let_use(self, function: lambda_.Function) -> None:
        """Let *function* read and write what is under the key, through the services that keep it and not by itself."""
        if self.own is not None:
            function.add_to_role_policy(
                iam.PolicyStatement(
                    actions=USE,
                    resources=[self.own.key_arn],
                    conditions=self._only_through("dynamodb", "sqs", "s3"),
                )
            )

    def let_receive(self, arn: str) -> None:
        """Let the role or user *arn* read the messages that a queue hands it."""
        if self.own is not None:
            self.own.add_to_resource_policy(
                iam.PolicyStatement(
                    principals=[iam.ArnPrincipal(arn)],
                    actions=["kms:Decrypt"],
                    resources=["*"],
                    conditions=self._only_through("sqs"),
                )
            )

    def _only_through(self, *services: str) -> dict[str, object]:
        region, suffix = Stack.of(self).region, Stack.of(self).url_suffix
        return {"StringEquals": {"kms:ViaService": [f"{service}.{region}.{suffix}" for service in services]}}

    def _let_logs_in(self, key: kms.IKey) -> None:
        stack = Stack.of(self)
        logs = stack.format_arn(service="logs", resource="*")
        # In a key's own policy "*" is the key. Only what CloudWatch keeps for this account is meant.
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
                actions=USE,
                resources=["*"],
                conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": logs}},
            )
        )

    def _let_alarms_in(self, key: kms.IKey) -> None:
        """Let CloudWatch tell a topic under *key* of an alarm of this account."""
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            )
        )
