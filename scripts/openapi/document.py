"""The document as a whole: each route of the handlers with its row of the table, and the shapes they name."""

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema
from pydantic_core import core_schema

from scripts.openapi import answers, refusals
from scripts.openapi.examples import CHILD_ID, EXAMPLES, TASK_ID
from scripts.openapi.operations import OPERATIONS, TAGS, Answer, Operation
from scripts.openapi.routes import Route, routes
from turnkeeper.edge.bodies import KEY
from turnkeeper.edge.manifests import AgentManifest

ROOT = Path(__file__).parents[2]
EVENTS = ROOT / "events"
HEADERS = {
    "Agent-Status": "Where the task stands, as a structured field (RFC 9651): `1010;name=RUNNING;phase=EXECUTING`…",
    "Cache-Control": "No shared cache may keep what is somebody's.",
    "ETag": "Names exactly this; send it back as If-None-Match.",
    "Location": "The address of what was made, relative to this one.",
    "Poll-After": "Seconds until it is worth looking again; absent when nothing will change.",
    "Received-At": "When the input was received: its `received_at` in the conversation.",
    "Retry-After": "Seconds until it is worth sending again.",
    "X-Correlation-Id": "Finds the request in the logs.",
}
SECONDS = ("Poll-After", "Retry-After")
PARAMETERS = {
    "task_id": ("The task's id.", TASK_ID),
    "child_id": ("The child's id.", CHILD_ID),
    "review_id": ("The review's id.", f"{TASK_ID}0123456789abcdef"),
    "name": ("The agent's name.", "helper"),
}
ABOUT = """A task is an agent's conversation: durable, owned by one human, followed at the price of one small read.

People come with an access token, hosts with a signature. Words in lists of words may become more: skip what you do not
know. Refusals are problems with an agent status and a retry contract; what the gateway itself refuses is its own bare
JSON. Bounds in bytes are said as characters, of which there are never more."""


class Schemas(GenerateJsonSchema):
    """Pydantic's schemas without what it makes up: titles of fields, and the marks that stand for what was not sent."""

    def field_title_should_be_set(self, _schema: Any) -> bool:
        """No: a field's name is its title."""
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> dict[str, Any]:
        """A default is said where it is a value that somebody could have sent, and means what it says."""
        default = schema.get("default")
        if default is None or (isinstance(default, str) and not default):
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def text() -> str:
    """The document as it is served."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def document() -> dict[str, Any]:
    """The OpenAPI document, 3.1."""
    bodies = _models(operation.body for operation in OPERATIONS.values())
    paths: dict[str, Any] = {}
    for route in routes():
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, OPERATIONS[route.key])
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Turnkeeper",
            "version": _version(),
            "summary": "The task API for AI agents.",
            "description": ABOUT,
        },
        "servers": [{"url": "..", "description": "Where this document comes from."}],
        "tags": [{"name": name, "description": says} for name, says in TAGS.items()],
        "paths": paths,
        "components": {
            "schemas": {**{name: _shown(name) for name in answers.SCHEMAS}, **bodies},
            "responses": refusals.responses(),
            "headers": {name: _header(name) for name in HEADERS},
            "securitySchemes": {
                "person": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "An access token of a human, of the deployment's issuer.",
                },
                "host": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "AWS Signature Version 4 for `execute-api`, by the IAM principal that the host is.",
                    "x-amazon-apigateway-authtype": "awsSigv4",
                },
            },
        },
    }


def _shown(name: str) -> answers.Schema:
    """The schema of an answer, with its example if it has one."""
    schema = answers.SCHEMAS[name]
    return schema | {"examples": [EXAMPLES[name]]} if name in EXAMPLES else schema


def _operation(route: Route, row: Operation) -> dict[str, Any]:
    says = " ".join(route.says.split())
    made: dict[str, Any] = {
        "operationId": route.name,
        "tags": [row.tag],
        "summary": says.split(". ")[0].rstrip("."),
        "description": " ".join(filter(None, [says, row.more])),
        "security": [] if row.is_open else [{"host" if route.is_a_hosts else "person": []}],
        "parameters": [*_parameters(route, row)],
        "responses": _responses(route, row),
    }
    if row.body:
        made["requestBody"] = _body(route, row)
    return made


def _parameters(route: Route, row: Operation) -> Iterable[dict[str, Any]]:
    for name in route.parameters:
        says, example = PARAMETERS[name]
        schema = {"type": "string", "minLength": 1}
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": says,
            "schema": schema,
            "example": example,
        }
    if row.query:
        read = row.query.model_json_schema(
            schema_generator=Schemas, ref_template=answers.ref("{model}")["$ref"]
        )
        for name, schema in read["properties"].items():
            required = name in read.get("required", ())
            yield {"name": name, "in": "query", "required": required, **_query(_inlined(schema, read))}
    if row.keyed:
        key = {"type": "string", "pattern": f"^{KEY.pattern}$"}
        says = "The same key with the same body answers what the first request made; good for 24 hours."
        yield {
            "name": "Idempotency-Key",
            "in": "header",
            "description": says,
            "schema": key,
            "example": "order-17",
        }
    if row.tagged:
        says = "The ETag that you have."
        yield {
            "name": "If-None-Match",
            "in": "header",
            "description": says,
            "schema": answers.TEXT,
            "example": '"b7e2"',
        }


def _query(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema without null, which no query string says, and its description beside it."""
    found = dict(schema)
    if "anyOf" in found:
        (only,) = (one for one in found.pop("anyOf") if one != {"type": "null"})
        found |= only
    says = found.pop("description", None)
    return {"schema": found} | ({"description": says} if says else {})


