"""The sample events are what the functions get, and what they answer is said here."""

import json
from pathlib import Path

import pytest

from tests.support.gateway import HOSTS_ROUTE, OPEN_ROUTE, ROUTES, Gateway
from tests.support.host_routes import host_routes
from tests.support.hosting import AGENT, Hosts
from tests.support.laboratory import Laboratory

EVENTS = Path(__file__).parents[2] / "events"
SAMPLE_ID = "5f0c1e9a7b3d4826a1c0de5f9b7e3d24"
SAMPLE_CHILD = "c41d8cd98f00b204e9800998ecf8427e"
SAMPLE_FILE = "oV8WbZ1kTq2mJr5sXyD3uA/week 48, 2026.csv"
SAMPLE_REVISION = "b7e23ec29af22b0b4e41da31e868d572"
OF_HOSTS = {
    "host/complete": 200,
    "host/delegate": 202,
    "host/error": 200,
    "host/fail": 200,
    "host/finish": 200,
    "host/get_child_file": 200,
    "host/get_file": 200,
    "host/grant": 200,
    "host/heartbeat": 200,
    "host/interrupt": 200,
    "host/output": 200,
    "host/output_too_late": 409,
    "host/read_agent": 200,
    "host/read_agent_status": 200,
    "host/read_anothers_task": 404,
    "host/read_child": 200,
    "host/read_child_messages": 200,
    "host/read_messages": 200,
    "host/read_task": 200,
    "host/reconcile": 200,
    "host/report": 200,
    "host/register_agent": 200,
    "host/register_built_in_agent": 404,
    "host/register_invalid": 422,
    "host/resolve": 200,
    "host/restrict": 200,
    "host/send_file": 201,
    "host/start_turn": 201,
    "host/unknown_route": 404,
    "host/wait": 200,
    "host/without_a_signature": 403,
}
ANSWERS = {
    "status/poll": 200,
    "status/poll_anothers_task": 404,
    "status/poll_known_revision": 304,
    "status/poll_malformed_id": 404,
    "status/poll_without_a_human": 403,
    "tasks/accept_input": 202,
    "tasks/accept_input_for_anothers_task": 404,
    "tasks/create": 201,
    "tasks/create_by_a_machine": 403,
    "tasks/create_in_base64": 202,
    "tasks/create_invalid": 422,
    "tasks/create_malformed": 400,
    "tasks/create_with_input": 202,
    "tasks/decide_unknown_review": 404,
    "tasks/get_file": 200,
    "tasks/get_file_nobody_named": 404,
    "tasks/list": 200,
    "tasks/list_repeated_parameter": 400,
    "tasks/agent": 200,
    "tasks/agent_nobody_registered": 404,
    "tasks/agent_status": 200,
    "tasks/journal_without_the_right": 404,
    "tasks/agents": 200,
    "tasks/messages": 200,
    "tasks/notifications": 200,
    "tasks/reviews": 200,
    "tasks/messages_bad_cursor": 400,
    "tasks/send_file": 201,
    "tasks/send_file_invalid": 422,
    "tasks/read_reference": 200,
    "tasks/unknown_route": 404,
}


def test_every_route_and_every_sample_is_here() -> None:
    paths = [*EVENTS.glob("status/*.json"), *EVENTS.glob("tasks/*.json")]
    samples = {f"{path.parent.name}/{path.stem}": path for path in paths}
    routes = {json.loads(path.read_text(encoding="utf-8"))["routeKey"] for path in samples.values()}

    assert samples.keys() == ANSWERS.keys()
    assert routes == {*ROUTES, OPEN_ROUTE, "$default"}


@pytest.mark.parametrize(("name", "status"), ANSWERS.items(), ids=ANSWERS.keys())
def test_a_sample_event_is_answered(api: Gateway, live_lab: Laboratory, name: str, status: int) -> None:
    task = live_lab.create().task
    if name == "tasks/get_file":
        live_lab.send_file(task.id, SAMPLE_FILE)
    sample = (EVENTS / f"{name}.json").read_text(encoding="utf-8")

    reply = api.send(json.loads(sample.replace(SAMPLE_ID, task.id).replace(SAMPLE_REVISION, task.revision)))

    assert reply.status == status


def test_every_route_and_every_sample_of_hosts_is_here() -> None:
    samples = {
        f"host/{path.stem}": json.loads(path.read_text(encoding="utf-8"))
        for path in EVENTS.glob("host/*.json")
    }
    asked = {
        f"{sample['requestContext']['http']['method']} {sample['rawPath']}".replace(
            SAMPLE_ID, "{task_id}"
        ).replace(SAMPLE_CHILD, "{child_id}")
        for name, sample in samples.items()
        if name != "host/unknown_route"
    }
    routes = {f"{route.method} /{route.path}".replace("{name}", AGENT) for route in host_routes()}

    assert samples.keys() == OF_HOSTS.keys()
    assert asked == routes | {"PUT /v1/host/agents/echo"}
    assert {sample["routeKey"] for sample in samples.values()} == {HOSTS_ROUTE}


@pytest.mark.parametrize(("name", "status"), OF_HOSTS.items(), ids=OF_HOSTS.keys())
def test_a_sample_event_of_a_host_is_answered(hosts: Hosts, name: str, status: int) -> None:
    host = hosts.acme
    host.register(repeatable=name != "host/reconcile")
    task_id = host.task("Where is my parcel?")
    if name != "host/start_turn":
        host.start(task_id)
    if name == "host/reconcile":
        host.sweep_after(seconds=61)
    if name == "host/get_file":
        host.lab.send_file(task_id, SAMPLE_FILE)
    host.register("librarian", delegates_from=[AGENT])
    asked = {"fence": 1, "call": "earlier", "agent": "librarian"}
    child = host.ask(task_id, "children", asked).json.get("id", "") if "child" in name else ""
    if name == "host/get_child_file":
        host.lab.send_file(child, SAMPLE_FILE)
    sample = (EVENTS / f"{name}.json").read_text(encoding="utf-8")

    reply = host.api.send(json.loads(sample.replace(SAMPLE_ID, task_id).replace(SAMPLE_CHILD, child)))

    assert reply.status == status
