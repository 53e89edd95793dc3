"""What was deployed is what the template says, where the engine by itself would differ."""

import time

import httpx
import pytest

from infra.api import ALLOWED_HEADERS, EXPOSED_HEADERS
from tests.support.deployed import SHORT, Deployed

HELLO = {"agent": "echo", "input": {"message": [{"mimeType": "text/plain", "text": "hello"}]}}


def test_a_task_lives_from_its_first_input_to_idle(deployment: Deployed) -> None:
    with deployment.http("alice") as alice:
        made = alice.post("v1/tasks", json=HELLO)
        assert made.status_code == 202, made.text
        path = f"v1/tasks/{made.json()['id']}"
        deadline = time.monotonic() + 20
        while (polled := alice.get(path)).json()["status"]["phase"] != "idle":
            assert time.monotonic() < deadline, polled.text
            time.sleep(0.2)
        messages = alice.get(f"{path}/messages").json()["messages"]

    assert [(entry["type"], entry["message"][0]["text"]) for entry in messages] == [
        ("input", "hello"),
        ("output", "hello"),
    ]


@pytest.mark.parametrize("token", [None, "nonsense"])
def test_whoever_has_no_token_of_the_pool_is_turned_away_by_the_gateway(
    deployment: Deployed, token: str | None
) -> None:
    headers = {"authorization": f"Bearer {token}"} if token else {}

    answer = httpx.get(f"{deployment.base_url}/v1/tasks", headers=headers)

    assert (answer.status_code, answer.json()) == (401, {"message": "Unauthorized"})


def test_a_token_that_was_changed_is_turned_away(deployment: Deployed) -> None:
    head, payload, signature = deployment.token_for("alice").split(".")
    forged = f"{head}.{payload}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"

    answer = httpx.get(f"{deployment.base_url}/v1/tasks", headers={"authorization": f"Bearer {forged}"})

    assert answer.status_code == 401


def test_a_host_that_does_not_sign_is_turned_away(deployment: Deployed) -> None:
    with deployment.http() as nobody:
        assert nobody.post("v1/host/anything").status_code == 403


def test_a_route_that_there_is_not_answers_our_404(deployment: Deployed) -> None:
    with deployment.http() as nobody:
        answer = nobody.get("v2/everything")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_browser_of_a_named_origin_may_ask_and_see_what_it_needs(deployment: Deployed) -> None:
    asked = {
        "origin": SHORT["cors_origins"],
        "access-control-request-method": "POST",
        "access-control-request-headers": ",".join(ALLOWED_HEADERS),
    }
    with deployment.http() as browser:
        answer = browser.options("v1/tasks", headers=asked)

    assert answer.is_success
    assert answer.headers["access-control-allow-origin"] == SHORT["cors_origins"]
    assert answer.headers["access-control-allow-headers"].split(",") == ALLOWED_HEADERS
    assert answer.headers["access-control-expose-headers"].split(",") == EXPOSED_HEADERS


def test_items_expire_and_the_table_can_be_restored(deployment: Deployed) -> None:
    dynamodb, table = deployment.client("dynamodb"), deployment.outputs["TableName"]

    lives = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
    backups = dynamodb.describe_continuous_backups(TableName=table)["ContinuousBackupsDescription"]

    assert lives == {"AttributeName": "expires_at", "TimeToLiveStatus": "ENABLED"}
    assert backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"] == "ENABLED"


def test_the_functions_are_told_the_deployments_numbers(deployment: Deployed) -> None:
    for name in ("status", "tasks", "turns", "sweep"):
        configuration = deployment.client("lambda").get_function_configuration(
            FunctionName=deployment.function(name)
        )
        variables = configuration["Environment"]["Variables"]
        assert variables["TURNKEEPER_LEASE_SECONDS"] == SHORT["lease_seconds"], name
        assert variables["TURNKEEPER_TABLE"] == deployment.outputs["TableName"], name
