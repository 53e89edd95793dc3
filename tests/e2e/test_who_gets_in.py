"""Every route of the API's document against everybody who has no business there: turned away, and nothing is stored.

Every token and signature is verified, as on AWS. The routes and what they take come from the document, so a new one is
tried by itself.
"""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.credentials import Credentials
from joserfc.jwk import RSAKey

from offline import hosts
from offline.endpoint import REGION
from offline.issuer import AUDIENCE, HOUR, HUMAN_CLAIM, Issuer
from offline.signing import Signed
from tests.e2e.conftest import Authorised
from tests.support.contract import the_contract
from tests.support.deployed import Deployed
from tests.support.hosts import HostClient, said

UNKNOWN = "0" * 32
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Route:
    """One operation of the document, and a request that would go well."""

    method: str
    path: str
    operation: Any

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def by(self) -> str:
        """Who may call it: `person`, `host` or `anybody`."""
        return next((name for one in self.operation["security"] for name in one), "anybody")

    def ask(self, http: httpx.Client, *, task: str, agent: str = "helper") -> httpx.Response:
        named = {"task_id": task, "child_id": UNKNOWN, "review_id": f"{task}0123456789abcdef", "name": agent}
        path = re.sub(r"\{(\w+)\}", lambda name: named[name[1]], self.path)
        query = {
            one["name"]: "task://a.csv"
            for one in self.operation["parameters"]
            if one["in"] == "query" and one.get("required")
        }
        media = self.operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        # Whatever the host of the example is called: it names the agent in its path.
        body = media.get("example", {}) | ({"name": agent} if "manifest" in str(self) else {})
        return http.request(self.method, path.lstrip("/"), params=query, **({"json": body} if media else {}))


ROUTES = [
    Route(method.upper(), path, operation)
    for path, item in the_contract().document["paths"].items()
    for method, operation in item.items()
]
OF_PEOPLE, OF_HOSTS, OF_ANYBODY = (
    [route for route in ROUTES if route.by == by] for by in ("person", "host", "anybody")
)


@pytest.fixture(scope="module")
def alice(authorised_deployment: Deployed) -> Iterator[httpx.Client]:
    with authorised_deployment.http("alice") as client:
        yield client


@pytest.fixture(scope="module")
def task(alice: httpx.Client, acme: HostClient) -> str:
    """A task of Alice's with Acme's agent, whose turn runs."""
    assert acme.register("helper").status_code == 200
    task_id: str = alice.post("v1/tasks", json={"agent": "helper", "input": said("hello")}).json()["id"]
    assert acme.post(task_id, "turns").status_code == 201
    return task_id


@pytest.fixture(autouse=True)
def nothing_is_stored(authorised_deployment: Deployed, task: str) -> Iterator[None]:
    """Alice's task is as it was before, to the byte."""
    before = authorised_deployment.stored(task)
    yield
    assert authorised_deployment.stored(task) == before


def unsigned(issuer: Issuer) -> str:
    """A token that says of itself that nobody signed it."""
    now = int(time.time())
    claims = {"iss": issuer.url, "aud": AUDIENCE, "sub": "alice-sub", HUMAN_CLAIM: "alice", "exp": now + HOUR}
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return (
        ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        + "."
    )


def forged(issuer: Issuer) -> Issuer:
    """Whoever says to be *issuer*, with a key of its own under the same name."""
    key = RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256", "kid": issuer.key.kid or ""})
    return Issuer(issuer.url, key)


def altered(token: str) -> str:
    """*token*, made another's after it was signed."""
    header, payload, signature = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    changed = base64.urlsafe_b64encode(json.dumps(claims | {"sub": "bob-sub"}).encode()).decode().rstrip("=")
    return f"{header}.{changed}.{signature}"


TOKENS: dict[str, Callable[[Issuer], str | None]] = {
    "no token": lambda _: None,
    "garbage": lambda _: "garbage",
    "three parts of garbage": lambda _: "e30.e30.e30",
    "expired": lambda issuer: issuer.token(
        "alice-sub", exp=int(time.time()) - HOUR, **{HUMAN_CLAIM: "alice"}
    ),
    "another audience": lambda issuer: issuer.token("alice-sub", **{HUMAN_CLAIM: "alice", "aud": "another"}),
    "another issuer": lambda issuer: issuer.token(
        "alice-sub", **{HUMAN_CLAIM: "alice", "iss": "http://127.0.0.1:9"}
    ),
    "alg: none": unsigned,
    "another's key under the same name": lambda issuer: forged(issuer).person("alice"),
    "altered after it was signed": lambda issuer: altered(issuer.person("alice")),
}


