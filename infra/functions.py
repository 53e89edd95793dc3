"""The functions: one folder each under functions/, told everything they need by their environment."""

import json
from collections.abc import Mapping

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import ROOT
from infra.layers import ARCHITECTURES, Layers
from infra.logs import kept_log
from infra.stage import Stage

FUNCTIONS = ROOT / "functions"
API_TIMEOUT_SECONDS = 29
"""Just less than the gateway waits."""

SWEEP_TIMEOUT_SECONDS = 50
"""Less than the minute between two sweeps, so that they do not overlap."""


PUBLISH_TIMEOUT_SECONDS = 30


class Functions(Construct):
    """The code that runs: three functions behind the API, one behind each of queue, clock and stream."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        stage: Stage,
        table_name: str,
        bucket_name: str,
        queue_url: str,
        host_queues: Mapping[str, str],
        human_claim: str,
        bus_name: str,
        untold_url: str,
        key: kms.IKey | None,
    ) -> None:
        super().__init__(scope, id_)
        self._stage, self._key = stage, key
        self._layers = Layers(self, "Layers", arch=stage.arch).all
        self._environment = {
            "TURNKEEPER_TABLE": table_name,
            "TURNKEEPER_LEASE_SECONDS": str(stage.lease_seconds),
            "TURNKEEPER_HEARTBEAT_SECONDS": str(stage.heartbeat_seconds),
            "TURNKEEPER_WAKE_GRACE_SECONDS": str(stage.wake_grace_seconds),
            "TURNKEEPER_WAKE_GRACE_MAX_SECONDS": str(stage.wake_grace_max_seconds),
            "TURNKEEPER_IDEMPOTENCY_SECONDS": str(stage.idempotency_seconds),
            "TURNKEEPER_RETENTION_SECONDS": str(stage.retention_seconds),
            "TURNKEEPER_METRICS_NAMESPACE": f"Turnkeeper/{stage.stage}",
            "POWERTOOLS_LOG_LEVEL": stage.log_level,
        }
        human = {"TURNKEEPER_HUMAN_CLAIM": human_claim}
        developer = {"TURNKEEPER_DEVELOPER_CLAIM": stage.developer_claim or ""}
        # Whoever wakes an agent must know all the places where one may run.
        wakes = {
            "TURNKEEPER_QUEUE_URL": queue_url,
            "TURNKEEPER_HOST_QUEUES": Stack.of(self).to_json_string(host_queues),
            "TURNKEEPER_HOST_FUNCTIONS": json.dumps(stage.host_functions),
            "TURNKEEPER_REPORTERS": json.dumps(stage.reporters),
            "TURNKEEPER_BEDROCK_AGENTS": json.dumps(stage.told_of_models),
        }
        # Whoever shows where a task stands.
        urgency = {"TURNKEEPER_SEVERITIES": json.dumps(stage.severities)}
        self.status = self._function("status", memory=512, timeout=API_TIMEOUT_SECONDS, told=human)
        self.polls: lambda_.IFunction = self._restored(self.status) if stage.snap_start else self.status
        files = {
            "TURNKEEPER_BUCKET": bucket_name,
            "TURNKEEPER_LARGEST_FILE_BYTES": str(stage.largest_file_bytes),
            "TURNKEEPER_FILE_URL_SECONDS": str(stage.file_url_seconds),
        }
        self.tasks = self._function(
            "tasks",
            memory=1024,
            timeout=API_TIMEOUT_SECONDS,
            told=human | developer | wakes | files | urgency,
        )
        ours = {
            "TURNKEEPER_DEPLOYMENT_HOSTS": json.dumps(stage.deployment_hosts),
            "TURNKEEPER_AUDITORS": json.dumps(stage.auditors),
        }
        self.host = self._function(
            "host", memory=1024, timeout=API_TIMEOUT_SECONDS, told=wakes | ours | files | urgency
        )
        self.turns = self._function("turns", memory=1024, timeout=stage.turn_timeout_seconds, told=wakes)
        self.sweep = self._function("sweep", memory=512, timeout=SWEEP_TIMEOUT_SECONDS, told=wakes | files)
        push = {"TURNKEEPER_BUS": bus_name, "TURNKEEPER_UNTOLD_URL": untold_url}
        self.publish = self._function("publish", memory=512, timeout=PUBLISH_TIMEOUT_SECONDS, told=push)
        self.all = [self.status, self.tasks, self.host, self.turns, self.sweep, self.publish]

    def _restored(self, function: lambda_.Function) -> lambda_.Alias:
        """Return *function* as it is published: started once, and restored from that ever after.

        What it drew at its start, every restored process has: so nothing is drawn there, and what is drawn later comes
        from the kernel (docs/decisions/0082).
        """
        cfn = function.node.default_child
        assert isinstance(cfn, lambda_.CfnFunction)  # noqa: S101 - what a function of the CDK's is made of
        cfn.snap_start = lambda_.CfnFunction.SnapStartProperty(apply_on="PublishedVersions")
        return lambda_.Alias(
            self, f"{function.node.id}Live", alias_name="live", version=function.current_version
        )

    def _function(self, name: str, *, memory: int, timeout: int, told: Mapping[str, str]) -> lambda_.Function:
        log_group = kept_log(self, f"{name.title()}Log", stage=self._stage, key=self._key)
        role = iam.Role(self, f"{name.title()}Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        return lambda_.Function(
            self,
            name.title(),
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=ARCHITECTURES[self._stage.arch],
            code=lambda_.Code.from_asset(str(FUNCTIONS / name), exclude=["__pycache__"]),
            handler="handler.handle",
            layers=self._layers,
            memory_size=memory,
            timeout=Duration.seconds(timeout),
            environment={**self._environment, **told},
            # A role of our own: the default one may write to every log group of the account.
            role=role,
            log_group=log_group,
            tracing=lambda_.Tracing.ACTIVE,
        )
