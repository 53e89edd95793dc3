"""The stack of whoever is on call: alarms, whom they tell, and the dashboard.

It is a stack of its own, so that a threshold is changed without touching the product, and no mistake in it can hold up
or roll back a deployment of the product.
"""

from aws_cdk import CfnOutput, Stack
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.alarms import Alarms
from infra.dashboard import Dashboard
from infra.metrics import Counted
from infra.stack import Turnkeeper
from infra.stage import Stage


class Operations(Stack):
    """What shows how *product* is, and wakes somebody when it is not well."""

    def __init__(
        self, scope: Construct, id_: str, *, product: Turnkeeper, stage: Stage, stack_name: str
    ) -> None:
        super().__init__(scope, id_, stack_name=stack_name)
        counted = Counted(stage)
        self.alarms = Alarms(self, "Alarms", product=product, counted=counted)
        if stage.alarm_target is not None:
            tell = actions.SnsAction(self._target(stage.alarm_target, product))
            for alarm in self.alarms.all:
                alarm.add_alarm_action(tell)
                # Who was woken wants to know that it is over.
                alarm.add_ok_action(tell)
        self.dashboard = Dashboard(self, "Dashboard", product=product, counted=counted, alarms=self.alarms)
        CfnOutput(self, "DashboardName", value=self.dashboard.board.dashboard_name)

    def _target(self, target: str, product: Turnkeeper) -> sns.ITopic:
        if target.startswith("arn:"):
            return sns.Topic.from_topic_arn(self, "Target", target)
        topic = sns.Topic(self, "Target", enforce_ssl=True, master_key=product.keys.own)
        # A policy that refuses whoever comes without TLS is all of the policy: it must let the alarms in, too.
        topic.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("cloudwatch.amazonaws.com")],
                actions=["sns:Publish"],
                resources=[topic.topic_arn],
                conditions={"StringEquals": {"aws:SourceAccount": self.account}},
            )
        )
        topic.add_subscription(subscriptions.EmailSubscription(target))
        CfnOutput(self, "AlarmTopicArn", value=topic.topic_arn)
        return topic
