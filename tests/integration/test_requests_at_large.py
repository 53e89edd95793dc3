"""Requests that nobody thought of, made by Schemathesis from the API's own document: right ones and wrong ones.

Nothing is a 5xx or hangs, everything is answered as documented, and what the document says is wrong is refused. As many
are tried as REQUESTS says, for each route and each kind; the same ones each time.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi import checks

from scripts.openapi.operations import OPERATIONS
from scripts.openapi.routes import Route, routes
from tests.support.gateway import Gateway
from tests.support.hosting import AGENT, Host
from tests.support.wsgi import Front

REQUESTS = int(os.environ.get("REQUESTS", "8"))
CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
CONFIG: dict[str, Any] = {
    "generation": {"with-security-parameters": False},
    # What is too large is not parsed, and what is not there is not judged.
    "checks": {"negative_data_rejection": {"expected-statuses": ["400", "404", "413", "422"]}},
}
A_TRACE = ("Traceback", 'File "', ".py", "botocore", "pydantic")
NOT_FOUND = {"child_id": "0" * 32, "review_id": "0" * 48, "name": AGENT}
ROUTES = {route.key: route for route in routes()}


@dataclass
class World:
    """A task of Alice's with a turn that runs, another when that is over, and everything in one process."""

    host: Host
    front: Front
    schema: Any
    task: str = ""

    def names(self) -> dict[str, str]:
        """What routes name, and what is there."""
        if not self.task or self.host.read(self.task)["turn"] is None:
            self.task = self.host.running()[0]
        return {**NOT_FOUND, "task_id": self.task}

    def operation(self, route: Route) -> Any:
        """The operation that *route* is in the document."""
        return self.schema[route.path][route.method]


@pytest.fixture
def world(api: Gateway, host: Host, request: pytest.FixtureRequest) -> Iterator[World]:
    front = Front(api, host.signer)
    config = schemathesis.Config.from_dict(CONFIG)
    schema = schemathesis.openapi.from_wsgi("/v1/openapi.json", front, config=config)
    front.requests = 0
    yield World(host, front, schema)
    # Not by `record_property`, which one of the forms of a JUnit report refuses.
    request.node.user_properties.append(("requests", front.requests))


def try_out(world: World, route: Route, mode: GenerationMode, judge: Callable[[Any, Any], None]) -> None:
    """Send what Schemathesis makes of the document for *route*, mostly to what is there."""
    made = world.operation(route).as_strategy(mode)

    @settings(
        max_examples=REQUESTS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=made, is_there=st.integers(0, 3), is_mine=st.booleans())
    def send(case: Any, is_there: int, *, is_mine: bool) -> None:
        is_wrong = case.meta and case.meta.components.get(ParameterLocation.PATH)
        if is_there and not (is_wrong and is_wrong.mode.is_negative):
            case.path_parameters |= {name: world.names()[name] for name in case.path_parameters}
        if is_mine and isinstance(case.body, dict) and "fence" in case.body and mode.is_positive:
            case.body["fence"] = 1
        response = case.call()
        assert not any(sign in response.text for sign in A_TRACE), response.text
        judge(case, response)

    send()


@pytest.mark.parametrize("key", ROUTES)
def test_what_the_document_allows_is_answered_as_it_says(world: World, key: str) -> None:
    def judge(case: Any, response: Any) -> None:
        case.validate_response(response, checks=CHECKS)

    try_out(world, ROUTES[key], GenerationMode.POSITIVE, judge)


@pytest.mark.parametrize("key", [key for key, row in OPERATIONS.items() if row.body or row.query])
def test_what_the_document_forbids_is_refused_as_it_says(world: World, key: str) -> None:
    def judge(case: Any, response: Any) -> None:
        case.validate_response(response, checks=[*CHECKS, checks.negative_data_rejection])

    try_out(world, ROUTES[key], GenerationMode.NEGATIVE, judge)
