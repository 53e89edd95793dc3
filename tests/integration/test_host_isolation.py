"""Route by route: what is not a host's own is not there for it, and who is no host is nobody. Nothing is stored."""

import json
from itertools import product
from typing import Any

import pytest

from tests.support.gateway import Signer
from tests.support.host_routes import host_routes
from tests.support.hosting import ACME, AGENT, RIVAL, Host, Hosts, manifest, report, text
from tests.support.laboratory import ALICE, Laboratory
from tests.support.reply import Event, Reply

UNKNOWN = "0" * 32
# What each route takes, so that it would go well on a task of one's own with a turn under the fence 1.
BODIES: dict[str, object] = {
    "GET /v1/host/agents/{name}": None,
    "PUT /v1/host/agents/{name}": manifest(),
    "GET /v1/host/tasks/{task_id}": None,
    "GET /v1/host/tasks/{task_id}/messages": None,
    "GET /v1/host/tasks/{task_id}/files": None,
    "POST /v1/host/tasks/{task_id}/files": {"name": "a.csv", "mimeType": "text/csv", "sizeBytes": 3},
    "GET /v1/host/tasks/{task_id}/agent-status": None,
    "POST /v1/host/tasks/{task_id}/turns": {},
    "POST /v1/host/tasks/{task_id}/heartbeat": {"fence": 1, "usage": {"tool_calls": 1}},
    "POST /v1/host/tasks/{task_id}/outputs": {"fence": 1, "number": 1, **text("hello")},
    "POST /v1/host/tasks/{task_id}/finish": {"fence": 1, **text("hello")},
    "POST /v1/host/tasks/{task_id}/wait": {"fence": 1, "waits": [{"id": "w", "kind": "host"}], "memo": 1},
    "POST /v1/host/tasks/{task_id}/resolve": {"fence": 1, "wait": "w", "verdict": "done"},
    "POST /v1/host/tasks/{task_id}/children": {
        "fence": 1,
        "call": "c",
        "agent": "other",
        "input": text("hi"),
    },
    "GET /v1/host/tasks/{task_id}/children/{child_id}": None,
    "GET /v1/host/tasks/{task_id}/children/{child_id}/messages": None,
    "GET /v1/host/tasks/{task_id}/children/{child_id}/files": None,
    "POST /v1/host/grants": {"user": ALICE, "provider": "github"},
    "POST /v1/host/tasks/{task_id}/reports": {"fence": 1, "report": report()},
    "POST /v1/host/tasks/{task_id}/fail": {"fence": 1},
    "POST /v1/host/tasks/{task_id}/interrupt": {},
    "POST /v1/host/tasks/{task_id}/complete": {"discard_pending": True},
    "POST /v1/host/tasks/{task_id}/error": {"outcome": 6000},
    "POST /v1/host/tasks/{task_id}/restrict": {},
    "POST /v1/host/tasks/{task_id}/reconcile": {"answer": "done"},
}
FILE = "there/a.csv"
QUERIES: dict[str, dict[str, str]] = {
    route: {"ref": f"task://{FILE}"}
    for route in BODIES
    if route.startswith("GET") and route.endswith("files")
}
OF_TASKS = [route for route in BODIES if "{task_id}" in route]
OF_AGENTS = [route for route in BODIES if "{name}" in route]
GRANT = "POST /v1/host/grants"
EVERY = pytest.mark.parametrize("route", BODIES)


def request(host: Host, route: str, at: str, signer: Signer | None = None, **more: Any) -> Event:
    """The request that *route* wants, of the task or the agent *at*."""
    named = {"task_id": at, "name": at, "child_id": child_of(host, at)}
    method, path = route.format(**named).split(" ")
    more = {"body": BODIES[route], "query": QUERIES.get(route), **more}
    return host.api.event(method, path, signer=signer or host.signer, **more)


def child_of(host: Host, task_id: str) -> str:
    """A child of the task, or of nobody."""
    items = host.lab.everything().items()
    return next(
        (item["child"] for (pk, _), item in items if pk == f"TASK#{task_id}" and "child" in item), UNKNOWN
    )


