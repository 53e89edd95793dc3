"""The HTTP API: which route lets whom in to what, and what a browser may do."""

import json
from typing import Any

from aws_cdk.assertions import Template

from infra.api import ACCESS_LOG
from tests.infra.conftest import Synthesise
from tests.infra.reading import function_of, of_type, only
from tests.support import gateway


def test_every_route_has_its_authorizer_and_its_function(template: Template) -> None:
    (people,) = of_type(template, "ApiGatewayV2::Authorizer")
    status, tasks, host = (function_of(template, name)[0] for name in ("status", "tasks", "host"))

    assert routes_of(template) == {
        "GET /v1/tasks/{task_id}": ("JWT", people, status),
        "POST /v1/tasks": ("JWT", people, tasks),
        "GET /v1/tasks": ("JWT", people, tasks),
        "GET /v1/tasks/{task_id}/messages": ("JWT", people, tasks),
        "POST /v1/tasks/{task_id}/inputs": ("JWT", people, tasks),
        "POST /v1/tasks/{task_id}/files": ("JWT", people, tasks),
        "GET /v1/tasks/{task_id}/files": ("JWT", people, tasks),
        "GET /v1/tasks/{task_id}/agent-status": ("JWT", people, tasks),
        "GET /v1/tasks/{task_id}/journal": ("JWT", people, tasks),
        "GET /v1/reviews": ("JWT", people, tasks),
        "POST /v1/reviews/{review_id}": ("JWT", people, tasks),
        "GET /v1/notifications": ("JWT", people, tasks),
        "GET /v1/agents": ("JWT", people, tasks),
        "GET /v1/agents/{name}": ("JWT", people, tasks),
        "GET /v1/openapi.json": ("NONE", None, tasks),
        "ANY /v1/host/{proxy+}": ("AWS_IAM", None, host),
        "$default": ("NONE", None, tasks),
    }


def test_the_gateway_of_the_tests_in_one_process_routes_people_as_the_stack_does(template: Template) -> None:
    logical_ids = {function_of(template, name)[0]: name for name in ("status", "tasks")}

    people = {
        route: logical_ids[function]
        for route, (authorization, _, function) in routes_of(template).items()
        if authorization == "JWT"
    }

    assert people == gateway.ROUTES
    assert routes_of(template)[gateway.OPEN_ROUTE] == ("NONE", None, function_of(template, "tasks")[0])


def test_a_function_gets_the_second_version_of_the_event(template: Template) -> None:
    integrations = of_type(template, "ApiGatewayV2::Integration").values()

    assert len(integrations) == 3
    assert {integration["PayloadFormatVersion"] for integration in integrations} == {"2.0"}


def test_only_this_api_may_call_its_functions(template: Template) -> None:
    permissions = [
        permission
        for permission in of_type(template, "Lambda::Permission").values()
        if permission["Principal"] == "apigateway.amazonaws.com"
    ]
    (api,) = of_type(template, "ApiGatewayV2::Api")

    assert len(permissions) == len(routes_of(template))
    for permission in permissions:
        assert {"Ref": api} in permission["SourceArn"]["Fn::Join"][1]


def test_the_api_is_throttled_and_its_routes_begin_at_its_root(synthesise: Synthesise) -> None:
    stage = only(synthesise(throttle_rate=5, throttle_burst=9), "ApiGatewayV2::Stage")

    assert (stage["StageName"], stage["AutoDeploy"]) == ("$default", True)
    assert stage["DefaultRouteSettings"] == {"ThrottlingRateLimit": 5, "ThrottlingBurstLimit": 9}


def test_requests_are_logged_without_what_would_tell_whose_task_it_was(template: Template) -> None:
    settings = only(template, "ApiGatewayV2::Stage")["AccessLogSettings"]

    assert json.loads(settings["Format"]) == ACCESS_LOG
    assert settings["DestinationArn"]["Fn::GetAtt"][0] in of_type(template, "Logs::LogGroup")
    for told in ("path", "sourceIp", "claims", "userAgent"):
        assert told not in settings["Format"]


def test_a_page_of_a_named_origin_may_send_what_we_read_and_see_what_we_answer(
    synthesise: Synthesise,
) -> None:
    api = only(synthesise(cors_origins=["https://app.example"]), "ApiGatewayV2::Api")

    assert api["CorsConfiguration"] == {
        "AllowOrigins": ["https://app.example"],
        "AllowMethods": ["GET", "POST"],
        "AllowHeaders": ["authorization", "content-type", "idempotency-key", "if-none-match"],
        "ExposeHeaders": [
            "agent-status",
            "etag",
            "location",
            "poll-after",
            "received-at",
            "retry-after",
            "x-correlation-id",
        ],
        "MaxAge": 3600,
    }


def test_no_page_of_another_origin_may_do_anything_until_one_is_named(template: Template) -> None:
    assert "CorsConfiguration" not in only(template, "ApiGatewayV2::Api")


def routes_of(template: Template) -> dict[str, tuple[str, str | None, str]]:
    """Return, by route key, the kind of authorization, the authorizer and the function."""
    integrations = of_type(template, "ApiGatewayV2::Integration")

    def function(route: dict[str, Any]) -> str:
        integration = integrations[route["Target"]["Fn::Join"][1][1]["Ref"]]
        name: str = integration["IntegrationUri"]["Fn::GetAtt"][0]
        return name

    return {
        route["RouteKey"]: (
            route["AuthorizationType"],
            route.get("AuthorizerId", {}).get("Ref"),
            function(route),
        )
        for route in of_type(template, "ApiGatewayV2::Route").values()
    }