def _inlined(schema: dict[str, Any], read: dict[str, Any]) -> dict[str, Any]:
    """*schema* with what it refers to in its place."""
    if "$ref" in schema:
        return _inlined(read["$defs"][schema["$ref"].rpartition("/")[2]], read)
    return {
        name: [_inlined(one, read) for one in value] if name == "anyOf" else value
        for name, value in schema.items()
    }


def _body(route: Route, row: Operation) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": answers.ref(row.body.__name__) if row.body else {}}
    if row.sample:
        folder = EVENTS / ("host" if route.is_a_hosts else "tasks")
        sent = json.loads((folder / f"{row.sample}.json").read_text()).get("body")
        content["example"] = json.loads(sent) if sent else {}
    media = {"application/json": content}
    if row.body is AgentManifest:
        media["application/yaml"] = {"schema": content["schema"]}
    return {"required": not row.may_be_empty, "content": media}


def _responses(route: Route, row: Operation) -> dict[str, Any]:
    found = {str(status): _answer(status, answer) for status, answer in row.answers.items()}
    for status in sorted(_refused(route, row)):
        found[str(status)] = refusals.named(status, hosts=route.is_a_hosts)
    return found


def _refused(route: Route, row: Operation) -> set[int]:
    """What may be refused, from what the route takes."""
    found = {413, 429, *refusals.OURS, *row.refuses}
    if not row.is_open:
        found |= {403} if route.is_a_hosts else {401, 403}
    if row.body:
        found |= {400, 413, 422}
    if row.query or row.keyed:
        found |= {400}
    if route.parameters:
        found |= {404}
    return found


def _answer(status: int, answer: Answer) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    for said in ("Cache-Control", "X-Correlation-Id", *answer.headers):
        name = said.rstrip("?")
        headers[name] = {"$ref": f"#/components/headers/{name}"}
        if said.endswith("?") and _header(name)["required"]:
            headers[name] = {**_header(name), "required": False}
    made: dict[str, Any] = {"description": _WORDS[status], "headers": headers}
    if answer.schema:
        made["content"] = {answer.media_type: {"schema": answers.ref(answer.schema)}}
    return made


_WORDS = {
    200: "As asked.",
    201: "Made.",
    202: "Accepted; the status object says what becomes of it.",
    304: "You have it already.",
}


def _header(name: str) -> answers.Schema:
    schema = answers.NUMBER if name in SECONDS else answers.TEXT
    made: answers.Schema = {"description": HEADERS[name], "required": name not in SECONDS}
    return made | {"schema": schema}


def _models(bodies: Iterable[Any]) -> dict[str, Any]:
    wanted = list(dict.fromkeys(body for body in bodies if body))
    _, schemas = models_json_schema(
        [(body, "validation") for body in wanted],
        schema_generator=Schemas,
        ref_template=answers.ref("{model}")["$ref"],
    )
    found: dict[str, Any] = schemas["$defs"]
    if clash := found.keys() & answers.SCHEMAS.keys():
        raise ValueError(f"{sorted(clash)} are the names of a body and of an answer")
    return found


def _version() -> str:
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return version
