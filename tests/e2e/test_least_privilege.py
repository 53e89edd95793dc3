"""Every function gets by with exactly what the stack grants it, where roles are enforced as AWS enforces them.

The engine verifies Cognito's tokens only without TLS, so people here come from an OIDC issuer of our own: the other
way to deploy.
"""

import json
import shutil
import time
from collections.abc import Iterator

import httpx
import pytest

from offline.deployment import deploy
from offline.engine import Engine
from offline.issuer import HUMAN_CLAIM, Issuer, issuer
from tests.support.deployed import SHORT, Deployed

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the engine makes its certificate with it"
)

NO_RULE = {"sweep_enabled": "false"}
INPUT = {"message": [{"mimeType": "text/plain", "text": "hello"}]}


@pytest.fixture(scope="module")
def trusted() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@pytest.fixture(scope="module")
def strict(trusted: Issuer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with Engine(tmp_path_factory.mktemp("strict"), strict=True) as engine:
        yield Deployed(engine, deploy(engine, context=SHORT | NO_RULE | trusted.settings))


@pytest.fixture(scope="module")
def alice(strict: Deployed, trusted: Issuer) -> Iterator[httpx.Client]:
    token = trusted.token("alice-sub", **{HUMAN_CLAIM: "alice"})
    with strict.http_as(token) as client:
        yield client


def until(client: httpx.Client, path: str, phase: str) -> None:
    deadline = time.monotonic() + 20
    while (answer := client.get(path)).json().get("status", {}).get("phase") != phase:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)


def test_the_whole_of_a_tasks_life_needs_no_more_than_is_granted(
    strict: Deployed, alice: httpx.Client
) -> None:
    made = alice.post("v1/tasks", json={"agent": "mayfly", "input": INPUT}, headers={"idempotency-key": "1"})
    assert made.status_code == 202, made.text
    task = f"v1/tasks/{made.json()['id']}"
    until(alice, task, "idle")
    assert alice.post(f"{task}/inputs", json=INPUT).status_code == 202
    until(alice, task, "idle")
    assert len(alice.get(f"{task}/messages").json()["messages"]) == 4
    assert [listed["id"] for listed in alice.get("v1/tasks").json()["tasks"]] == [made.json()["id"]]

    # A reader past the end writes it.
    until(alice, task, "terminal")
    # So does the sweep, when nobody looks.
    other = alice.post("v1/tasks", json={"agent": "mayfly", "input": INPUT}).json()["id"]
    until(alice, f"v1/tasks/{other}", "idle")
    time.sleep(6)
    swept = strict.sweep()
    key = {"pk": {"S": f"TASK#{other}"}, "sk": {"S": "TASK"}}
    stored = strict.client("dynamodb").get_item(TableName=strict.outputs["TableName"], Key=key)["Item"]

    assert (swept["looked"], swept["failed"], stored["phase"]["S"]) == (1, 0, "terminal")
    assert "not authorized" not in strict.engine.log.read_text()
    assert "AccessDenied" not in strict.engine.log.read_text()


def test_a_machines_token_is_nobodys(strict: Deployed, trusted: Issuer) -> None:
    with strict.http_as(trusted.token("a-machine")) as machine:
        assert machine.get("v1/tasks").status_code == 403


def test_a_token_for_somebody_else_is_turned_away(strict: Deployed, trusted: Issuer) -> None:
    with strict.http_as(trusted.token("alice-sub", aud="another", **{HUMAN_CLAIM: "alice"})) as stranger:
        assert stranger.get("v1/tasks").status_code == 401


def test_without_a_grant_it_does_not_work(strict: Deployed, alice: httpx.Client) -> None:
    """The engine does enforce roles: without this, the tests above would show nothing."""
    iam, lists = strict.client("iam"), alice.get("v1/tasks")
    role = strict.client("lambda").get_function_configuration(FunctionName=strict.function("tasks"))["Role"]
    name = role.rpartition("/")[2]
    (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
    granted = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
    less = granted | {"Statement": [s for s in granted["Statement"] if "index" not in json.dumps(s)]}
    assert less != granted

    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(less))
    denied = alice.get("v1/tasks")
    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(granted))

    assert (lists.status_code, denied.status_code) == (200, 500)
