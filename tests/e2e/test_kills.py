"""Whoever runs a turn is killed for real, wherever that hurts: the turn is taken up again, and nothing is said twice.

Agents of ours say their last output in the write that ends the turn: there is nothing to kill between those two.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from infra import ROOT
from tests.e2e.conftest import Authorised
from tests.support.deployed import Deployed, eventually, kill
from tests.support.hosts import HostClient, said

PARTS = ["part 1", "part 2"]
MUCH = 12
SOON_S = 10
"""How long after a sweep a turn may be taken up; a queue and a start of a function lie between."""
WHERE = {0: "before the first output", 1: "between outputs", 2: "after the last output, before the end"}
everywhere = pytest.mark.parametrize("said_before", WHERE, ids=WHERE.get)


@pytest.fixture(scope="module")
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


def create(alice: httpx.Client, agent: str, text: str) -> str:
    made = alice.post("v1/tasks", json={"agent": agent, "input": said(text)})
    assert made.status_code == 202, made.text
    task_id: str = made.json()["id"]
    return task_id


def is_idle(alice: httpx.Client, task: str) -> bool:
    return bool(alice.get(f"v1/tasks/{task}").json()["status"]["phase"] == "idle")


def outputs(alice: httpx.Client, task: str) -> list[str]:
    entries = alice.get(f"v1/tasks/{task}/messages").json()["messages"]
    return [entry["message"][0]["text"] for entry in entries if entry["type"] == "output"]


def wait_for_the_leases_end(deployed: Deployed, task: str) -> None:
    ends = datetime.fromisoformat(deployed.stored(task)["turn"]["M"]["lease_until"]["S"])
    time.sleep(max((ends - datetime.now(UTC)).total_seconds() + 0.1, 0))


def refused_without_a_trace(deployed: Deployed, host: HostClient, task: str, fence: int) -> None:
    """Nothing that is written under a *fence* of old gets anywhere."""
    before = deployed.stored(task)
    late = {
        "heartbeat": {},
        "outputs": {"number": 1, **said("late")},
        "finish": said("late"),
        "fail": {},
    }

    answers = {what: host.post(task, what, {"fence": fence, **body}) for what, body in late.items()}

    assert {what: answer.status_code for what, answer in answers.items()} == dict.fromkeys(late, 409)
    assert deployed.stored(task) == before


def host_process(host: HostClient, task: str, *, stops_after: int) -> subprocess.Popen[str]:
    certificate = host.endpoint.certificate
    told = {
        "credentials": [host.credentials.access_key, host.credentials.secret_key, host.credentials.token],
        "base_url": host.base_url,
        "endpoint": host.endpoint.url,
        "certificate": str(certificate) if certificate else None,
        "queue_url": host.queue_url,
        "task": task,
        "stops_after": stops_after,
    }
    command = [sys.executable, "-m", "tests.support.external_host"]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    process.stdin.write(json.dumps(told))
    process.stdin.close()
    return process


@everywhere
def test_an_external_hosts_turn_survives_it(
    authorised_deployment: Deployed, alice: httpx.Client, acme: HostClient, said_before: int
) -> None:
    assert acme.register("survivor", repeatable=True).status_code == 200
    task = create(alice, "survivor", "hello")
    with host_process(acme, task, stops_after=said_before) as process:
        assert process.stdout is not None
        started: dict[str, Any] = json.loads(process.stdout.readline())
        assert json.loads(process.stdout.readline()) == {"stopped_after": said_before}
        process.kill()

    wait_for_the_leases_end(authorised_deployment, task)
    authorised_deployment.sweep()
    acme.woken(task, within=SOON_S)
    turn = acme.post(task, "turns").json()["turn"]
    refused_without_a_trace(authorised_deployment, acme, task, started["fence"])
    # It begins again with what its first attempt may have said already.
    for number in range(turn["first_output"], len(PARTS) + 1):
        acme.post(task, "outputs", {"fence": turn["fence"], "number": number, **said(f"part {number}")})
    finished = acme.post(task, "finish", {"fence": turn["fence"]})

    assert (turn["fence"], turn["attempt"], turn["outputs"]) == (started["fence"] + 1, 2, said_before)
    assert finished.status_code == 200, finished.text
    assert outputs(alice, task) == PARTS
    refused_without_a_trace(authorised_deployment, acme, task, started["fence"])
    refused_without_a_trace(authorised_deployment, acme, task, turn["fence"])


@everywhere
def test_a_turn_in_a_function_of_a_host_survives_it(
    authorised: Authorised, alice: httpx.Client, globex: HostClient, said_before: int
) -> None:
    how = {"runs": "lambda", "function": authorised.function, "repeatable": True, "backoff": ["1s"]}
    assert globex.register("mortal", **how).status_code == 200
    task = create(alice, "mortal", f"hang after {said_before}")

    def seen() -> dict[str, Any]:
        with globex.http() as http:
            found: dict[str, Any] = http.get(f"v1/host/tasks/{task}").json()
            return found

    # It says that it runs, by what it used; and then what it says.
    eventually(lambda: seen()["usage"]["tool_calls"] == 1 and len(outputs(alice, task)) == said_before)
    fence = seen()["turn"]["fence"]
    killed = kill(authorised.deployed.workers_of(authorised.function.rpartition(":")[2]))
    eventually(lambda: is_idle(alice, task), within=SOON_S)

    assert killed == 1
    assert outputs(alice, task) == PARTS
    refused_without_a_trace(authorised.deployed, globex, task, fence)


def see_it_start(deployed: Deployed, task: str) -> None:
    eventually(lambda: "turn" in deployed.stored(task), every=0)


def killed_before_it_spoke(deployed: Deployed, alice: httpx.Client) -> str:
    """A task whose first turn was started by a worker that was then killed, before it said anything."""
    worker, much = deployed.function("turns"), {"message": 2 * said("x" * 95_000)["message"]}
    for _ in range(3):
        with deployed.nobody_at_work():
            task = create(alice, "slow_echo", "survive")
            # So much to read before there is anything to say that there is time to be killed.
            for _ in range(MUCH):
                assert alice.post(f"v1/tasks/{task}/inputs", json=much).status_code == 202
        see_it_start(deployed, task)
        assert kill(deployed.workers_of(worker)) == 1
        if not outputs(alice, task):
            return task
    raise AssertionError("it always spoke before it was killed")


def test_a_turn_in_our_function_survives_it_before_the_first_output(
    authorised_deployment: Deployed, alice: httpx.Client
) -> None:
    task = killed_before_it_spoke(authorised_deployment, alice)

    wait_for_the_leases_end(authorised_deployment, task)
    authorised_deployment.sweep()
    eventually(lambda: is_idle(alice, task), within=SOON_S)

    thinks, answers = outputs(alice, task)
    assert thinks == f"Thinking about {1 + MUCH} input(s) …"
    assert answers.startswith("survive\nxxx")


def test_a_turn_in_our_function_survives_it_between_outputs(
    authorised_deployment: Deployed, alice: httpx.Client
) -> None:
    task = create(alice, "slow_echo", "survive")
    eventually(lambda: len(outputs(alice, task)) == 1)

    killed = authorised_deployment.kill_workers("turns")
    wait_for_the_leases_end(authorised_deployment, task)
    authorised_deployment.sweep()
    eventually(lambda: is_idle(alice, task), within=SOON_S)

    assert killed == 1
    assert outputs(alice, task) == ["Thinking about 1 input(s) …", "survive"]
