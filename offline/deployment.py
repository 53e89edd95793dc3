"""Deploys the very stack onto an engine, with the real CDK CLI."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import urlsplit

from botocore.exceptions import BotoCoreError, ClientError

from infra import cli
from offline.endpoint import ACCOUNT, REGION, Endpoint
from offline.engine import ROOT, Engine
from offline.progress import SILENT, Progress
from offline.repair import repair

STACK = "turnkeeper-offline"
BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
OFFLINE = {
    "stage": "offline",
    "arch": "arm64" if platform.machine() in {"arm64", "aarch64"} else "x86_64",
}
"""The settings that only a deployment onto one machine needs."""


class DeploymentFailed(Exception):
    """The CDK CLI gave up; the message ends with the last it said."""


class NothingDeployed(Exception):
    """No engine answers, or it has no Turnkeeper."""


@dataclass(frozen=True)
class Deployment:
    """A Turnkeeper that runs: where its API is, where its engine is, and the stack's outputs."""

    base_url: str
    endpoint: Endpoint
    outputs: Mapping[str, str]

    @classmethod
    def running_at(cls, endpoint: Endpoint) -> Self:
        """Find what is deployed at *endpoint*."""
        try:
            stack = endpoint.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"][0]
        # An OSError is a certificate that is not there yet.
        except (BotoCoreError, ClientError, OSError) as error:
            raise NothingDeployed(
                f"No Turnkeeper runs at {endpoint.url}; `make up` starts one. If it runs, say its PORT=… and AUTH=1."
            ) from error
        outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
        api_id = urlsplit(outputs["BaseUrl"]).netloc.partition(".")[0]
        # The engine serves an API below its own address; the name in the output resolves only on AWS.
        return cls(f"{endpoint.url}/_aws/execute-api/{api_id}", endpoint, outputs)

    @property
    def api_id(self) -> str:
        """What its API is called in the name of a resource."""
        return self.base_url.rpartition("/")[2]

    @property
    def endpoint_url(self) -> str:
        """Where its engine answers, as AWS clients take it."""
        return self.endpoint.url

    def client(self, service: str) -> Any:
        """Return a boto3 client of *service*, to look behind the API."""
        return self.endpoint.client(service)


def declared(setting: str) -> Any:
    """What cdk.json says of *setting*, which holds unless a deployment is told otherwise."""
    return json.loads((ROOT / "cdk.json").read_text())["context"][setting]


def deploy(
    engine: Engine,
    *,
    context: Mapping[str, str] = MappingProxyType({}),
    app: str | None = None,
    progress: Progress = SILENT,
) -> Deployment:
    """Deploy the stack onto *engine*, with settings of *context* instead of cdk.json's; *app* makes another of them."""
    assembly = engine.state_dir / "cdk.out"
    if not is_bootstrapped(engine):
        progress.step("Bootstrapping the engine for the CDK")
        cdk(engine, "bootstrap", f"aws://{ACCOUNT}/{REGION}", progress=progress)
    progress.step("Deploying with the CDK CLI")
    settings = [part for name, value in {**OFFLINE, **context}.items() for part in ("-c", f"{name}={value}")]
    quietly = ("--require-approval", "never", "--output", str(assembly))
    instead = ("--app", app) if app else ()
    cdk(engine, "deploy", *quietly, *instead, *settings, progress=progress)
    progress.step("Repairing what the engine drops")
    repair(engine, STACK, json.loads((assembly / "Turnkeeper.template.json").read_text()))
    return Deployment.running_at(engine.endpoint)


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
    ours = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    # The validator of `make synth` costs more than the rest of a deployment.
    environment = {**ours, **engine.endpoint.environment, "CDK_VALIDATION": "false"}
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
        try:
            for line in filter(None, map(str.strip, process.stdout)):
                said.append(line)
                progress.say(line)
        except BaseException:
            process.terminate()
            raise
    log = engine.state_dir / f"cdk-{arguments[0]}.log"
    log.write_text("\n".join(said))
    if process.returncode != 0:
        last = "\n".join(said[-15:])
        raise DeploymentFailed(f"cdk {arguments[0]} failed; all it said is in {log}, which ends:\n{last}")
