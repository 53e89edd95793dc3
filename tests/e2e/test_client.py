"""The Python client and the command against what was deployed, over HTTP: a task from its creation to its answer."""

import json

import pytest
from typer.testing import CliRunner

from tests.support.deployed import Deployed
from turnkeeper_client import Client, NotFound, Patience
from turnkeeper_client.cli.app import app

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
