"""Whatever a caller sends, it is answered: never a 5xx, and every refusal is a problem of ours with one line logged."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.gateway import ROUTES, Gateway, event
from tests.support.laboratory import Laboratory
from tests.support.reply import Event, Reply

TASK_ID = "0123456789abcdef0123456789abcdef"
many = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ODD = st.text(st.characters(), max_size=12)
SEGMENT = ODD.map(lambda text: text.replace("/", "")) | st.sampled_from(
    [TASK_ID, TASK_ID.upper(), "..", "%2e", " ", "v1", "tasks", "messages", "inputs", "<task_id>", "a" * 2000]
)
PATHS = st.lists(SEGMENT, max_size=5).map(lambda parts: "/" + "/".join(parts))
QUERIES = st.dictionaries(
    st.sampled_from(["limit", "phase", "agent", "cursor", "after"]) | ODD,
    st.sampled_from(["", "0", "5", "-1", "idle", "echo", "a,b", "W10", "WyIiLDAsMF0", "9" * 400]) | ODD,
    max_size=4,
)
HEADERS = st.dictionaries(
    st.sampled_from(["idempotency-key", "if-none-match", "content-type", "accept-encoding", "origin"]) | ODD,
    st.sampled_from(["", "*", '"', 'W/"x",', "gzip", "a,b", "k"]) | ODD,
    max_size=4,
)
PARTS = st.fixed_dictionaries({"mimeType": st.just("text/plain"), "text": ODD})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ODD | PARTS | st.just("echo"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["agent", "input", "message", "text", "file", "metadata", "sizeBytes"]) | ODD,
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)
BODIES = (
    st.none() | ODD | VALUES.map(json.dumps) | st.sampled_from(["[" * 500, '{"a":1e999}', "eyJhIjoxfQ=="])
)


def check(api: Gateway, request: Event) -> Reply:
    """The reply to *request*, which is one that a caller may get."""
    reply = api.send(request)

    assert reply.status < 500
    if reply.status >= 400:
        assert reply.headers["Content-Type"] == "application/problem+json"
        body = reply.json
        assert body["status"] == reply.status
        assert {"type", "title", "detail", "agent_status", "retry"} <= body.keys()
        assert len(reply.body) < 12_000
    assert len(api.log) == 1
    assert json.loads(api.log[0])["status"] == reply.status
    return reply


@many
@given(method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"]), path=PATHS)
def test_any_path_is_a_route_or_nothing(api: Gateway, method: str, path: str) -> None:
    assert check(api, event(method, path)).status in {200, 400, 404}


@many
@given(route=st.sampled_from([*ROUTES]), query=QUERIES, headers=HEADERS, body=BODIES, packed=st.booleans())
def test_any_query_header_and_body_is_taken_or_refused(
    api: Gateway,
    live_lab: Laboratory,
    *,
    route: str,
    query: dict[str, str],
    headers: dict[str, str],
    body: str | None,
    packed: bool,
) -> None:
    mine = live_lab.create().task.id
    method, path = route.replace("{task_id}", mine).split(" ")
    request = event(method, path, body=body)
    request["queryStringParameters"] = query
    request["headers"] = headers
    request["isBase64Encoded"] = packed

    check(api, request)


@many
@given(
    route=st.sampled_from([*ROUTES]),
    missing=st.sets(st.sampled_from(["headers", "queryStringParameters", "pathParameters", "body"])),
    null=st.sets(
        st.sampled_from(["headers", "queryStringParameters", "pathParameters", "body", "isBase64Encoded"])
    ),
    claims=st.none()
    | st.dictionaries(
        st.sampled_from(["sub", "username", "client_id", "token_use"]), st.none() | ODD | st.integers()
    )
    | st.lists(ODD),
)
def test_what_the_gateway_leaves_out_or_sends_as_null_is_no_bug(
    api: Gateway, route: str, missing: set[str], null: set[str], claims: Any
) -> None:
    method, path = route.replace("{task_id}", TASK_ID).split(" ")
    request = event(method, path, body={"agent": "echo"})
    request["requestContext"]["authorizer"] = {"jwt": {"claims": claims}} if claims is not None else None

    check(api, {name: value for name, value in request.items() if name not in missing} | dict.fromkeys(null))