def odd(
    replies: dict[str, httpx.Response], expected: Callable[[httpx.Response], bool]
) -> dict[str, tuple[int, str]]:
    """The answers that are not as expected, with their routes."""
    assert replies
    return {
        route: (reply.status_code, reply.text[:200])
        for route, reply in replies.items()
        if not expected(reply)
    }


def asked(http: httpx.Client, routes: list[Route], *, task: str) -> dict[str, httpx.Response]:
    return {str(route): route.ask(http, task=task) for route in routes}


def by_the_gateway(status: int) -> Callable[[httpx.Response], bool]:
    """Turned away with *status* before any function of ours was asked."""
    return lambda reply: reply.status_code == status and reply.headers.get("content-type") != PROBLEM


def by_us(status: int) -> Callable[[httpx.Response], bool]:
    """Refused with *status* as a problem."""
    return lambda reply: reply.status_code == status and reply.headers["content-type"] == PROBLEM


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_does_not_hold_opens_no_route_of_people(
    authorised: Authorised, task: str, token: str
) -> None:
    with authorised.deployed.http_as(TOKENS[token](authorised.issuer)) as http:
        assert not odd(asked(http, OF_PEOPLE, task=task), by_the_gateway(401))


@pytest.mark.parametrize(
    "claims",
    [{}, {HUMAN_CLAIM: "alice", "client_id": "alice-sub"}, {HUMAN_CLAIM: "alice", "token_use": "id"}],
    ids=["a machine's", "a client that is its own subject", "an ID token"],
)
def test_a_token_that_holds_and_is_no_humans_access_token_is_refused(
    authorised: Authorised, task: str, claims: dict[str, str]
) -> None:
    with authorised.deployed.http_as(authorised.issuer.token("alice-sub", **claims)) as http:
        assert not odd(asked(http, OF_PEOPLE, task=task), by_us(403))


def test_to_another_person_all_that_is_named_is_unknown(authorised_deployment: Deployed, task: str) -> None:
    # Agents are nobody's: everybody may start them.
    named = [route for route in OF_PEOPLE if "{" in route.path and not route.path.startswith("/v1/agents/")]

    with authorised_deployment.http("bob") as http:
        foreign = asked(http, named, task=task)
        unknown = asked(http, named, task=UNKNOWN)
        lists = asked(
            http, [route for route in OF_PEOPLE if route not in named and route.method == "GET"], task=task
        )

    assert not odd(foreign, by_us(404))
    assert {route: reply.content for route, reply in foreign.items()} == {
        route: reply.content for route, reply in unknown.items()
    }
    assert not odd(lists, lambda reply: reply.status_code == 200 and task not in reply.text)


def test_a_hosts_signature_opens_no_route_of_people(acme: HostClient, task: str) -> None:
    with acme.http() as http:
        assert not odd(asked(http, OF_PEOPLE, task=task), by_the_gateway(401))


def test_a_persons_token_opens_no_route_of_hosts(alice: httpx.Client, task: str) -> None:
    # The engine's gateway leaves what is no signature at all to the function; AWS's turns it away itself.
    assert not odd(asked(alice, OF_HOSTS, task=task), by_us(403))


class Altered(Signed):
    """Signs, and changes what it signed, or the signature."""

    def __init__(self, credentials: Credentials, what: str) -> None:
        super().__init__(credentials)
        self.what = what

    def auth_flow(self, request: httpx.Request) -> Any:
        signed = next(super().auth_flow(request))
        content, url = signed.content, signed.url
        match self.what:
            case "the body":
                content = b'{"changed": true}'
                signed.headers["content-length"] = str(len(content))
            case "the path":
                url = signed.url.copy_with(path=f"{signed.url.path}x")
            case "the query":
                url = signed.url.copy_merge_params({"changed": "1"})
            case "the method":
                signed.method = "POST" if signed.method == "PUT" else "PUT"
            case _:
                value = signed.headers["authorization"]
                signed.headers["authorization"] = value[:-1] + ("0" if value[-1] != "0" else "1")
        yield httpx.Request(signed.method, url, content=content, headers=signed.headers)


