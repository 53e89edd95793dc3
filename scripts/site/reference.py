"""The API's document as pages to read: one for each part of it, and one for the shapes that they name.

All of it is read out of openapi.json, so that there is nothing to keep beside it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

FOLDER = "openapi"
SHAPES = "shapes"
SCHEMA = "#/components/schemas/"
WHO = {"person": "a person's access token", "host": "a host's signature"}
BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "from {}",
    "maximum": "to {}",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "maxProperties": "at most {} names",
    "pattern": "as `{}`",
    "default": "`{}` if absent",
}

type Json = Mapping[str, Any]


def pages(document: Json) -> dict[str, str]:
    """Every page of the reference as Markdown, by its path in the site."""
    by_tag: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, item in document["paths"].items():
        for method, operation in item.items():
            written = "\n".join(_operation(f"{method.upper()} {path}", operation, document))
            by_tag[operation["tags"][0]].append(written)
    made = {
        f"{FOLDER}/{tag['name'].lower()}.md": _page(tag["name"], tag["description"], by_tag[tag["name"]])
        for tag in document["tags"]
    }
    shapes = [
        "\n".join(_shape(name, schema, document))
        for name, schema in document["components"]["schemas"].items()
    ]
    made[f"{FOLDER}/{SHAPES}.md"] = _page("Shapes", "What requests and answers are made of, by name.", shapes)
    return made


def _page(title: str, description: str, parts: list[str]) -> str:
    return "\n\n".join([f"# {title}", description, *parts]) + "\n"


def _operation(key: str, operation: Json, document: Json) -> Iterator[str]:
    yield f"## `{key}` {{ #{operation['operationId']} }}\n"
    yield operation["description"] + "\n"
    by = [WHO[name] for scheme in operation["security"] for name in scheme]
    yield f"It asks for {by[0]}.\n" if by else "It asks for nothing.\n"
    if operation["parameters"]:
        yield "| goes with it | in | what |"
        yield "|---|---|---|"
        for one in operation["parameters"]:
            schema = one["schema"]
            must = "" if not one.get("required") else ", required"
            said = _cell(one.get("description", ""), *_facts(schema))
            yield f"| `{one['name']}` | {one['in']}{must} | {said} |"
        yield ""
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"Its body, `{kind}`: {_type(body['schema'])}.\n"
        examples = [body["example"]] if "example" in body else []
        for example in [*examples, *(one["value"] for one in body.get("examples", {}).values())]:
            yield _block(example)
    yield "| answer | what | body |"
    yield "|---|---|---|"
    for status, answer in operation["responses"].items():
        found = _resolved(answer, document)
        headers = ", ".join(f"`{name}`" for name in found.get("headers", {}) if name not in _EVERYWHERE)
        bodies = ", ".join(_type(one["schema"]) for one in found.get("content", {}).values())
        yield f"| {status} | {_cell(found['description'], headers)} | {bodies} |"
    yield ""


_EVERYWHERE = {"Cache-Control", "X-Correlation-Id", "Agent-Status"}


def _shape(name: str, schema: Json, document: Json) -> Iterator[str]:
    yield f"## {name} {{ #{name.lower()} }}\n"
    if "description" in schema:
        yield schema["description"] + "\n"
    properties = list(_properties(schema, document))
    if properties:
        yield "| name | what | |"
        yield "|---|---|---|"
        for path, one, is_required in properties:
            must = "required; " if is_required else ""
            yield f"| `{path}` | {must}{_type(one)} | {_cell(one.get('description', ''), *_facts(one))} |"
        yield ""
    else:
        yield _cell(_type(schema), *_facts(schema)) + ".\n"
    for alternative in schema.get("oneOf", ()):
        needs = ", ".join(f"`{one}`" for one in alternative.get("required", ()))
        if "title" in alternative and needs:
            yield f"- {alternative['title']} has {needs}."
    for example in schema.get("examples", ())[:1]:
        yield "\n" + _block(example)


def _properties(schema: Json, document: Json, above: str = "") -> Iterator[tuple[str, Json, bool]]:
    """Each name that *schema* declares, with those of the objects written out within it."""
    for name, one in schema.get("properties", {}).items():
        yield above + name, one, name in schema.get("required", ())
        inner = one.get("items", one) if one.get("type") == "array" else one
        below = f"{above}{name}[]." if inner is not one else f"{above}{name}."
        yield from _properties(inner, document, below)


def _type(schema: Json | None) -> str:
    """What *schema* is, in a few words."""
    match schema:
        case {"$ref": reference}:
            name = reference.removeprefix(SCHEMA)
            return f"[{name}]({SHAPES}.md#{name.lower()})"
        case {"const": value}:
            return f"`{json.dumps(value)}`"
        case {"enum": values}:
            return _either(f"`{json.dumps(one)}`" for one in values)
        case {"anyOf": alternatives}:
            return _either(_type(one) for one in alternatives)
        case {"type": list(kinds)}:
            return _either(kinds)
        case _:
            one = schema or {}
            kind = one.get("type", "anything")
            return f"list of {_type(one.get('items'))}" if kind == "array" else str(kind)


def _either(said: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(said))


def _facts(schema: Json) -> Iterator[str]:
    """The bounds of *schema*, or of the one alternative that is not null."""
    for one in (schema, *schema.get("anyOf", ())):
        for bound, said in BOUNDS.items():
            if bound in one:
                value = one[bound] if isinstance(one[bound], str) else json.dumps(one[bound])
                yield "not empty" if (bound, value) == ("minLength", "1") else said.format(value)


def _cell(*said: str) -> str:
    """*said* as the cell of a table."""
    words = "; ".join(
        one.strip().rstrip(".") if len(said) > 1 else one.strip() for one in said if one.strip()
    )
    return words.replace("|", "\\|").replace("\n", "<br>")


def _block(example: Any) -> str:
    if isinstance(example, str):
        return f"```yaml\n{example.rstrip()}\n```\n"
    return f"```json\n{json.dumps(example, indent=1, ensure_ascii=False)}\n```\n"


def _resolved(answer: Json, document: Json) -> Json:
    found: Any = answer
    if "$ref" in answer:
        found = document
        for step in answer["$ref"].removeprefix("#/").split("/"):
            found = found[step]
    return dict(found)
