"""The gateway as the functions see it: payload 2.0 events with what an authorizer verified, and the functions behind.

It routes as the stack does, so tests speak HTTP words and the handlers get what the gateway would send them.
"""

import base64
import importlib
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode

from tests.support.callbook import as_function
from tests.support.contract import Contract, the_contract
from tests.support.limits import watch
from tests.support.limits.refusal import refuse_unless
from tests.support.reply import Event, Reply
from turnkeeper import settings
from turnkeeper.edge.lines import PRODUCT, Lines

ROUTES = {
    "GET /v1/tasks/{task_id}": "status",
    "POST /v1/tasks": "tasks",
    "GET /v1/tasks": "tasks",
    "GET /v1/tasks/{task_id}/messages": "tasks",
    "POST /v1/tasks/{task_id}/inputs": "tasks",
    "POST /v1/tasks/{task_id}/files": "tasks",
    "GET /v1/tasks/{task_id}/files": "tasks",
    "GET /v1/tasks/{task_id}/agent-status": "tasks",
    "GET /v1/tasks/{task_id}/journal": "tasks",
    "GET /v1/reviews": "tasks",
    "POST /v1/reviews/{review_id}": "tasks",
    "GET /v1/notifications": "tasks",
    "GET /v1/agents": "tasks",
    "GET /v1/agents/{name}": "tasks",
}
OPEN_ROUTE = "GET /v1/openapi.json"
"""The one that anybody may ask for."""
HOSTS_ROUTE = "ANY /v1/host/{proxy+}"
"""All that hosts call comes by this one; which of theirs it is, their function's resolver says."""
ENVIRONMENT = {
    "TURNKEEPER_LEASE_SECONDS": "60",
    "TURNKEEPER_HEARTBEAT_SECONDS": "20",
    "TURNKEEPER_WAKE_GRACE_SECONDS": "60",
    "TURNKEEPER_WAKE_GRACE_MAX_SECONDS": "900",
    "TURNKEEPER_IDEMPOTENCY_SECONDS": "86400",
    "TURNKEEPER_RETENTION_SECONDS": "7776000",
    "TURNKEEPER_HUMAN_CLAIM": "username",
    "TURNKEEPER_HOST_QUEUES": "{}",
    "TURNKEEPER_HOST_FUNCTIONS": "[]",
    "TURNKEEPER_BEDROCK_AGENTS": "{}",
    "TURNKEEPER_DEPLOYMENT_HOSTS": "[]",
    "TURNKEEPER_LARGEST_FILE_BYTES": "104857600",
    "TURNKEEPER_FILE_URL_SECONDS": "900",
    "TURNKEEPER_AUDITORS": "[]",
    "TURNKEEPER_METRICS_NAMESPACE": "Turnkeeper/prod",
    "TURNKEEPER_REPORTERS": "{}",
    "TURNKEEPER_SEVERITIES": "{}",
    "TURNKEEPER_DEVELOPER_CLAIM": "",
}
LARGEST_ANSWER = 6 * 1024 * 1024
REQUEST_ID = "c6af9ac6-7b61-11e6-9a41-93e8deadbeef"


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda tells a function beside the event."""

    aws_request_id: str = REQUEST_ID
    function_name: str = "turnkeeper"
    memory_limit_in_mb: int = 128
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:000000000000:function:turnkeeper"


@dataclass(frozen=True, slots=True)
class Signer:
    """A role whose session signed a request, as the gateway verified it."""

    role: str
    role_id: str
    session: str = "worker-1"
    account: str = "123456789012"

    @property
    def principal(self) -> str:
        """The host that it is to us: the role as it was made once, in whatever session."""
        return f"{self.account}/{self.role_id}"

    def iam(self) -> dict[str, str | None]:
        """What an IAM authorizer tells of it."""
        return {
            "accessKey": "ASIAEXAMPLE123456789",
            "accountId": self.account,
            "callerId": f"{self.role_id}:{self.session}",
            "cognitoIdentity": None,
            "principalOrgId": "o-exampleorgid",
            "userArn": f"arn:aws:sts::{self.account}:assumed-role/{self.role}/{self.session}",
            "userId": f"{self.role_id}:{self.session}",
        }


def claims(person: str) -> dict[str, str]:
    """The claims of *person*'s access token, as Cognito writes them and the gateway passes them."""
    return {
        "sub": person,
        "username": person.removesuffix("-sub"),
        "client_id": "1example23456789",
        "token_use": "access",
        "iss": "https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_Example",
        "exp": "1796054400",
    }


