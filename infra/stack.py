"""The whole product on one page: what there is, what starts what, and who may touch what."""

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.acknowledged import acknowledge
from infra.api import Api
from infra.console import Console, origins_of
from infra.files import ROOTS, Files
from infra.functions import Functions
from infra.identity import Identity, SignInPage, TheirSignInPage, TrustedIssuer, UserPool
from infra.keys import Keys
from infra.push import Push
from infra.queues import Queues
from infra.stage import Stage, queue_of
from infra.storage import DUE, MINE, Storage

BRING = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"]
"""What Lambda does, in the name of a function, to bring it the messages of a queue."""


FOLLOW = ["dynamodb:DescribeStream", "dynamodb:GetRecords", "dynamodb:GetShardIterator"]
"""The same for a stream."""


class Turnkeeper(Stack):
    """The task API for AI agents."""

    def __init__(self, scope: Construct, id_: str, *, stage: Stage, stack_name: str) -> None:
        super().__init__(scope, id_, stack_name=stack_name, termination_protection=stage.deletion_protection)
        self.keys = Keys(self, "Keys", stage=stage)
        key = self.keys.own
        self.storage = Storage(self, "Storage", stage=stage, key=key)
        self.files = Files(self, "Files", stage=stage, pages=origins_of(stage), key=key)
        self.queues = Queues(self, "Queues", visibility_seconds=stage.queue_visibility_seconds, key=key)
        self.push = Push(self, "Push", key=key)
        self.host_queues = self._host_queues(stage)
        self.identity = self._identity(stage)
        self.functions = Functions(
            self,
            "Functions",
            stage=stage,
            table_name=self.storage.table.table_name,
            bucket_name=self.files.bucket.bucket_name,
            queue_url=self.queues.wake_ups.queue_url,
            host_queues={
                stage.external_hosts[name].principal: queues.wake_ups.queue_url
                for name, queues in self.host_queues.items()
            },
            human_claim=self.identity.human_claim,
            bus_name=self.push.bus.event_bus_name,
            untold_url=self.push.untold.queue_url,
            key=key,
        )
        self.api = Api(self, "Api", stage=stage, key=key)
        self.console = self._console(stage) if stage.console else None
        self.api.trust(self.identity)
        self._route()
        self._trigger(stage)
        self._grant(stage)
        self._tell(stage)
        acknowledge(
            self,
            stage=stage,
            bucket=self.get_logical_id(self.files.resource),
            table=self.get_logical_id(self.storage.resource),
            console=self.get_logical_id(self.console.resource) if self.console else None,
        )

    def _host_queues(self, stage: Stage) -> dict[str, Queues]:
        made = {}
        for name, host in stage.external_hosts.items():
            # A host says itself how long it keeps a message; else for as long as the turn that it starts.
            queues = Queues(self, queue_of(name), visibility_seconds=stage.lease_seconds, key=self.keys.own)
            if host.arn is not None:
                queues.let_receive(host.arn)
                self.keys.let_receive(host.arn)
            made[name] = queues
        return made

    def _identity(self, stage: Stage) -> Identity:
        if stage.oidc_issuer and stage.oidc_audience and stage.human_claim:
            return TrustedIssuer(
                self,
                "Identity",
                issuer=stage.oidc_issuer,
                audience=stage.oidc_audience,
                human_claim=stage.human_claim,
            )
        return UserPool(self, "Identity", stage=stage)

    def _console(self, stage: Stage) -> Console:
        page: SignInPage | TheirSignInPage
        if isinstance(self.identity, UserPool):
            page = SignInPage(self, "SignIn", people=self.identity, stage=stage)
        else:
            assert stage.console_sign_in is not None  # noqa: S101 - settings without it were refused
            page = TheirSignInPage(self.identity.issuer, stage.console_sign_in)
        console = Console(
            self, "Console", stage=stage, api=self.api.host, sign_in=page.origin, files=self.files.origin
        )
        console.hand_out(page.let_in(console.origin), key=self.keys.own)
        return console

    def _route(self) -> None:
        api, functions = self.api, self.functions
        api.people("GET /v1/tasks/{task_id}", functions.polls)
        api.people("POST /v1/tasks", functions.tasks)
        api.people("GET /v1/tasks", functions.tasks)
        api.people("GET /v1/tasks/{task_id}/messages", functions.tasks)
        api.people("POST /v1/tasks/{task_id}/inputs", functions.tasks)
        api.people("POST /v1/tasks/{task_id}/files", functions.tasks)
        api.people("GET /v1/tasks/{task_id}/files", functions.tasks)
        api.people("GET /v1/tasks/{task_id}/agent-status", functions.tasks)
        api.people("GET /v1/tasks/{task_id}/journal", functions.tasks)
        api.people("GET /v1/reviews", functions.tasks)
        api.people("POST /v1/reviews/{review_id}", functions.tasks)
        api.people("GET /v1/notifications", functions.tasks)
        api.people("GET /v1/agents", functions.tasks)
        api.people("GET /v1/agents/{name}", functions.tasks)
        api.hosts("ANY /v1/host/{proxy+}", functions.host)
        api.anyone("GET /v1/openapi.json", functions.tasks)
        api.anyone("$default", functions.tasks)

    def _trigger(self, stage: Stage) -> None:
        self.functions.turns.add_event_source_mapping(
            "WakeUps",
            event_source_arn=self.queues.wake_ups.queue_arn,
            batch_size=1,
            report_batch_item_failures=True,
            # Not reserved concurrency: that would throttle deliveries into the dead-letter queue.
            max_concurrency=stage.turns_concurrency,
        )
        self.push.follow(self.storage.table, self.functions.publish)
        # A sweep is not tried again: the next minute's is the retry, and two must not overlap.
        self.functions.sweep.configure_async_invoke(retry_attempts=0, max_event_age=Duration.minutes(1))
        events.Rule(
            self,
            "EachMinute",
            schedule=events.Schedule.rate(Duration.minutes(1)),
            enabled=stage.sweep_enabled,
            targets=[targets.LambdaFunction(self.functions.sweep, retry_attempts=0)],
        )

    def _grant(self, stage: Stage) -> None:
        functions, queue = self.functions, self.queues.wake_ups.queue_arn
        any_queue = [queue, *(queues.wake_ups.queue_arn for queues in self.host_queues.values())]
        table = self.storage.table.table_arn
        mine, due = self.storage.index_arn(MINE), self.storage.index_arn(DUE)
        read, write = ["dynamodb:GetItem"], ["dynamodb:PutItem", "dynamodb:UpdateItem"]
        # Whatever ends a wait takes away what pointed to it. Only the sweep deletes a task.
        several, ends = ["dynamodb:BatchGetItem", "dynamodb:Query"], ["dynamodb:DeleteItem"]

        # A poll past a task's expiry writes the expiry.
        allow(functions.status, [*read, *write], table)

        allow(functions.tasks, [*read, *several, *write, *ends], table)
        allow(functions.tasks, ["dynamodb:Query"], mine)
        allow(functions.tasks, ["sqs:SendMessage"], *any_queue)

        allow(functions.host, [*read, *several, *write, *ends], table)
        allow(functions.host, ["sqs:SendMessage"], *any_queue)

        # It takes no turn of an external host, but finds out that one may go on.
        allow(functions.turns, [*read, *several, *write, *ends], table)
        allow(functions.turns, ["sqs:SendMessage"], *any_queue)
        # What the service does in its name, and how it hides the message that it works on.
        allow(functions.turns, [*BRING, "sqs:ChangeMessageVisibility"], queue)
        if stage.host_functions:
            allow(functions.turns, ["lambda:InvokeFunction"], *stage.host_functions)

        if models := sorted({arn for agent in stage.bedrock_agents.values() for arn in agent.arns}):
            allow(functions.turns, ["bedrock:InvokeModelWithResponseStream"], *models)

        allow(functions.sweep, [*read, *several, *write, *ends, "dynamodb:BatchWriteItem"], table)
        allow(functions.sweep, ["dynamodb:Query"], due)
        allow(functions.sweep, ["sqs:SendMessage"], *any_queue)

        # It reads what was written from the stream, and nothing else of the table.
        stream = self.storage.table.table_stream_arn
        assert stream is not None  # noqa: S101 - the table has one
        allow(functions.publish, FOLLOW, stream)
        # Without it Lambda does not take up a stream; it is asked of all that the table ever had.
        allow(functions.publish, ["dynamodb:ListStreams"], f"{table}/stream/*")
        allow(functions.publish, ["events:PutEvents"], self.push.bus.event_bus_arn)
        allow(functions.publish, ["sqs:SendMessage"], self.push.untold.queue_arn)

        for function in functions.all:
            self.keys.let_use(function)

        # What they sign they must be allowed to do themselves. Agents' and the workspace's files are others' to write.
        anywhere = [self.files.below(root) for root in ROOTS]
        for function in (functions.tasks, functions.host):
            allow(function, ["s3:PutObject"], self.files.below("task"))
            allow(function, ["s3:GetObject", "s3:GetObjectVersion"], *anywhere)

        # And deletes a task's own files, of which every version is one; S3 asks for both rights to delete one.
        own = {"StringLike": {"s3:prefix": "task/*"}}
        allow(functions.sweep, ["s3:ListBucketVersions"], self.files.bucket.bucket_arn, only_if=own)
        allow(functions.sweep, ["s3:DeleteObject", "s3:DeleteObjectVersion"], self.files.below("task"))

    def _tell(self, stage: Stage) -> None:
        CfnOutput(self, "BaseUrl", value=self.api.base_url)
        if self.api.domain is not None and stage.hosted_zone_id is None:
            CfnOutput(self, "DomainTarget", value=self.api.domain.regional_domain_name)
        if self.console is not None:
            CfnOutput(self, "ConsoleUrl", value=self.console.origin)
            if stage.console_domain_name is not None:
                target = self.console.distribution.distribution_domain_name
                CfnOutput(self, "ConsoleTarget", value=target)
        CfnOutput(self, "TableName", value=self.storage.table.table_name)
        CfnOutput(self, "BucketName", value=self.files.bucket.bucket_name)
        CfnOutput(self, "QueueUrl", value=self.queues.wake_ups.queue_url)
        CfnOutput(self, "DeadLetterQueueUrl", value=self.queues.dead_letters.queue_url)
        CfnOutput(self, "EventBusName", value=self.push.bus.event_bus_name)
        CfnOutput(self, "UntoldQueueUrl", value=self.push.untold.queue_url)
        for name, queues in self.host_queues.items():
            CfnOutput(self, f"{queue_of(name)}Url", value=queues.wake_ups.queue_url)
        if isinstance(self.identity, UserPool):
            CfnOutput(self, "UserPoolId", value=self.identity.pool.user_pool_id)
            CfnOutput(self, "UserPoolClientId", value=self.identity.client.user_pool_client_id)


def allow(
    function: lambda_.Function,
    actions: list[str],
    *resources: str,
    only_if: dict[str, dict[str, str]] | None = None,
) -> None:
    """Let *function* take exactly these *actions* on exactly these *resources*."""
    function.add_to_role_policy(
        iam.PolicyStatement(actions=actions, resources=list(resources), conditions=only_if)
    )
