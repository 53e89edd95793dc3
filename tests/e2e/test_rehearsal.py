"""A deployment's whole life, where roles are enforced: deployed, changed, broken, rolled back, gone without a trace.

The tests are one story and run in their order. `make rehearse` tells the long form.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from rich.console import Console

from infra import ROOT
from offline import hosts
from offline.deployment import STACK, DeploymentFailed, deploy
from offline.endpoint import REGION
from offline.engine import Engine
from offline.issuer import issuer
from tests.support.deployed import SHORT, Deployed
from tests.support.traffic import traffic

pytestmark = pytest.mark.timeout(900)
"""Each step is a deployment or two, and one is the whole conformance suite."""

SCREEN = Console(highlight=False)
BAD = f"{sys.executable} -m tests.support.bad_app"
KEPT = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}
LISTS: dict[str, tuple[str, str, str]] = {
    "functions": ("lambda", "list_functions", "Functions"),
    "layers": ("lambda", "list_layers", "Layers"),
    "event sources": ("lambda", "list_event_source_mappings", "EventSourceMappings"),
    "tables": ("dynamodb", "list_tables", "TableNames"),
    "queues": ("sqs", "list_queues", "QueueUrls"),
    "APIs": ("apigatewayv2", "get_apis", "Items"),
    "buckets": ("s3", "list_buckets", "Buckets"),
    "logs": ("logs", "describe_log_groups", "logGroups"),
    "roles": ("iam", "list_roles", "Roles"),
    "rules": ("events", "list_rules", "Rules"),
}
"""How everything that a stack makes is listed."""


@dataclass
class Rehearsal:
    """The deployment as it stands, and what it was told to be."""

    engine: Engine
    context: dict[str, str]
    before: dict[str, list[str]]
    """What there was before it was."""
    host: hosts.Host
    deployed: Deployed = field(init=False)

    def deploy(self, *, app: str | None = None, **settings: str) -> None:
        """Deploy it with other *settings*; `DeploymentFailed` where that fails."""
        self.deployed = Deployed(self.engine, deploy(self.engine, context=self.context | settings, app=app))

    def log_levels(self) -> set[str]:
        """What the functions are told now."""
        functions = self.engine.client("lambda").list_functions()["Functions"]
        return {one["Environment"]["Variables"]["POWERTOOLS_LOG_LEVEL"] for one in functions}

    def destroy(self) -> subprocess.CompletedProcess[str]:
        """Take it away as an operator does."""
        return subprocess.run(
            [sys.executable, "-m", "scripts.destroy", "offline", "--yes"],
            cwd=ROOT,
            env=shell(self.engine.endpoint.environment),
            capture_output=True,
            text=True,
            check=False,
        )


def shell(variables: dict[str, str]) -> dict[str, str]:
    """The environment of a shell that is signed in to the engine, and to nothing else."""
    return {name: value for name, value in os.environ.items() if not name.startswith("AWS_")} | variables


def everything(engine: Engine) -> dict[str, list[str]]:
    """All that there is, by its kind."""
    found = {}
    for kind, (service, operation, key) in LISTS.items():
        listed: list[Any] = getattr(engine.client(service), operation)().get(key, [])
        found[kind] = sorted(str(name_of(one)) for one in listed)
    return found


def name_of(one: Any) -> Any:
    """What a listed thing is called."""
    if isinstance(one, str):
        return one
    names = ("FunctionName", "LayerName", "UUID", "ApiId", "RoleName", "logGroupName", "Name")
    return next(one[name] for name in names if name in one)


@pytest.fixture(scope="module")
def rehearsal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    with (
        Engine(tmp_path_factory.mktemp("rehearsal"), strict=True) as engine,
        issuer(engine.state_dir) as trusted,
    ):
        host = hosts.make_host(engine.endpoint, "conformance")
        told = SHORT | trusted.settings | hosts.settings([host])
        deploy(engine, context=told)
        made = Rehearsal(engine, told, {}, host)
        # A stage that was there and went: what is left then was there before.
        assert made.destroy().returncode == 0
        made.before = everything(engine)
        made.deploy()
        hosts.let_in(made.deployed.deployment, host)
        yield made


def test_a_change_is_deployed_under_tasks_in_flight_and_nothing_is_lost(rehearsal: Rehearsal) -> None:
    with traffic(rehearsal.deployed, people=2) as people:
        rehearsal.deploy(log_level="WARNING")
        assert rehearsal.log_levels() == {"WARNING"}

    assert people.polls
    SCREEN.print(
        f"{len(people.accepted)} tasks in flight; refusals of the engine's own: {dict(people.engines)}"
    )


def test_a_deployment_that_fails_is_rolled_back_and_the_stage_serves_on(rehearsal: Rehearsal) -> None:
    with traffic(rehearsal.deployed, people=2) as people:
        with pytest.raises(DeploymentFailed):
            rehearsal.deploy(app=BAD, log_level="DEBUG")
        (stack,) = rehearsal.engine.client("cloudformation").describe_stacks(StackName=STACK)["Stacks"]
        assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
        assert rehearsal.log_levels() == {"WARNING"}

    assert people.polls


def test_after_a_rollback_the_next_deployment_goes_through(rehearsal: Rehearsal) -> None:
    with traffic(rehearsal.deployed, people=1):
        rehearsal.deploy()

    assert rehearsal.log_levels() == {"INFO"}


@pytest.mark.long
def test_the_contract_holds_where_roles_are_enforced(rehearsal: Rehearsal) -> None:
    keys = hosts.keys_of(rehearsal.engine.endpoint, rehearsal.host)
    told = {
        "OWNER_TOKEN": rehearsal.deployed.token_for("owner"),
        "OTHER_TOKEN": rehearsal.deployed.token_for("other"),
        "AWS_ACCESS_KEY_ID": keys.access_key_id,
        "AWS_SECRET_ACCESS_KEY": keys.secret_access_key,
        "AWS_REGION": REGION,
        "AWS_CA_BUNDLE": str(rehearsal.engine.endpoint.certificate),
    }

    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "tests/conformance",
            f"--base-url={rehearsal.deployed.base_url}",
        ],
        cwd=ROOT,
        env=shell(told),
        capture_output=True,
        text=True,
        check=False,
    )

    SCREEN.print(done.stdout[-600:], markup=False)
    assert done.returncode == 0, done.stdout[-4000:]


def test_a_stage_that_is_protected_is_not_destroyed_and_loses_nothing(rehearsal: Rehearsal) -> None:
    cloudformation, before = rehearsal.engine.client("cloudformation"), everything(rehearsal.engine)
    cloudformation.update_termination_protection(StackName=STACK, EnableTerminationProtection=True)

    done = rehearsal.destroy()

    cloudformation.update_termination_protection(StackName=STACK, EnableTerminationProtection=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "deletion_protection=false" in done.stderr
    assert everything(rehearsal.engine) == before


def test_a_stage_that_is_destroyed_leaves_nothing(rehearsal: Rehearsal) -> None:
    # A file, so that there is a bucket to be emptied.
    bucket = rehearsal.deployed.outputs["BucketName"]
    s3 = rehearsal.engine.client("s3")
    for content in (b"one", b"two"):
        s3.put_object(Bucket=bucket, Key="task/0/a.csv", Body=content)

    done = rehearsal.destroy()

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "It is gone."
    assert everything(rehearsal.engine) == rehearsal.before


def test_there_is_nothing_to_destroy_twice(rehearsal: Rehearsal) -> None:
    done = rehearsal.destroy()

    assert done.returncode == 1
    assert "There is no stack turnkeeper-offline" in done.stderr


@pytest.mark.long
def test_what_is_kept_is_named_when_the_rest_is_destroyed(rehearsal: Rehearsal) -> None:
    rehearsal.deploy(keep_data="true")
    table = rehearsal.deployed.outputs["TableName"]

    done = rehearsal.destroy()

    stays = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("  stays: ")]
    assert set(stays) == KEPT
    assert f"AWS::DynamoDB::Table {table}" in done.stdout
    assert table in everything(rehearsal.engine)["tables"]
    assert everything(rehearsal.engine)["functions"] == []