def with_child(host: Host) -> str:
    """A task with a turn that runs, and a child."""
    task_id, fence = host.running()
    made = host.ask(task_id, "children", {"fence": fence, "call": "before", "agent": "other"})
    assert made.status == 201, made.body
    return task_id


def lost(host: Host) -> str:
    """A task whose turn was lost and must be reconciled."""
    assert host.register("careful").status == 200
    task_id = host.task("hi", agent="careful")
    host.start(task_id)
    host.sweep_after(seconds=61)
    host.register()
    return task_id


def fit_for(route: str, host: Host) -> str:
    """A task of the host's own on which *route* goes well."""
    match route.rpartition("/")[2]:
        case "files" if "child" in route:
            assert host.register("other", delegates_from=[AGENT]).status == 200
            task_id = with_child(host)
            host.lab.send_file(child_of(host, task_id), FILE)
            return task_id
        case "turns":
            return host.task("hi")
        case "reconcile":
            return lost(host)
        case "files":
            task_id, _ = host.running()
            host.lab.send_file(task_id, FILE)
            return task_id
        case "children" | "messages" | "{child_id}":
            assert host.register("other", delegates_from=[AGENT]).status == 200
            return with_child(host)
        case _:
            return host.running()[0]


def refused_alike(replies: list[Reply], status: int) -> None:
    """Every reply is the same refusal, byte for byte."""
    assert {reply.status for reply in replies} == {status}
    assert len({reply.body for reply in replies}) == 1
    assert len({json.dumps(dict(reply.headers)) for reply in replies}) == 1


def test_every_route_that_there_is_is_here() -> None:
    assert {*BODIES} == {f"{route.method} /{route.path}" for route in host_routes()}
    assert {*BODIES} == {*OF_TASKS, *OF_AGENTS, GRANT}


@EVERY
def test_a_host_may_do_with_its_own_what_others_may_not(host: Host, route: str) -> None:
    """Else the refusals that follow would show nothing."""
    own = fit_for(route, host) if route in OF_TASKS else AGENT

    reply = host.api.send(request(host, route, own))

    assert reply.status in {200, 201, 202}


@pytest.mark.clause("SEC-2")
@pytest.mark.parametrize("route", OF_TASKS)
def test_a_task_that_is_not_the_hosts_own_is_an_unknown_one(
    hosts: Hosts, live_lab: Laboratory, route: str
) -> None:
    assert hosts.acme.register(repeatable=True).status == 200
    others = fit_for(route, hosts.acme)
    deployments = live_lab.create("hi").task.id
    ids = [UNKNOWN, others, deployments, others.upper(), "nonsense", "%00", "é", "a%2Fb", "." * 900, "0" * 31]
    before = live_lab.everything()

    replies = [
        hosts.rival.api.send(request(hosts.rival, route, task_id, headers=headers))
        for task_id in ids
        for headers in ({}, {"Idempotency-Key": "k"})
    ]

    refused_alike([*replies, hosts.rival.send("GET", f"tasks/{UNKNOWN}")], 404)
    assert live_lab.everything() == before
    assert others not in replies[0].body


@EVERY
def test_who_is_no_host_is_refused_before_anything_is_read(
    host: Host, live_lab: Laboratory, route: str
) -> None:
    at = host.running()[0] if route in OF_TASKS else AGENT
    people = host.api.event("GET", "/v1/tasks")["requestContext"]["authorizer"]
    # The owner of what is built in is a word that no principal can be.
    impostor = Signer("deployment", "deployment", account="").iam()
    nobodies = [None, {}, people, {"iam": None}, {"iam": {**ACME.iam(), "userId": ""}}, {"iam": impostor}]
    wrong: list[dict[str, Any]] = [{}, {"body": "{", "query": {"limit": "0"}}]
    before = live_lab.everything()

    replies = []
    for authorizer, more in product(nobodies, wrong):
        asked = request(host, route, at, **more)
        asked["requestContext"]["authorizer"] = authorizer
        replies.append(host.api.send(asked))

    refused_alike(replies, 403)
    assert replies[0].json["agent_status"]["code"] == 4002
    assert replies[0].json["retry"]["strategy"] == "after_signing_as_a_host"
    assert live_lab.everything() == before


