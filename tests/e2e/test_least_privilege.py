"""Every function gets by with exactly what the stack grants it, where roles are enforced as AWS enforces them.

The engine verifies Cognito's tokens only without TLS, so people here come from an OIDC issuer of our own: the other
way to deploy.
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from offline.deployment import deploy
from offline.engine import Engine
from tests.support.deployed import SHORT, Deployed
from tests.support.issuer import HUMAN_CLAIM, Issuer, issuer

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="the engine makes its certificate with it"
)

NO_RULE = {"sweep_enabled": "false"}
LIFESPAN_OF_A_MAYFLY = 5
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


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def until(client: httpx.Client, path: str, phase: str) -> None:
    eventually(lambda: client.get(path).json().get("status", {}).get("phase") == phase)


@pytest.fixture
def never_refused(strict: Deployed) -> Iterator[None]:
    """Nothing that a function did was refused: neither told to its caller nor only logged."""
    before = len(strict.engine.log.read_bytes())
    yield
    said = strict.engine.log.read_bytes()[before:].decode()
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
    assert [listed["id"] for listed in alice.get("v1/tasks").json()["tasks"]] == [made.json()["id"]]
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
def test_the_sweep_needs_no_more_than_is_granted(strict: Deployed, alice: httpx.Client) -> None:
    with strict.nobody_at_work():
        asleep = alice.post("v1/tasks", json={"agent": "echo", "input": INPUT}).json()["id"]
        time.sleep(float(SHORT["wake_grace_seconds"]) + 0.5)
        woken = strict.sweep()
    brief = alice.post("v1/tasks", json={"agent": "mayfly", "input": INPUT}).json()["id"]
    until(alice, f"v1/tasks/{brief}", "idle")
    until(alice, f"v1/tasks/{asleep}", "idle")
    time.sleep(LIFESPAN_OF_A_MAYFLY + 0.5)
    ended = strict.sweep()

    assert (woken["looked"], woken["failed"]) == (1, 0)
    assert (ended["looked"], ended["failed"]) == (1, 0)
    assert strict.stored(brief)["phase"] == {"S": "terminal"}


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
