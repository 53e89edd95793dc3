"""`make smoke` on a deployed stage: well where all is well, a sentence where it is not, and nothing left behind."""

import os
import subprocess
import sys

import pytest

from infra import ROOT
from tests.e2e.conftest import Authorised
from tests.support.deployed import Deployed

STAGE = "offline"


def smoke(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run it with *variables* and nothing else of AWS in its environment."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith("AWS_") and name != "TOKEN"
    }
    return subprocess.run(
        [sys.executable, "-m", "scripts.smoke", *arguments],
        cwd=ROOT,
        env=clean | {"AWS_EC2_METADATA_DISABLED": "true"} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )


def people(deployment: Deployed) -> set[str]:
    """Who is in the pool."""
    listed = deployment.client("cognito-idp").list_users(UserPoolId=deployment.outputs["UserPoolId"])
    return {user["Username"] for user in listed["Users"]}


def test_a_stage_is_tried_by_a_person_who_is_gone_afterwards(deployment: Deployed) -> None:
    token, before = deployment.token_for("alice"), people(deployment)

    done = smoke(
        "--base-url", deployment.base_url, "--stage", STAGE, **deployment.deployment.endpoint.environment
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "All as promised."
    assert people(deployment) == before
    with deployment.http_as(token) as alice:
        assert alice.get("v1/tasks").status_code == 200


def test_a_token_is_enough_where_people_come_from_elsewhere(authorised: Authorised) -> None:
    deployed = authorised.deployed
    certificate = {"AWS_CA_BUNDLE": str(deployed.deployment.endpoint.certificate)}

    done = smoke("--base-url", deployed.base_url, TOKEN=deployed.token_for("smoke"), **certificate)

    assert (done.returncode, done.stderr) == (0, "")


def test_who_says_neither_a_stage_nor_a_token_is_told_what_is_missing() -> None:
    done = smoke("--base-url", "http://127.0.0.1:9")

    assert (done.returncode, done.stdout) == (2, "")
    assert "TOKEN=" in done.stderr


@pytest.mark.parametrize(
    ("address", "token", "said"),
    [
        ("http://127.0.0.1:9", "anything", "does not answer"),
        (None, "nonsense", "401, not 202"),
    ],
)
def test_what_is_not_well_is_a_sentence_and_an_exit_code(
    deployment: Deployed, address: str | None, token: str, said: str
) -> None:
    done = smoke("--base-url", address or deployment.base_url, TOKEN=token)

    assert done.returncode == 1
    assert done.stderr.startswith("Not well: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_stage_that_is_not_there_is_named(deployment: Deployed) -> None:
    done = smoke("--stage", "prod", **deployment.deployment.endpoint.environment)

    assert done.returncode == 1
    assert "There is no stack turnkeeper-prod" in done.stderr


def test_a_shell_that_is_signed_in_nowhere_is_told_so() -> None:
    done = smoke("--stage", "prod", AWS_REGION="eu-central-1", HOME="/nonexistent")

    assert done.returncode == 1
    assert "Is the shell signed in" in done.stderr