def event(
    method: str,
    path: str,
    *,
    person: str | None = "alice-sub",
    signer: Signer | None = None,
    body: object = None,
    query: Mapping[str, str] | str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Event:
    """A request as the gateway hands it on; a *body* that is no text goes as JSON."""
    route, parameters = route_of(method, path)
    raw_query = query if isinstance(query, str) else urlencode(query or {})
    lowered = {name.lower(): value for name, value in (headers or {}).items()}
    made: Event = {
        "version": "2.0",
        "routeKey": route,
        "rawPath": unquote(path),
        "rawQueryString": raw_query,
        "headers": {"accept": "*/*", "content-type": "application/json", "host": "api.example", **lowered},
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "api",
            "domainName": "api.example",
            "domainPrefix": "api",
            "http": {
                "method": method,
                "path": unquote(path),
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "curl/8",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": route,
            "stage": "$default",
            "time": "30/Nov/2026:13:44:13 +0000",
            "timeEpoch": 1796046253000,
        },
        "isBase64Encoded": False,
    }
    if parameters:
        made["pathParameters"] = parameters
    if raw_query:
        sent = parse_qs(raw_query, keep_blank_values=True)
        made["queryStringParameters"] = {name: ",".join(values) for name, values in sent.items()}
    if signer is not None:
        made["requestContext"]["authorizer"] = {"iam": signer.iam()}
    elif person is not None and route not in {"$default", OPEN_ROUTE}:
        made["requestContext"]["authorizer"] = {"jwt": {"claims": claims(person), "scopes": None}}
    if body is not None:
        made["body"] = body if isinstance(body, str) else json.dumps(body)
    return made


def route_of(method: str, path: str) -> tuple[str, dict[str, str]]:
    """The route's key and its path parameters; what no route takes goes to `$default`."""
    for key in (*ROUTES, OPEN_ROUTE):
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", key)
        if found := re.fullmatch(pattern, f"{method} {path}"):
            return key, {name: unquote(value) for name, value in found.groupdict().items()}
    if path.startswith("/v1/host/"):
        return HOSTS_ROUTE, {"proxy": unquote(path.removeprefix("/v1/host/"))}
    return "$default", {}


def load(function: str) -> Callable[[Event, Any], dict[str, Any]]:
    """The entry of *function*, loaded as Lambda would; its environment must be there."""
    handle: Callable[[Event, Any], dict[str, Any]] = importlib.import_module(
        f"functions.{function}.handler"
    ).handle
    # A test's captured stream is closed after it, and the functions stay loaded.
    for handler in logging.getLogger(PRODUCT).handlers:
        # Those of a kind of their own are pytest's, and a StringIO is `logged`'s: both go with their test.
        if type(handler) is logging.StreamHandler and not isinstance(handler.stream, io.StringIO):
            handler.setStream(sys.__stdout__)
    return as_function(function)(handle)


def forget_settings() -> None:
    """Let the next request read the environment anew, and make clients that send nothing that AWS would refuse."""
    watch(settings.session())
    settings.runtime.cache_clear()
    settings.models.cache_clear()
    settings.wake_ups.cache_clear()
    settings.mounts.cache_clear()
    settings.bus.cache_clear()
    settings.s3.cache_clear()
    settings.deployment_hosts.cache_clear()
    settings.auditors.cache_clear()


@dataclass(slots=True)
class Gateway:
    """The deployed API in one process: a request goes through the function that its route names."""

    event = staticmethod(event)
    contract: Contract | None = field(default_factory=the_contract)
    """What every answer is held to: the API's own document."""
    log: list[str] = field(default_factory=list)
    """What the last request left in the log."""
    sent_bytes: int = 0
    """How much of Lambda's 6 MB its answer took."""

    def send(self, request: Event) -> Reply:
        function = load({**ROUTES, HOSTS_ROUTE: "host"}.get(request["routeKey"], "tasks"))
        with logged() as lines:
            answer = function(request, Context())
        self.log = lines()
        self.sent_bytes = len(json.dumps(answer, ensure_ascii=False).encode())
        body = answer.get("body") or ""
        if answer.get("isBase64Encoded"):
            body = base64.b64decode(body).decode()
        reply = Reply(answer["statusCode"], answer["headers"], body)
        if self.contract:
            self.contract.check(request, reply)
        refuse_unless(self.sent_bytes <= LARGEST_ANSWER, "no more than 6 MB leave a function")
        return reply

    def get(self, path: str, **request: Any) -> Reply:
        return self.send(event("GET", path, **request))

    def put(self, path: str, body: object, **request: Any) -> Reply:
        return self.send(event("PUT", path, body=body, **request))

    def post(self, path: str, body: object, **request: Any) -> Reply:
        return self.send(event("POST", path, body=body, **request))


@contextmanager
def logged() -> Iterator[Callable[[], list[str]]]:
    """Whatever the product logs meanwhile, as lines."""
    stream = io.StringIO()
    handler, product = logging.StreamHandler(stream), logging.getLogger(PRODUCT)
    handler.setFormatter(Lines())
    level = product.level
    product.addHandler(handler)
    product.setLevel(logging.INFO)
    try:
        yield lambda: stream.getvalue().splitlines()
    finally:
        product.removeHandler(handler)
        product.setLevel(level)
