"""Hosts, where the engine verifies every signature: each drives what is its own, and nothing else is there for it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from offline import hosts
from offline.signing import Signed
from tests.e2e.conftest import Authorised
from tests.support.deployed import Deployed, eventually
from tests.support.host_routes import HostRoute, host_routes
from tests.support.hosting import report
from tests.support.hosts import HostClient, manifest, role_at, said

ROUTES = host_routes()
UNKNOWN = "0" * 32
BODIES: dict[str, dict[str, Any]] = {
    "turns": {},
    "files": {"name": "a.csv", "mimeType": "text/csv", "sizeBytes": 3},
    "heartbeat": {"fence": 1},
    "outputs": {"fence": 1, "number": 1, **said("one")},
    "finish": {"fence": 1, **said("two")},
    "reports": {"fence": 9, "report": report()},
    "fail": {"fence": 1},
    "interrupt": {},
    "complete": {"outcome": 2000},
    "error": {"outcome": 6000},
    "restrict": {},
    "reconcile": {"answer": "repeat"},
    "resolve": {"fence": 1, "wait": "w", "verdict": "done"},
    # Under a fence that is nobody's, so that the turn goes on and there is no child.
    "wait": {"fence": 9, "waits": [{"id": "w", "kind": "host"}]},
    "children": {"fence": 9, "call": "c", "agent": "helper"},
    "grants": {"user": "somebody", "provider": "github"},
}
"""A valid body for every route that takes one, by the end of its path."""
OF_SOMEBODY = [route for route in ROUTES if route.last != "grants"]
"""A host grants what waits for it and nobody else, so that is the one route where nothing can be another's."""


def ask(http: httpx.Client, route: HostRoute, *, task: str, agent: str = "helper") -> httpx.Response:
    path = route.of(task=task, agent=agent)
    match route.method:
        case "GET":
            return http.get(path)
        case "PUT":
            return http.put(path, json=manifest(agent))
        case _:
            return http.request(route.method, path, json=BODIES[route.last])


@pytest.fixture(scope="module")
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


@pytest.fixture(scope="module")
def task(alice: httpx.Client, acme: HostClient) -> str:
    """A task of Acme's whose turn runs."""
    return running_task(alice, acme)


def running_task(alice: httpx.Client, acme: HostClient) -> str:
    """The id of a new task of Acme's agent `helper`, whose first turn was just started."""
    assert acme.register("helper").status_code == 200
    task_id: str = alice.post("v1/tasks", json={"agent": "helper", "input": said("hello")}).json()["id"]
    acme.woken(task_id)
    started = acme.post(task_id, "turns")
    assert (started.status_code, started.json()["turn"]["fence"]) == (201, 1), started.text
    return task_id


@pytest.mark.parametrize("route", OF_SOMEBODY, ids=lambda route: f"{route.method} {route.path}")
def test_to_another_host_it_is_all_unknown(
    authorised_deployment: Deployed, globex: HostClient, task: str, route: HostRoute
) -> None:
    before = authorised_deployment.stored(task)

    with globex.http() as http:
        foreign = ask(http, route, task=task)
        unknown = http.get(f"v1/host/tasks/{UNKNOWN}")

    assert (foreign.status_code, foreign.content) == (404, unknown.content)
    assert authorised_deployment.stored(task) == before


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.method} {route.path}")
@pytest.mark.parametrize("forged", [None, "signed with another secret"])
def test_without_a_signature_that_fits_nobody_gets_to_a_host_route(
    authorised_deployment: Deployed, acme: HostClient, task: str, route: HostRoute, forged: str | None
) -> None:
    before = authorised_deployment.stored(task)

    with authorised_deployment.http() as http:
        if forged:
            http.auth = Signed(Credentials(acme.credentials.access_key, forged))
        refused = ask(http, route, task=task)

    assert refused.status_code == 403
    # The gateway's own words: no function was asked.
    assert refused.headers["content-type"] != "application/problem+json"
    assert authorised_deployment.stored(task) == before


def test_a_request_that_was_changed_after_it_was_signed_is_turned_away(acme: HostClient, task: str) -> None:
    class Changing(Signed):
        def auth_flow(self, request: httpx.Request) -> Any:
            signed = next(super().auth_flow(request))
            yield httpx.Request("POST", signed.url, content=b'{"outcome":6001}', headers=signed.headers)

    with acme.http() as http:
        http.auth = Changing(acme.credentials)
        refused = http.post(f"v1/host/tasks/{task}/error", json={"outcome": 6000})

    assert refused.status_code == 403


def test_a_user_of_the_account_who_may_not_call_the_api_gets_nowhere(
    authorised_deployment: Deployed, acme: HostClient, task: str
) -> None:
    endpoint = authorised_deployment.deployment.endpoint
    keys = hosts.keys_of(endpoint, hosts.make_host(endpoint, "stranger"))

    with acme.http() as http:
        http.auth = Signed(Credentials(keys.access_key_id, keys.secret_access_key))
        refused = http.get(f"v1/host/tasks/{task}")

    assert refused.status_code == 403