@pytest.mark.parametrize("route", [*OF_TASKS, *OF_AGENTS])
def test_nothing_but_the_signature_says_which_host_asks(
    hosts: Hosts, live_lab: Laboratory, route: str
) -> None:
    """A forged header, query or field never makes a stranger the owner."""
    hosts.acme.register(repeatable=True)
    at = fit_for(route, hosts.acme) if route in OF_TASKS else AGENT
    forged = {"x-principal": ACME.principal, "x-amzn-iam": ACME.role_id, "authorization": ACME.role_id}
    before = live_lab.everything()

    reply = hosts.rival.api.send(request(hosts.rival, route, at, headers=forged))

    assert reply.status == 404
    assert live_lab.everything() == before


def test_a_key_is_its_hosts_own(hosts: Hosts, live_lab: Laboratory) -> None:
    """What another host's key made is no business of who guesses it."""
    hosts.acme.register(repeatable=True)
    task_id, fence = hosts.acme.running()
    body = {"fence": fence, **text("done")}
    assert hosts.acme.ask(task_id, "finish", body, key="k").status == 200
    before = live_lab.everything()

    reply = hosts.rival.ask(task_id, "finish", body, key="k")

    assert reply.status == 404
    assert live_lab.everything() == before
    assert hosts.acme.ask(task_id, "finish", body, key="k").status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "agents/helper"),
        ("DELETE", "agents/helper"),
        ("GET", "agents"),
        ("GET", "tasks"),
        ("POST", f"tasks/{UNKNOWN}"),
        ("GET", f"tasks/{UNKNOWN}/turns"),
        ("POST", f"tasks/{UNKNOWN}/outputs/1"),
        ("PATCH", f"tasks/{UNKNOWN}/finish"),
        ("GET", ""),
    ],
)
def test_no_route_looks_like_an_unknown_task(hosts: Hosts, method: str, path: str) -> None:
    refused_alike([hosts.acme.send(method, path, {}), hosts.acme.send("GET", f"tasks/{UNKNOWN}")], 404)


def test_a_line_break_after_a_path_makes_it_another(hosts: Hosts, live_lab: Laboratory) -> None:
    hosts.acme.register()
    task_id, _ = hosts.acme.running()
    before = live_lab.everything()

    refused_alike(
        [
            hosts.acme.send("GET", f"agents/{AGENT}%0A"),
            hosts.acme.send("PUT", f"agents/{AGENT}%0A", manifest()),
            hosts.acme.send("POST", f"tasks/{task_id}/complete%0A", {"discard_pending": True}),
            hosts.acme.send("GET", f"tasks/{UNKNOWN}"),
        ],
        404,
    )
    assert live_lab.everything() == before


def test_two_hosts_drive_their_own_side_by_side(hosts: Hosts, live_lab: Laboratory) -> None:
    hosts.acme.register("one")
    hosts.rival.register("two")
    mine, theirs = hosts.acme.task("hi", agent="one"), hosts.rival.task("hi", agent="two")

    assert [wake["task"] for wake in hosts.acme.wake_ups()] == [mine]
    assert [wake["task"] for wake in hosts.rival.wake_ups()] == [theirs]
    fences = hosts.acme.start(mine)["fence"], hosts.rival.start(theirs)["fence"]
    assert hosts.rival.finish(mine, fences[0], "broken").status == 404
    assert hosts.acme.finish(mine, fences[0], "done").status == 200
    assert hosts.rival.finish(theirs, fences[1], "done").status == 200
    assert live_lab.stored(mine).terms.owner == ACME.principal
    assert live_lab.stored(theirs).terms.owner == RIVAL.principal
