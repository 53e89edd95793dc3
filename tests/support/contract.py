"""The API's document as a judge: what goes in and out of the functions in the tests is held to it, to the last field.

The document leaves answers open, since a later version may say more; here they are closed, so that nothing is answered
that it does not describe. What was taken must be what it describes as well: it is no stricter than the code.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import parse_qsl

import jsonschema_rs

from scripts.openapi import answers
from tests.support.reply import Event, Reply
from turnkeeper.edge.reference import DOCUMENT

ELSEWHERE = {403: "ForbiddenForHosts", 404: "NotFound", 500: "InternalServerError"}
"""What is answered where there is no route: the first to whoever signed nothing, below `/v1/host/`."""
OK = range(200, 300)
OURS = frozenset({"Content-Type"})
"""Headers that every answer with a body has, which OpenAPI describes as its media type."""

type Schema = Mapping[str, Any]


class NotAsDocumented(AssertionError):
    """The document says otherwise."""


@dataclass(eq=False)
class Contract:
    """The document, ready to judge."""

    document: Mapping[str, Any]

    @cached_property
    def operations(self) -> list[tuple[str, re.Pattern[str], Mapping[str, Any]]]:
        """(method, pattern of the path, operation) of each."""
        return [
            (method.upper(), re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), operation)
            for path, item in self.document["paths"].items()
            for method, operation in item.items()
        ]

    def operation_of(self, method: str, path: str) -> Mapping[str, Any] | None:
        """What the document says of a request, None where it knows of no such route."""
        for known, pattern, operation in self.operations:
            if known == method and pattern.fullmatch(path):
                return operation
        return None

    def check(self, request: Event, reply: Reply) -> None:
        """Raise `NotAsDocumented` unless *reply* to *request* is as documented, and what was taken is, too."""
        http = request["requestContext"]["http"]
        operation = self.operation_of(http["method"], request["rawPath"])
        about = f"{http['method']} {request['rawPath']}: {reply.status}"
        if operation is None:
            if reply.status in OK:
                raise NotAsDocumented(f"{about}, and the document knows no such route")
            responses = {
                str(status): {"$ref": f"#/components/responses/{name}"} for status, name in ELSEWHERE.items()
            }
            operation = {"responses": responses}
        self._check_answer(operation, reply, about)
        if reply.status in OK:
            self._check_request(operation, request, about)

    def _check_answer(self, operation: Mapping[str, Any], reply: Reply, about: str) -> None:
        response = self._resolved(operation["responses"].get(str(reply.status)))
        if response is None:
            raise NotAsDocumented(f"{about} is no status that the document has for it")
        self._check_headers(response, reply, about)
        kind = reply.headers.get("Content-Type")
        content = response.get("content", {})
        if (kind is None) != (not content) or (kind is None and reply.body):
            raise NotAsDocumented(f"{about} comes with {kind}, and the document has {sorted(content)}")
        if kind is not None:
            if kind not in content:
                raise NotAsDocumented(f"{about} comes as {kind}, and the document has {sorted(content)}")
            self.validate(_reference(content[kind]), reply.json, about, closed=True)

    def _check_headers(self, response: Mapping[str, Any], reply: Reply, about: str) -> None:
        known = {name: self._resolved(header) or {} for name, header in response.get("headers", {}).items()}
        sent = reply.headers.keys() - OURS
        if unknown := sent - known.keys():
            raise NotAsDocumented(f"{about} has the headers {sorted(unknown)}, which the document has not")
        if missing := {name for name, header in known.items() if header.get("required")} - sent:
            raise NotAsDocumented(f"{about} lacks the headers {sorted(missing)}")

    def _check_request(self, operation: Mapping[str, Any], request: Event, about: str) -> None:
        if body := operation.get("requestBody"):
            kind = (request.get("headers") or {}).get("content-type", "")
            text = request.get("body") or ""
            if not text.strip() and body["required"]:
                raise NotAsDocumented(f"{about}, and the document wants a body")
            if text.strip() and not request.get("isBase64Encoded") and "yaml" not in kind:
                schema = body["content"]["application/json"]["schema"]
                self.validate(schema["$ref"], json.loads(text), f"{about}, sent", closed=False)
        known = {one["name"]: one for one in operation.get("parameters", ()) if one["in"] == "query"}
        sent = dict(parse_qsl(request.get("rawQueryString") or "", keep_blank_values=True))
        if unknown := sent.keys() - known.keys():
            raise NotAsDocumented(f"{about}, and the document has no parameter {sorted(unknown)}")

    def _resolved(self, found: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        while found is not None and "$ref" in found:
            here: Any = self.document
            for step in found["$ref"].removeprefix("#/").split("/"):
                here = here[step]
            found = here
        return found

    def validate(self, reference: str, value: Any, about: str, *, closed: bool) -> None:
        """Raise `NotAsDocumented` unless *value* is what the schema at *reference* says, and *closed*: no more."""
        error = next(iter(self._validator(reference, closed=closed).iter_errors(value)), None)
        if error is not None:
            at = "/".join(map(str, error.instance_path))
            raise NotAsDocumented(f"{about}: {reference.rpartition('/')[2]} at /{at}: {error.message[:400]}")

    @cache  # noqa: B019 - there is one contract, as long as there are tests
    def _validator(self, reference: str, *, closed: bool) -> Any:
        components = copy.deepcopy(self.document["components"])
        if closed:
            for name in answers.SCHEMAS:
                _close(components["schemas"][name])
        schema = {"$ref": reference, "components": components}
        return jsonschema_rs.Draft202012Validator(schema, validate_formats=True)


@cache
def the_contract() -> Contract:
    """The one that is served."""
    return Contract(json.loads(DOCUMENT.read_text(encoding="utf-8")))


def _reference(media: Mapping[str, Any]) -> str:
    reference: str = media["schema"]["$ref"]
    return reference


def _close(schema: Any) -> None:
    """Have no object in *schema* have more than it says, unless it says that it may."""
    if isinstance(schema, dict):
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
        for inner in _inside(schema):
            _close(inner)


def _inside(schema: dict[str, Any]) -> Iterator[Any]:
    yield from schema.get("properties", {}).values()
    yield from schema.get("anyOf", ())
    yield schema.get("items")
