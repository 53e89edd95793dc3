"""Deploys the very stack with the real CDK CLI, and repairs what the engine's CloudFormation drops.

What to repair is read from the template that was deployed, never repeated here.
"""

from __future__ import annotations

import json
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

from botocore.exceptions import ClientError

from infra import cli
from offline.engine import ACCOUNT, REGION, ROOT, Engine, client
from offline.progress import SILENT, Progress

STACK = "turnkeeper-offline"
BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
OFFLINE = {
    "stage": "offline",
    "keep_data": "false",
    "arch": "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64",
}
"""The context that only a deployment onto one machine needs."""


class DeploymentFailed(Exception):
    """The CDK CLI gave up; the message ends with the last it said."""


class NothingDeployed(Exception):
    """No engine answers, or it has no Turnkeeper."""


@dataclass(frozen=True)
class Deployment:
    """A Turnkeeper that runs: where its API is, where its engine is, and the stack's outputs."""

    base_url: str
    endpoint_url: str
    outputs: Mapping[str, str]

    @classmethod
    def running_at(cls, endpoint_url: str) -> Deployment:
        """Find what is deployed at *endpoint_url*."""
        try:
            stack = client("cloudformation", endpoint_url).describe_stacks(StackName=STACK)["Stacks"][0]
        except Exception as error:
            raise NothingDeployed(
                f"No Turnkeeper runs at {endpoint_url}: start one with `make up`."
            ) from error
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        api_id = urlsplit(outputs["BaseUrl"]).netloc.partition(".")[0]
        # The engine serves an API below its own address; the name in the output resolves only on AWS.
        return cls(f"{endpoint_url}/_aws/execute-api/{api_id}", endpoint_url, outputs)

    def client(self, service: str) -> Any:
        """Return a boto3 client of *service*, to look behind the API."""
        return client(service, self.endpoint_url)


def deploy(
    engine: Engine, *, context: Mapping[str, str] = MappingProxyType({}), progress: Progress = SILENT
) -> Deployment:
    """Deploy the stack onto *engine*, with the settings of *context* instead of cdk.json's."""
    assembly = engine.state_dir / "cdk.out"
    if not is_bootstrapped(engine):
        progress.step("Bootstrapping the engine for the CDK")
        cdk(engine, "bootstrap", f"aws://{ACCOUNT}/{REGION}", progress=progress)
    progress.step("Deploying with the CDK CLI")
    settings = [part for name, value in {**OFFLINE, **context}.items() for part in ("-c", f"{name}={value}")]
    cdk(
        engine,
        "deploy",
        "--require-approval",
        "never",
        "--output",
        str(assembly),
        *settings,
        progress=progress,
    )
    progress.step("Repairing what the engine drops")
    repair(engine, json.loads((assembly / "Turnkeeper.template.json").read_text()))
    return Deployment.running_at(engine.endpoint_url)


def destroy(engine: Engine) -> None:
    """Take the stack off *engine*, with all it holds."""
    cloudformation = engine.client("cloudformation")
    cloudformation.delete_stack(StackName=STACK)
    cloudformation.get_waiter("stack_delete_complete").wait(StackName=STACK, WaiterConfig={"Delay": 1})


def is_bootstrapped(engine: Engine) -> bool:
    """Tell whether `cdk bootstrap` was done already."""
    try:
        engine.client("ssm").get_parameter(Name=BOOTSTRAP_VERSION)
    except ClientError:
        return False
    return True


def cdk(engine: Engine, *arguments: str, progress: Progress) -> None:
    """Run the CDK CLI against *engine*."""
    # Whatever account this shell is signed in to is none of ours.
    ours = {name: value for name, value in cli.environment().items() if not name.startswith("AWS_")}
    # The validator of `make synth` costs more than the rest of a deployment.
    environment = {**ours, **engine.client_environment, "CDK_VALIDATION": "false"}
    process = subprocess.Popen(
        cli.command(*arguments, "--no-color", "--ci"),
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = []
    with process:
        assert process.stdout is not None  # noqa: S101 - asked for just above
        for line in filter(None, (line.strip() for line in process.stdout)):
            said.append(line)
            progress.say(line)
    log = engine.state_dir / f"cdk-{arguments[0]}.log"
    log.write_text("\n".join(said))
    if process.returncode != 0:
        last = "\n".join(said[-15:])
        raise DeploymentFailed(f"cdk {arguments[0]} failed; all it said is in {log}, which ends:\n{last}")


def repair(engine: Engine, template: Mapping[str, Any]) -> None:
    """Give the deployed resources what *template* asks for and the engine's CloudFormation leaves out."""
    cloudformation = engine.client("cloudformation")
    for logical_id, resource in template["Resources"].items():
        mend = REPAIRS.get(resource["Type"])
        if mend is not None:
            found = cloudformation.describe_stack_resource(StackName=STACK, LogicalResourceId=logical_id)
            mend(engine, found["StackResourceDetail"]["PhysicalResourceId"], resource["Properties"])


def repair_api(engine: Engine, api_id: str, properties: Mapping[str, Any]) -> None:
    """Let browsers in as the template says."""
    gateway = engine.client("apigatewayv2")
    if "CorsConfiguration" in properties:
        gateway.update_api(ApiId=api_id, CorsConfiguration=properties["CorsConfiguration"])
    else:
        gateway.delete_cors_configuration(ApiId=api_id)


def repair_table(engine: Engine, table: str, properties: Mapping[str, Any]) -> None:
    """Let items expire, and the table be restored, as the template says."""
    dynamodb = engine.client("dynamodb")
    wanted = properties["TimeToLiveSpecification"]
    if (
        dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]["TimeToLiveStatus"]
        != "ENABLED"
    ):
        dynamodb.update_time_to_live(TableName=table, TimeToLiveSpecification=wanted)
    dynamodb.update_continuous_backups(
        TableName=table, PointInTimeRecoverySpecification=properties["PointInTimeRecoverySpecification"]
    )


REPAIRS = {"AWS::ApiGatewayV2::Api": repair_api, "AWS::DynamoDB::Table": repair_table}
