"""The host in docs/examples runs as the page says, where every signature is verified."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from infra import ROOT
from offline.endpoint import REGION
from tests.support.deployed import Deployed, eventually
from tests.support.hosts import HostClient, said


@pytest.fixture
def example(acme: HostClient) -> Iterator[subprocess.Popen[str]]:
    environment = {
        "PATH": os.environ["PATH"],
        "BASE_URL": acme.base_url,
        "QUEUE_URL": acme.queue_url,
        "AGENT": "reverse",
        "IDLE_S": "60",
        "AWS_ENDPOINT_URL": acme.endpoint.url,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": acme.credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": acme.credentials.secret_key,
        "AWS_CA_BUNDLE": str(acme.endpoint.certificate),
    }
    command = [sys.executable, str(ROOT / "docs" / "examples" / "host.py")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_the_example_host_answers_in_turns_of_its_own(
    authorised_deployment: Deployed, example: subprocess.Popen[str]
) -> None:
    assert example.stdout is not None
    assert "waits for wake-ups" in example.stdout.readline()
    with authorised_deployment.http("alice") as alice:
        made = alice.post("v1/tasks", json={"agent": "reverse", "input": said("hello")})
        path = f"v1/tasks/{made.json()['id']}"

        eventually(lambda: alice.get(path).json()["status"]["phase"] == "idle", within=30)
        entries = alice.get(f"{path}/messages").json()["messages"]

    assert [entry["message"][0]["text"] for entry in entries] == ["hello", "Let me think …", "olleh"]
