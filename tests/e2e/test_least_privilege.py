"""Every function gets by with exactly what the stack grants it, where roles are enforced as AWS enforces them.

The engine verifies Cognito's tokens only without TLS, so people here come from an OIDC issuer of our own: the other
way to deploy.
"""

import json
import time
from collections.abc import Iterator

import httpx
import pytest

from offline.issuer import HUMAN_CLAIM
from tests.e2e.conftest import Authorised
from tests.support.deployed import SHORT, Deployed, eventually

LIFESPAN_OF_A_MAYFLY = 5
INPUT = {"message": [{"mimeType": "text/plain", "text": "hello"}]}


@pytest.fixture
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


def until(client: httpx.Client, path: str, phase: str) -> None:
    eventually(lambda: client.get(path).json().get("status", {}).get("phase") == phase)


@pytest.fixture
def never_refused(authorised_deployment: Deployed) -> Iterator[None]:
    """Nothing that a function did was refused: neither told to its caller nor only logged."""
    before = len(authorised_deployment.engine.log.read_bytes())
    yield
    said = authorised_deployment.engine.log.read_bytes()[before:].decode()
    for refusal in ("AccessDenied", "not authorized", "not sent", "was not set"):
        assert refusal not in said


@pytest.mark.usefixtures("never_refused")
def test_people_need_no_more_than_is_granted(alice: httpx.Client) -> None:
    made = alice.post("v1/tasks", json={"agent": "mayfly", "input": INPUT}, headers={"idempotency-key": "1"})
    assert made.status_code == 202, made.text
    task = f"v1/tasks/{made.json()['id']}"
    until(alice, task, "idle")
    assert alice.post(f"{task}/inputs", json=INPUT).status_code == 202
    until(alice, task, "idle")
    assert len(alice.get(f"{task}/messages").json()["messages"]) == 4
    assert made.json()["id"] in [listed["id"] for listed in alice.get("v1/tasks").json()["tasks"]]
    # A reader past the end writes it.
    until(alice, task, "terminal")


@pytest.mark.usefixtures("never_refused")
def test_a_turn_that_leaves_inputs_waiting_needs_no_more_than_is_granted(alice: httpx.Client) -> None:
    task = f"v1/tasks/{alice.post('v1/tasks', json={'agent': 'slow_echo', 'input': INPUT}).json()['id']}"
    eventually(lambda: "committed_at" in alice.get(f"{task}/messages").json()["messages"][0])
    assert alice.post(f"{task}/inputs", json=INPUT).status_code == 202

    until(alice, task, "idle")

    assert len(alice.get(f"{task}/messages").json()["messages"]) == 6


@pytest.mark.usefixtures("never_refused")
def test_the_sweep_needs_no_more_than_is_granted(
    authorised_deployment: Deployed, alice: httpx.Client
) -> None:
    with authorised_deployment.nobody_at_work():
        asleep = alice.post("v1/tasks", json={"agent": "echo", "input": INPUT}).json()["id"]
        time.sleep(float(SHORT["wake_grace_seconds"]) + 0.5)
        woken = authorised_deployment.sweep()
        looked_at = authorised_deployment.stored(asleep)
    brief = alice.post("v1/tasks", json={"agent": "mayfly", "input": INPUT}).json()["id"]
    until(alice, f"v1/tasks/{brief}", "idle")
    until(alice, f"v1/tasks/{asleep}", "idle")
    time.sleep(LIFESPAN_OF_A_MAYFLY + 0.5)
    ended = authorised_deployment.sweep()

    # The deployment is everybody's: other tests' tasks may be due too.
    assert (woken["failed"], ended["failed"]) == (0, 0)
    assert looked_at["looks"] == {"N": "1"}
    assert authorised_deployment.stored(brief)["phase"] == {"S": "terminal"}


def test_a_machines_token_is_nobodys(authorised: Authorised) -> None:
    with authorised.deployed.http_as(authorised.issuer.token("a-machine")) as machine:
        assert machine.get("v1/tasks").status_code == 403


def test_a_token_for_somebody_else_is_turned_away(authorised: Authorised) -> None:
    with authorised.deployed.http_as(
        authorised.issuer.token("alice-sub", aud="another", **{HUMAN_CLAIM: "alice"})
    ) as stranger:
        assert stranger.get("v1/tasks").status_code == 401


def test_without_a_grant_it_does_not_work(authorised_deployment: Deployed, alice: httpx.Client) -> None:
    """The engine does enforce roles: without this, the tests above would show nothing."""
    iam, lists = authorised_deployment.client("iam"), alice.get("v1/tasks")
    role = authorised_deployment.client("lambda").get_function_configuration(
        FunctionName=authorised_deployment.function("tasks")
    )["Role"]
    name = role.rpartition("/")[2]
    (policy,) = iam.list_role_policies(RoleName=name)["PolicyNames"]
    granted = iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
    less = granted | {"Statement": [s for s in granted["Statement"] if "index" not in json.dumps(s)]}
    assert less != granted

    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(less))
    denied = alice.get("v1/tasks")
    iam.put_role_policy(RoleName=name, PolicyName=policy, PolicyDocument=json.dumps(granted))

    assert (lists.status_code, denied.status_code) == (200, 500)
