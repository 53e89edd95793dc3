"""The API's document: made from the code, whole in both directions, and valid as OpenAPI 3.1."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from scripts.openapi import refusals
from scripts.openapi.document import document, text
from scripts.openapi.examples import EXAMPLES
from scripts.openapi.operations import OPERATIONS, TAGS
from scripts.openapi.routes import routes
from tests.support.contract import the_contract
from tests.support.gateway import OPEN_ROUTE, ROUTES
from tests.support.host_routes import handler_routes
from turnkeeper.domain.content import LARGEST_METADATA, LARGEST_TEXT, MOST_PARTS
from turnkeeper.domain.reviews import COMMENT_BYTES
from turnkeeper.domain.transitions import CALL_BYTES
from turnkeeper.edge import host_requests, waits
from turnkeeper.edge.problems import PROBLEMS
from turnkeeper.edge.reference import DOCUMENT

MADE = document()
SCHEMAS = MADE["components"]["schemas"]


def operations() -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{method.upper()} {path}", operation)
        for path, item in MADE["paths"].items()
        for method, operation in item.items()
    ]


def test_what_is_served_is_what_the_code_says_now() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == text(), "make openapi"


def test_it_is_valid_as_openapi_3_1() -> None:
    assert MADE["openapi"].startswith("3.1.")
    OpenAPIV31SpecValidator(MADE).validate()


def test_the_validator_sees_what_is_wrong() -> None:
    wrong = json.loads(text())
    wrong["paths"]["/v1/tasks"]["get"]["responses"]["200"] = {"headers": {}}

    assert list(OpenAPIV31SpecValidator(wrong).iter_errors())


def test_every_route_of_the_handlers_is_in_it_and_no_other() -> None:
    poll = {"GET /v1/tasks/{task_id}"}
    resolved = {f"{one.method} /{one.path}" for name in ("tasks", "host") for one in handler_routes(name)}

    assert {key for key, _ in operations()} == poll | resolved
    assert {route.key for route in routes()} == OPERATIONS.keys()


def test_every_route_that_the_gateway_lets_through_is_in_it_with_whom_it_lets() -> None:
    security = {key: operation["security"] for key, operation in operations()}

    assert {key for key, by in security.items() if by == [{"person": []}]} == ROUTES.keys()
    assert {key for key, by in security.items() if by == []} == {OPEN_ROUTE}
    assert all("/v1/host/" in key for key, by in security.items() if by == [{"host": []}])


@pytest.mark.parametrize(
    ("key", "operation"), operations(), ids=lambda one: one if isinstance(one, str) else ""
)
def test_every_route_says_what_it_is(key: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert len(operation["description"]) >= len(operation["summary"])
    assert operation["tags"][0] in TAGS
    assert {name for name in key.split("/") if name.startswith("{")} == {
        f"{{{one['name']}}}" for one in operation["parameters"] if one["in"] == "path"
    }
    if key.startswith(("POST", "PUT")):
        media = operation["requestBody"]["content"]["application/json"]
        assert "example" in media or media["schema"] == {"$ref": "#/components/schemas/Nothing"}


def test_every_route_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for _, operation in operations()]

    assert len(set(names)) == len(names)


def test_its_examples_are_what_it_says() -> None:
    seen = 0
    for at, schema, example in [*_examples(MADE["paths"]), *_examples(MADE["components"])]:
        whole = {**schema, "components": MADE["components"]}
        error = next(
            iter(jsonschema_rs.Draft202012Validator(whole, validate_formats=True).iter_errors(example)), None
        )
        assert error is None, (at, error)
        seen += 1

    assert seen > 50


def _examples(found: Any, at: str = "") -> Iterator[tuple[str, dict[str, Any], Any]]:
    """(place, schema, example) of all that has one."""
    match found:
        case {"schema": schema, "example": example}:
            yield at, schema, example
        case {"schema": schema, "examples": dict(examples)}:
            for name, one in examples.items():
                yield f"{at}/{name}", schema, one["value"]
        case {"examples": list(examples)}:
            for example in examples:
                yield at, {name: value for name, value in found.items() if name != "examples"}, example
        case _:
            pass
    inside = enumerate(found) if isinstance(found, list) else found.items() if isinstance(found, dict) else ()
    for name, inner in inside:
        if name not in {"example", "examples"}:
            yield from _examples(inner, f"{at}/{name}")


def test_every_answer_has_an_example_that_says_no_more_than_it_may() -> None:
    contract = the_contract()
    shown = {answer.schema for row in OPERATIONS.values() for answer in row.answers.values()} - {
        None,
        "Document",
    }

    assert shown <= EXAMPLES.keys()
    for name, example in EXAMPLES.items():
        contract.validate(f"#/components/schemas/{name}", example, "the example", closed=True)


def test_every_refusal_of_the_table_is_told_with_its_status() -> None:
    assert {type(error) for error in refusals.SAMPLES} == PROBLEMS.keys()
    told = {
        (int(example["value"]["status"]), name)
        for response in MADE["components"]["responses"].values()
        for media in response["content"].values()
        for name, example in media.get("examples", {}).items()
    }
    assert told == {
        (row.status, "Bug" if kind is Exception else kind.__name__) for kind, row in PROBLEMS.items()
    }


@pytest.mark.parametrize(
    ("at", "bound", "value"),
    [
        ("ContentPart/properties/text", "maxLength", LARGEST_TEXT),
        ("ContentPart/properties/metadata", "description", LARGEST_METADATA),
        ("Message", "maxItems", MOST_PARTS),
        ("Name", "maxLength", waits.NAME_BYTES),
        ("Child/properties/call", "maxLength", CALL_BYTES),
        ("Heard/properties/report", "description", host_requests.REPORT_BYTES),
        ("ReviewDecision/properties/comment/anyOf/0", "maxLength", COMMENT_BYTES),
        ("Completion/properties/outcome", "enum", sorted(host_requests.COMPLETIONS)),
        ("Failed", "enum", sorted(host_requests.FAILURES)),
    ],
)
def test_a_bound_that_no_model_holds_is_the_one_that_refuses(at: str, bound: str, value: object) -> None:
    here: Any = SCHEMAS
    for step in at.split("/"):
        here = here[int(step) if step.isdigit() else step]

    said = here[bound]
    assert (f"{value} bytes" in said) if bound == "description" else (said == value)
