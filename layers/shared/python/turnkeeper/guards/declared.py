"""What a manifest declares, held to what no model of its fields can see (AG-1).

Names that are reserved, defaults that are none by their own schema, and expressions, each compiled once and in its
scope: what is wrong with one of them would be wrong at each input.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from turnkeeper.domain.content import RESERVED, wrong_places
from turnkeeper.domain.errors import Place
from turnkeeper.domain.places import path
from turnkeeper.guards import expressions, parameters, templates
from turnkeeper.guards.evaluator import Evaluator
from turnkeeper.guards.expressions import Scope
from turnkeeper.guards.syntax import ExpressionRefused

DEEPEST = 8
"""How many schemas may stand inside one another."""
_PROPERTIES = ("parameters", "properties")
_MESSAGE = (*_PROPERTIES, parameters.MESSAGE)
_SCOPES = {
    "before": (expressions.BEFORE, expressions.BEFORE_ASSERT),
    "after": (expressions.AFTER, expressions.AFTER_ASSERT),
}

type Fields = Mapping[str, Any]
type Steps = tuple[str | int, ...]


def wrong(fields: Fields, evaluator: Evaluator) -> Iterator[Place]:
    """What is wrong with the *fields* of a manifest whose shape was checked, as it is found."""
    yield from _wrong_parameters(fields.get("parameters") or {})
    yield from _wrong_guardrails(fields, evaluator)
    yield from _wrong_exposes(fields.get("exposes") or {}, evaluator)


def steps(fields: Fields) -> Iterator[tuple[Steps, Fields]]:
    """Every guardrail step of a manifest, and where it stands."""
    for side in _SCOPES:
        for number, step in enumerate((fields.get("guardrails") or {}).get(side) or []):
            yield ("guardrails", side, number), step


def _wrong_parameters(declared: Fields) -> Iterator[Place]:
    properties: Fields = declared.get("properties") or {}
    for name in (name for name in properties if name in RESERVED):
        yield Place(path((*_PROPERTIES, name)), "is reserved for what the task itself says")
    yield from _wrong_schema({**declared, "type": "object"}, ("parameters",))
    message: Fields = properties.get(parameters.MESSAGE) or {}
    if message.keys() - {"default", "description", "title"}:
        yield Place(path(_MESSAGE), "is what every input has; only its default may be declared")
    if message.get("default") is not None:
        for place in wrong_places(message["default"]):
            at = place.at.removeprefix(parameters.MESSAGE)
            yield Place(f"{path((*_MESSAGE, 'default'))}{at}", place.problem)


def _wrong_schema(schema: Fields, at: Steps) -> Iterator[Place]:
    if len(at) > 2 * DEEPEST:
        yield Place(path(at), f"is nested deeper than {DEEPEST}")
        return
    properties: Fields = schema.get("properties") or {}
    yield from _wrong_lists(schema, at)
    if "default" in schema and at != _MESSAGE:
        # No default can name a file: which there are depends on the task.
        yield from (
            Place(path((*at, "default", *below)), problem)
            for below, problem in parameters.problems(schema, schema["default"])
        )
    for name, one in properties.items():
        yield from _wrong_schema(one, (*at, "properties", name))
    if schema.get("items") is not None:
        yield from _wrong_schema(schema["items"], (*at, "items"))


def _wrong_lists(schema: Fields, at: Steps) -> Iterator[Place]:
    """Keys that go with another type, and names of properties that are none."""
    kind, properties = schema.get("type"), schema.get("properties") or {}
    if kind not in {"object", None} and properties:
        yield Place(path((*at, "properties")), "is for objects")
    if kind not in {"array", None} and schema.get("items") is not None:
        yield Place(path((*at, "items")), "is for arrays")
    for key in ("required", "require_binding"):
        names = schema.get(key)
        for number, name in enumerate(names if isinstance(names, list) else []):
            if name not in properties:
                yield Place(path((*at, key, number)), "names no property")


def _wrong_guardrails(fields: Fields, evaluator: Evaluator) -> Iterator[Place]:
    for at, step in steps(fields):
        plain, with_review = _SCOPES[str(at[1])]
        for name, scope in (("condition", plain), ("assert", with_review), ("transform", plain)):
            if step.get(name) is not None:
                yield from _wrong_expression(step[name], scope, path((*at, name)), evaluator)
        for name in ("deny_message", "error_message"):
            if step.get(name) is not None:
                yield from _wrong_template(step[name], plain, path((*at, name)), evaluator)


def _wrong_exposes(exposes: Fields, evaluator: Evaluator) -> Iterator[Place]:
    for name, expression in exposes.items():
        at = path(("exposes", name))
        if name in RESERVED or name == parameters.MESSAGE:
            yield Place(at, "is reserved for what the task itself says")
        elif expression is not None:
            yield from _wrong_expression(expression, expressions.EXPOSES, at, evaluator)


def _wrong_expression(expression: str, scope: Scope, at: str, evaluator: Evaluator) -> Iterator[Place]:
    try:
        expressions.check(expression, scope, evaluator)
    except ExpressionRefused as refused:
        yield Place(at, refused.problem)


def _wrong_template(template: str, scope: Scope, at: str, evaluator: Evaluator) -> Iterator[Place]:
    try:
        parts = templates.parts(template)
    except ExpressionRefused as refused:
        yield Place(at, refused.problem)
        return
    for part in parts:
        if isinstance(part, templates.Hole):
            yield from _wrong_expression(part.expression, scope, at, evaluator)