def test_a_person_is_no_host_and_a_host_no_person(alice: httpx.Client, acme: HostClient, task: str) -> None:
    with acme.http() as http:
        assert http.get(f"v1/tasks/{task}").status_code == 401
    assert alice.get(f"v1/host/tasks/{task}").status_code == 403
    assert alice.post(f"v1/host/tasks/{task}/restrict").status_code == 403
    assert alice.get(f"v1/tasks/{task}").json()["status"]["phase"] == "processing"


def test_a_queue_is_its_hosts_alone_and_only_to_be_emptied(acme: HostClient, globex: HostClient) -> None:
    wake_up = {"MessageBody": "{}", "MessageGroupId": "a", "MessageDeduplicationId": "a"}

    with pytest.raises(ClientError, match="AccessDenied"):
        globex.client("sqs").receive_message(QueueUrl=acme.queue_url)
    with pytest.raises(ClientError, match="AccessDenied"):
        acme.client("sqs").send_message(QueueUrl=acme.queue_url, **wake_up)
    with pytest.raises(ClientError, match="AccessDenied"):
        acme.client("dynamodb").list_tables()


def test_all_of_that_is_there_for_the_host_itself(alice: httpx.Client, acme: HostClient) -> None:
    task = running_task(alice, acme)
    # The word on a wait may come before it is recorded, and not after the turn is over.
    in_time = sorted(ROUTES, key=lambda route: route.last != "resolve")

    with acme.http() as http:
        answered = {f"{route.method} {route.path}": ask(http, route, task=task) for route in in_time}
    messages = alice.get(f"v1/tasks/{task}/messages").json()["messages"]

    # Nothing was sent as a file yet, and which one is asked for the routes above do not say.
    files = [answered.pop(f"{method} v1/host/tasks/{{task_id}}/files") for method in ("POST", "GET")]
    odd = {
        what: answer.status_code for what, answer in answered.items() if answer.status_code not in {200, 409}
    }
    assert [answer.status_code for answer in files] == [201, 400]
    assert odd == {what: 404 for what in answered if "{child_id}" in what}
    done = {what.rpartition("/")[2] for what, answer in answered.items() if answer.status_code == 200}
    assert {"heartbeat", "outputs", "finish", "complete", "resolve", "grants"} <= done
    assert [entry["message"][0]["text"] for entry in messages] == ["hello", "one", "two"]
    assert alice.get(f"v1/tasks/{task}").json()["status"]["phase"] == "terminal"


def test_all_sessions_of_a_role_are_one_host(
    alice: httpx.Client, authorised: Authorised, globex: HostClient
) -> None:
    role = authorised.deployed.client("iam").get_role(RoleName="globex")["Role"]
    other = role_at(authorised.deployed, hosts.Host("globex", "", role["Arn"]), session="two")
    assert globex.register("shared").status_code == 200
    task_id = alice.post("v1/tasks", json={"agent": "shared", "input": said("hello")}).json()["id"]
    globex.woken(task_id)

    started = globex.post(task_id, "turns").json()["turn"]
    finished = other.post(task_id, "finish", {"fence": started["fence"], **said("done")})

    assert finished.status_code == 200, finished.text


def test_a_function_of_a_host_takes_a_turn(
    alice: httpx.Client, authorised: Authorised, globex: HostClient
) -> None:
    registered = globex.register("shout", runs="lambda", function=authorised.function)
    assert registered.status_code == 200, registered.text
    task_id = alice.post("v1/tasks", json={"agent": "shout", "input": said("hello")}).json()["id"]

    eventually(lambda: alice.get(f"v1/tasks/{task_id}").json()["status"]["phase"] == "idle")

    messages = alice.get(f"v1/tasks/{task_id}/messages").json()["messages"]
    assert [entry["message"][0]["text"] for entry in messages] == ["hello", "HELLO"]


def test_a_function_that_the_deployment_does_not_name_takes_none(
    authorised: Authorised, globex: HostClient
) -> None:
    refused = globex.register("shout2", runs="lambda", function=f"{authorised.function}-2")

    assert refused.status_code == 422
    assert "host_functions" in refused.text


def test_an_account_without_a_queue_of_its_own_has_no_external_agents(
    authorised_deployment: Deployed, acme: HostClient
) -> None:
    deployment = authorised_deployment.deployment
    undeclared = hosts.make_host(deployment.endpoint, "undeclared")
    hosts.let_in(deployment, undeclared)
    keys = hosts.keys_of(deployment.endpoint, undeclared)

    with acme.http() as http:
        http.auth = Signed(Credentials(keys.access_key_id, keys.secret_access_key))
        refused = http.put("v1/host/agents/another", json=manifest("another"))

    assert refused.status_code == 422
    assert "external_hosts" in refused.text
