"""An agent's parameters: what may come beside a message, by a JSON Schema in the published form (IN-1a, IO-6, IO-7).

The library is loaded at the first input that needs it. It never sees a reference or a pattern, since no manifest may
declare one: nothing is fetched, and nothing takes longer than its size says.
"""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from turnkeeper.domain import uris
from turnkeeper.domain.content import RESERVED
from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.places import path

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

MESSAGE = "message"
FILE = "file"
MOST_VALUES = 10_000
"""How many values the parameters of one input may hold, however nested."""
MOST_PLACES = 21
"""How many wrong places are looked for: one more than an answer names."""

_TYPES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
}
_BOUNDS = {
    "minimum": "must be at least {}",
    "maximum": "must be at most {}",
    "minLength": "must have at least {} characters",
    "maxLength": "may have at most {} characters",
    "minItems": "must have at least {} entries",
    "maxItems": "may have at most {} entries",
    "minProperties": "must have at least {} keys",
    "maxProperties": "may have at most {} keys",
}
_KEYWORDS = frozenset({"type", "enum", *_BOUNDS})
_FOR_PEOPLE = ("title", "description")

type Steps = tuple[int | str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """What an agent's inputs may carry beside their message; *default_message* is for one that brings none."""

    properties: Mapping[str, Mapping[str, Any]]
    required: frozenset[str]
    default_message: Any = None

    @property
    def numbers(self) -> frozenset[str]:
        """Those of the type number, which expressions see as doubles."""
        return frozenset(name for name, one in self.properties.items() if one.get("type") == "number")


NONE = Parameters(properties={}, required=frozenset())


def read(declared: Mapping[str, Any] | None) -> Parameters:
    """The parameters of a checked manifest.

    Where it has no `required`, which is the older form, what has no default is required.
    """
    if declared is None:
        return NONE
    properties = dict(declared.get("properties") or {})
    message = properties.pop(MESSAGE, {})
    required = declared.get("required")
    if required is None:
        required = [name for name, one in properties.items() if "default" not in one]
    return Parameters(
        properties=properties,
        required=frozenset(required) - {MESSAGE},
        default_message=message.get("default"),
    )


def shown(parameters: Parameters) -> dict[str, Any]:
    """What may stand beside a message, as JSON Schema of 2020-12 says it: for whoever fills in a form.

    A file is a string of the format `file`; `required` is what must come, and what has a default need not. Nothing is
    left to know of the published form.
    """
    properties = {name: _shown(one) for name, one in parameters.properties.items()}
    required = _needed(properties, parameters.required)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def check_input(
    parameters: Parameters,
    sent: Mapping[str, Any],
    *,
    roots: AbstractSet[uris.Root] = frozenset(),
    at: Steps = (),
) -> dict[str, Any]:
    """*sent* with its defaults; InvalidInput with every wrong place, which are below *at*.

    A message must be there, or come by default; what it says is the edge's to check. Files lie in *roots*.
    """
    filled = _filled(parameters.properties, sent)
    if MESSAGE not in filled and parameters.default_message is not None:
        filled = {MESSAGE: parameters.default_message, **filled}
    if wrong := [Place(path((*at, *steps)), problem) for steps, problem in _wrong(parameters, filled, roots)]:
        raise InvalidInput(wrong)
    return filled


def problems(
    schema: Mapping[str, Any], value: Any, roots: AbstractSet[uris.Root] = frozenset()
) -> Iterator[tuple[Steps, str]]:
    """What is wrong with *value* by *schema* of the published form: where below it, and why."""
    told: set[Steps] = set()
    for error in _validator(_standard(schema)).iter_errors(value):
        for at, problem in _told(error):
            # A missing key is told once for each that is missing, each time with all of them.
            if at not in told:
                told.add(at)
                yield at, problem
    yield from _wrong_files(schema, value, roots)


def files_in(parameters: Parameters, sent: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """Where in the parameters of *sent*, which fits them, files are named, and which."""
    for name, schema in parameters.properties.items():
        if name in sent:
            yield from _files(schema, sent[name], (name,))


def _wrong(
    parameters: Parameters, filled: Mapping[str, Any], roots: AbstractSet[uris.Root]
) -> list[tuple[Steps, str]]:
    given = {name: value for name, value in filled.items() if name != MESSAGE}
    if _is_more_than(MOST_VALUES, given):
        return [((), f"may hold at most {MOST_VALUES} values in its parameters")]

    def places() -> Iterator[tuple[Steps, str]]:
        if MESSAGE not in filled:
            yield (MESSAGE,), "is missing"
        for name in (name for name in given if name not in parameters.properties):
            reserved = name in RESERVED
            yield (
                (name,),
                "is reserved for what the task itself says" if reserved else "is an unknown parameter",
            )
        for name, schema in parameters.properties.items():
            if name in given:
                yield from (
                    ((name, *steps), problem) for steps, problem in problems(schema, given[name], roots)
                )
            elif name in parameters.required:
                yield (name,), "is missing"

    return list(islice(places(), MOST_PLACES))


def _filled(properties: Mapping[str, Mapping[str, Any]], value: Mapping[str, Any]) -> dict[str, Any]:
    """*value* with the defaults of *properties*, and theirs where an object was sent."""
    filled = {name: one["default"] for name, one in properties.items() if "default" in one}
    sent = {
        name: _filled(properties[name].get("properties") or {}, one)
        if isinstance(one, Mapping) and name in properties
        else one
        for name, one in value.items()
    }
    return {**sent, **{name: default for name, default in filled.items() if name not in sent}}


def _is_more_than(most: int, value: Any) -> bool:
    """There are more than *most* values in *value*, itself not counted."""
    count, rest = 0, [value]
    while rest:
        inner = rest.pop()
        children = (
            list(inner.values()) if isinstance(inner, dict) else inner if isinstance(inner, list) else []
        )
        count += len(children)
        if count > most:
            return True
        rest += children
    return False


def _standard(schema: Mapping[str, Any]) -> dict[str, Any]:
    """*schema* as JSON Schema has it: a file is a string, and what only we act on is left out."""
    standard = {name: schema[name] for name in _KEYWORDS & schema.keys() if schema[name] is not None}
    if standard.get("type") == FILE:
        standard["type"] = "string"
    if properties := schema.get("properties"):
        standard["properties"] = {name: _standard(one) for name, one in properties.items()}
    if required := schema.get("required"):
        standard["required"] = list(required)
    if items := schema.get("items"):
        standard["items"] = _standard(items)
    return standard


def _shown(schema: Mapping[str, Any]) -> dict[str, Any]:
    """*schema* in standard words, with those for people and the defaults that are filled in."""
    shown = {name: schema[name] for name in _FOR_PEOPLE if schema.get(name) is not None} | _standard(schema)
    if "default" in schema:
        shown["default"] = schema["default"]
    if schema.get("type") == FILE:
        shown["format"] = FILE
    if properties := schema.get("properties"):
        shown["properties"] = {name: _shown(one) for name, one in properties.items()}
        shown["required"] = _needed(properties, frozenset(shown.get("required", ())))
    if items := schema.get("items"):
        shown["items"] = _shown(items)
    return shown


def _needed(properties: Mapping[str, Mapping[str, Any]], required: AbstractSet[str]) -> list[str]:
    return [name for name, one in properties.items() if name in required and "default" not in one]


def _validator(standard: Mapping[str, Any]) -> "Draft202012Validator":
    return _validator_class()(standard)


@cache
def _validator_class() -> "type[Draft202012Validator]":
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 50 ms that most agents need not pay

    return Draft202012Validator


def _told(error: "ValidationError") -> Iterator[tuple[Steps, str]]:
    at: Steps = tuple(error.absolute_path)
    match error.validator:
        case "type":
            yield at, f"must be {_TYPES[str(error.validator_value)]}"
        case "enum":
            yield at, "must be one of those that the agent declares"
        case "required":
            wanted: Any = error.validator_value
            given: Any = error.instance
            yield from (((*at, name), "is missing") for name in wanted if name not in given)
        case str(bound) if bound in _BOUNDS:
            yield at, _BOUNDS[bound].format(error.validator_value)
        case _:
            yield at, "is not acceptable"


def _wrong_files(
    schema: Mapping[str, Any], value: Any, roots: AbstractSet[uris.Root], at: Steps = ()
) -> Iterator[tuple[Steps, str]]:
    for where, file in _files(schema, value, at):
        try:
            uris.parse(file, roots)
        except uris.FileRefused as refused:
            yield where, refused.problem


def _files(schema: Mapping[str, Any], value: Any, at: Steps) -> Iterator[tuple[Steps, str]]:
    """Where *value* names files by *schema*, and which."""
    if schema.get("type") == FILE and isinstance(value, str):
        yield at, value
    if isinstance(value, dict):
        for name, one in (schema.get("properties") or {}).items():
            if name in value:
                yield from _files(one, value[name], (*at, name))
    if isinstance(value, list) and (items := schema.get("items")):
        for number, one in enumerate(value):
            yield from _files(items, one, (*at, number))
