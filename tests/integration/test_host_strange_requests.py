"""Whatever a host sends on whichever of its routes, it is answered: never a 5xx, and every refusal is a problem."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.test_host_isolation import BODIES
from tests.integration.test_strange_requests import HEADERS, ODD, QUERIES, SEGMENT, check
from tests.support.gateway import event
from tests.support.hosting import ACME, AGENT, Host, Hosts, manifest

many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

NAMES = (
    st.sampled_from(["fence", "number", "message", "text", "usage", "tool_calls", "outcome", "answer"])
    | st.sampled_from(["kind", "name", "limits", "max_age", "max_turns", "discard_pending"])
    | st.sampled_from(["turnkeeper", "runs", "function", "backoff"])
)
LEAVES = st.sampled_from(
    [None, True, False, 0, 1, -1, 2**63, 1.5, "", "external", "lambda", "done", "30m", "9" * 400 + "d", AGENT]
)
VALUES = st.recursive(
    LEAVES | ODD | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | ODD, inner, max_size=4),
    max_leaves=10,
)


def paths_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in *value* where something else could stand."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for name, one in inner for deeper in paths_in(one, (*path, name)))]


def changed(value: Any, path: tuple[Any, ...], to: Any) -> Any:
    """*value* with *to* at *path*."""
    if not path:
        return to
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], to)
    return copy


@st.composite
def nearly_right(draw: st.DrawFn) -> tuple[str, Any]:
    """A route, and a body of its own with something else in one or two places, or beside them."""
    route = draw(st.sampled_from(sorted(BODIES)))
    body: Any = BODIES[route] if BODIES[route] is not None else {}
    if route.startswith("PUT"):
        body = manifest(
            limits={"max_age": "1h", "max_turns": 3, "max_tool_calls": 5},
            lifespan="1h",
            attempts=2,
            backoff=["1s"],
            turn_limit="1h",
            repeatable=True,
        )
    for _ in range(draw(st.integers(0, 2))):
        path = draw(st.sampled_from(paths_in(body)))
        body = changed(body, path, draw(VALUES))
        if isinstance(body, dict) and draw(st.booleans()):
            body = {**body, draw(NAMES | ODD): draw(VALUES)}
    return route, body


@settings(many, max_examples=80)
@given(asked=nearly_right(), headers=HEADERS, query=QUERIES, runs=st.booleans())
def test_a_body_that_is_nearly_right_is_taken_or_refused(
    host: Host, *, asked: tuple[str, Any], headers: dict[str, str], query: dict[str, str], runs: bool
) -> None:
    route, body = asked
    host.register(repeatable=True)
    task_id = host.running()[0] if runs else host.task()
    method, path = route.replace("{task_id}", task_id).replace("{name}", AGENT).split(" ")
    request = event(method, path, signer=ACME, body=json.dumps(body))
    request["headers"], request["queryStringParameters"] = headers, query

    check(host.api, request)

    # What was taken of it is no trap for whoever comes next.
    check(host.api, event("POST", "/v1/tasks", body={"agent": AGENT}))
    check(host.api, event("GET", f"/v1/host/tasks/{task_id}", signer=ACME))


@many
@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"]),
    parts=st.lists(SEGMENT | st.sampled_from(["agents", "turns", "outputs", AGENT, "echo"]), max_size=4),
    body=st.none() | VALUES.map(json.dumps) | ODD,
)
def test_any_path_is_a_route_or_nothing(host: Host, method: str, parts: list[str], body: str | None) -> None:
    reply = check(host.api, event(method, "/v1/host/" + "/".join(parts), signer=ACME, body=body))

    assert reply.status in {200, 400, 404, 422}


@many
@given(
    route=st.sampled_from(sorted(BODIES)),
    missing=st.sets(st.sampled_from(["headers", "queryStringParameters", "pathParameters", "body"])),
    null=st.sets(st.sampled_from(["headers", "queryStringParameters", "body", "isBase64Encoded"])),
    iam=st.none()
    | st.just(ACME.iam())
    | st.dictionaries(st.sampled_from(["accountId", "userId", "callerId"]), st.none() | ODD | st.integers())
    | st.lists(ODD),
)
def test_what_the_gateway_leaves_out_or_sends_as_null_is_no_bug(
    hosts: Hosts, route: str, missing: set[str], null: set[str], iam: Any
) -> None:
    method, path = route.replace("{task_id}", "0" * 32).replace("{name}", "nobody").split(" ")
    request = event(method, path, body=BODIES[route])
    request["requestContext"]["authorizer"] = {"iam": iam}

    left = {name: value for name, value in request.items() if name not in missing} | dict.fromkeys(null)
    check(hosts.acme.api, left)