@pytest.mark.parametrize("what", ["the signature", "the body", "the path", "the query", "the method"])
def test_what_was_changed_after_it_was_signed_opens_no_route(acme: HostClient, task: str, what: str) -> None:
    with acme.http() as http:
        http.auth = Altered(acme.credentials, what)
        assert not odd(asked(http, OF_HOSTS, task=task), by_the_gateway(403))


class At(SigV4Auth):
    """Signs as of another time."""

    def __init__(self, credentials: Credentials, at: datetime) -> None:
        super().__init__(credentials, "execute-api", REGION)
        self.at = at

    def add_auth(self, request: Any) -> None:
        signer: Any = self
        request.context["timestamp"] = self.at.strftime("%Y%m%dT%H%M%SZ")
        signer._modify_request_before_signing(request)  # noqa: SLF001
        to_sign = signer.string_to_sign(request, signer.canonical_request(request))
        signer._inject_signature_to_request(request, signer.signature(to_sign, request))  # noqa: SLF001


@pytest.mark.parametrize("minutes", [-6, 6])
def test_a_signature_of_another_time_opens_no_route(acme: HostClient, task: str, minutes: int) -> None:
    with acme.http() as http:
        http.auth = signed_at(acme, timedelta(minutes=minutes))
        assert not odd(asked(http, OF_HOSTS, task=task), by_the_gateway(403))


def test_a_signature_of_a_clock_that_is_a_minute_off_holds(acme: HostClient, task: str) -> None:
    for minutes in (-1, 1):
        with acme.http() as http:
            http.auth = signed_at(acme, timedelta(minutes=minutes))
            assert http.get(f"v1/host/tasks/{task}").status_code == 200


def signed_at(host: HostClient, off: timedelta) -> Signed:
    """The signatures of *host*, whose clock is *off*."""
    signs: Any = Signed(host.credentials)
    signs._signer = At(host.credentials, datetime.now(UTC) + off)  # noqa: SLF001
    return cast("Signed", signs)


def strangers(acme: HostClient, deployed: Deployed) -> dict[str, Credentials]:
    """Who signs well and may not: keys nobody has, others' secrets, a user without a right to call."""
    made = hosts.keys_of(
        deployed.deployment.endpoint, hosts.make_host(deployed.deployment.endpoint, "passer-by")
    )
    return {
        "an unknown key": Credentials("AKIAUNKNOWNUNKNOWN00", "x" * 40),
        "another secret": Credentials(acme.credentials.access_key, "x" * 40),
        "no right to call": Credentials(made.access_key_id, made.secret_access_key),
    }


@pytest.mark.parametrize("who", ["an unknown key", "another secret", "no right to call", "nobody"])
def test_a_stranger_opens_no_route_of_hosts(
    authorised: Authorised, acme: HostClient, task: str, who: str
) -> None:
    with authorised.deployed.http() as http:
        if who != "nobody":
            http.auth = Signed(strangers(acme, authorised.deployed)[who])
        assert not odd(asked(http, OF_HOSTS, task=task), by_the_gateway(403))


@pytest.mark.parametrize("token", TOKENS)
def test_what_is_for_anybody_asks_for_nothing(authorised: Authorised, task: str, token: str) -> None:
    with authorised.deployed.http_as(TOKENS[token](authorised.issuer)) as http:
        assert not odd(asked(http, OF_ANYBODY, task=task), lambda reply: reply.status_code == 200)


def test_all_of_these_requests_get_through_for_whom_they_are_for(
    alice: httpx.Client, acme: HostClient, authorised_deployment: Deployed
) -> None:
    """Else the refusals above would show nothing: with the right credentials no route says who you are not."""
    mine = alice.post("v1/tasks", json={"agent": "helper"}).json()["id"]
    with acme.http() as http:
        replies = asked(alice, OF_PEOPLE, task=mine) | asked(http, OF_HOSTS, task=mine)

    assert not odd(replies, lambda reply: reply.status_code not in {400, 401, 403, 500, 502, 503})
    assert len({reply.status_code for reply in replies.values()} & {200, 201, 202}) == 3
    assert authorised_deployment.stored(mine)
