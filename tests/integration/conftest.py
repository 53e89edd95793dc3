"""A laboratory per test, on each engine."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.clients import SIDES, Wire, clients
from tests.support.counting import Count, Counting, counted
from tests.support.engines import Engine, make_queue
from tests.support.filing import named
from tests.support.functions import Function, Invoke, Run
from tests.support.gateway import ENVIRONMENT, Gateway, forget_settings
from tests.support.hosting import ACME, AGENT, FUNCTION, RIVAL, Host, Hosts, make_hosts, report, text
from tests.support.laboratory import ALICE, Clock, Laboratory
from turnkeeper.invocation import Invoked


@pytest.fixture
def lab(engine: Engine) -> Laboratory:
    return Laboratory(engine)


@pytest.fixture
def counting(engine: Engine) -> Laboratory:
    """A laboratory whose clients count; its agents are known already, as they are after their first use."""
    dynamodb, sqs = Counting(engine.client("dynamodb")), Counting(engine.client("sqs"))
    lab = Laboratory(engine, dynamodb=dynamodb, sqs=sqs)
    for agent in ("echo", "mayfly"):
        lab.create(agent=agent, caller="somebody")
    return lab


@pytest.fixture
def count(counting: Laboratory) -> Count:
    """A tally of what a block calls."""
    return lambda: counted(counting.dynamodb, counting.sqs)


@pytest.fixture
def live_lab(moto_engine: Engine) -> Laboratory:
    """A laboratory on the wall clock, since the functions have no other."""
    return Laboratory(moto_engine, clock=Clock(datetime.now(UTC)))


@pytest.fixture
def api(live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """The functions behind the gateway, on the table and the queue of `live_lab`."""
    places = {
        "TURNKEEPER_TABLE": live_lab.table,
        "TURNKEEPER_QUEUE_URL": live_lab.queue_url,
        "TURNKEEPER_BUCKET": live_lab.bucket,
    }
    for name, value in {**ENVIRONMENT, **places}.items():
        monkeypatch.setenv(name, value)
    forget_settings()
    yield Gateway()
    forget_settings()


@pytest.fixture
def developers(api: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - whose settings it changes
    """Whoever is in the group `developers` reads as one."""
    monkeypatch.setenv("TURNKEEPER_DEVELOPER_CLAIM", "cognito:groups=developers")


@pytest.fixture
def hosts(api: Gateway, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Hosts:
    """Two hosts that the deployment declares, and one function; none has an agent yet."""
    queues = {signer.principal: make_queue(live_lab.sqs) for signer in (ACME, RIVAL)}
    monkeypatch.setenv("TURNKEEPER_HOST_QUEUES", json.dumps(queues))
    monkeypatch.setenv("TURNKEEPER_HOST_FUNCTIONS", json.dumps([FUNCTION]))
    forget_settings()
    queue = live_lab.runtime.queue
    assert queue
    live_lab.runtime = replace(
        live_lab.runtime, queue=replace(queue, host_urls=queues), host_functions=frozenset({FUNCTION})
    )
    return make_hosts(api, live_lab, queues)


@pytest.fixture
def host(hosts: Hosts) -> Host:
    """The host `acme`, with the agent `helper`, whose turns may be repeated."""
    assert hosts.acme.register(repeatable=True).status == 200
    return hosts.acme


@pytest.fixture
def invoke(hosts: Hosts, live_lab: Laboratory) -> Invoke:
    """Has an agent of the host `acme` be the function *run*, on such terms."""

    def agent(run: Run, **terms: Any) -> Function:
        assert hosts.acme.register(runs="lambda", function=FUNCTION, backoff=["0s"], **terms).status == 200
        function = Function(run)
        live_lab.agents[AGENT] = lambda: Invoked(function, FUNCTION)
        return function

    return agent


@pytest.fixture
def acme(hosts: Hosts) -> Host:
    """The host `acme`, with no agent yet."""
    return hosts.acme


@pytest.fixture
def wire(api: Gateway, live_lab: Laboratory) -> Wire:
    """The client's way to the functions in this process."""
    return Wire(api, live_lab, signers={"acme": ACME, "rival": RIVAL})


@pytest.fixture(params=SIDES)
def side(request: pytest.FixtureRequest) -> str:
    """Whether the client blocks or is awaited."""
    return str(request.param)


@pytest.fixture
def connect(side: str) -> Iterator[Callable[..., Any]]:
    """Makes clients of that side."""
    with clients(side) as make:
        yield make


@pytest.fixture
def alice(connect: Callable[..., Any], wire: Wire) -> Any:
    """Alice's client."""
    return connect(wire)


@pytest.fixture
def lived(hosts: Hosts) -> str:
    """A task with everything that can lie beside one; it has ended."""
    host = hosts.acme
    host.register(repeatable=True)
    host.register("other", delegates_from=["helper"])
    task_id = host.task("first")
    host.lab.lay(f"task/{task_id}/x/week 48.csv", b"day,parcels")
    assert host.api.post(f"/v1/tasks/{task_id}/inputs", named("task://x/week 48.csv")).status == 202
    fence = host.start(task_id)["fence"]
    host.ask(task_id, "heartbeat", {"fence": fence})
    host.say(task_id, fence, 1, "one moment")
    host.report(task_id, fence, report(), unit="search")
    host.ask(task_id, "children", {"fence": fence, "call": "c", "agent": "other", "input": text("hi")})
    waits = [
        {"id": "r", "kind": "review", "reviewer": ALICE, "subject": "Buy it?"},
        {"id": "s", "kind": "review", "reviewer": ALICE, "subject": "Really?"},
        {"id": "h", "kind": "host"},
    ]
    host.ask(task_id, "wait", {"fence": fence, "waits": waits, "memo": {"at": 7}})
    review = host.api.get("/v1/reviews").json["reviews"][0]
    decision = {"decision": "approve", "comment": "Go ahead."}
    assert host.api.post(f"/v1/reviews/{review['id']}", decision).status == 200
    host.ask(task_id, "interrupt")
    assert host.ask(task_id, "complete", {"message": {"user": "Bought."}}).status == 200
    return task_id
