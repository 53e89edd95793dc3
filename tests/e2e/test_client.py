"""The Python client and the command against what was deployed, over HTTP: a task from its creation to its answer."""

import json
import ssl
import threading
from typing import Any

import boto3
import pytest
from typer.testing import CliRunner

from offline.endpoint import REGION
from tests.support.deployed import Deployed
from tests.support.hosts import HostClient, manifest
from turnkeeper_client import Client, NotFound, Patience
from turnkeeper_client.attending import Pace
from turnkeeper_client.cli.app import app
from turnkeeper_client.host_clients import Host
from turnkeeper_client.queues import Queue
from turnkeeper_client.signing import Signature
from turnkeeper_client.working import Turn, Worker

PATIENT = Patience(attempts=12, longest_s=5.0)
"""The engine takes ten calls at a time and says 429 to the rest."""


def test_a_person_follows_a_busy_task_and_tells_it_more(deployment: Deployed) -> None:
    with Client(deployment.base_url, lambda: deployment.token_for("alice"), patience=PATIENT) as alice:
        task_id = alice.create("slow_echo", "one").task.id
        said: list[str] = []
        phases: list[str] = []
        for update in alice.follow(task_id):
            phases.append(update.task.status.phase)
            said += [entry.text for entry in update.entries if entry.type == "output"]
            if update.task.status.phase == "idle" and "two" in said:
                break
            if update.task.status.phase == "idle":
                alice.say(task_id, "two")
        file = alice.upload(task_id, b"day,parcels", name="week 48.csv", mime_type="text/csv")
        alice.say(task_id, file)
        got = alice.download(task_id, file.file)

    assert [text for text in said if "Thinking" not in text] == ["one", "two"]
    assert {"processing", "idle"} <= set(phases)
    assert got.content == b"day,parcels"
    with (
        Client(deployment.base_url, deployment.token_for("bob"), patience=PATIENT) as bob,
        pytest.raises(NotFound) as refused,
    ):
        bob.task(task_id)
    assert refused.value.code == 4006


def test_the_command_creates_waits_and_says_what_came(deployment: Deployed) -> None:
    who = {"TURNKEEPER_URL": deployment.base_url, "TURNKEEPER_TOKEN": deployment.token_for("alice")}

    made = CliRunner().invoke(app, ["new", "echo", "Hello!", "--wait", "--json"], env=who)
    refused = CliRunner().invoke(app, ["list"], env={**who, "TURNKEEPER_TOKEN": "none"})

    assert made.exit_code == 0, made.output
    answer = json.loads(made.stdout)
    assert [entry["message"][0]["text"] for entry in answer["messages"]] == ["Hello!", "Hello!"]
    assert (refused.exit_code, refused.stdout) == (40, "")
    assert "expired" in refused.stderr


@pytest.mark.timeout(240)
def test_a_worker_takes_turns_where_every_signature_is_verified(
    authorised_deployment: Deployed, acme: HostClient
) -> None:
    trust = ssl.create_default_context(cafile=authorised_deployment.deployment.endpoint.certificate)
    keys = acme.credentials
    session: Any = boto3.Session(
        aws_access_key_id=keys.access_key,
        aws_secret_access_key=keys.secret_key,
        aws_session_token=keys.token,
        region_name=REGION,
    )
    who: Any = {"token": authorised_deployment.token_for("alice"), "patience": PATIENT, "verify": trust}
    with (
        Host(acme.base_url, Signature(session), patience=PATIENT, verify=trust) as host,
        Client(acme.base_url, **who) as alice,
    ):
        host.register("backwards", manifest("backwards", repeatable=True))
        queue = Queue(acme.client("sqs"), acme.queue_url)
        worker = Worker(host, queue, backwards, pace=Pace(listen_s=1, heartbeat_s=1))
        running = threading.Thread(target=worker.run)
        running.start()
        try:
            found = alice.settled(alice.create("backwards", "abc d").task.id)
            named = host.messages(found.task.id, after=None, limit=1)
        finally:
            worker.stop()
            running.join()

    assert [entry.text for entry in found.entries] == ["abc d", "Let me think …", "d cba"]
    assert [entry.text for entry in named.messages] == ["abc d"]


def backwards(turn: Turn) -> str:
    turn.emit("Let me think …")
    return turn.text[::-1]
