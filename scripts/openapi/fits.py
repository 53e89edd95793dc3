"""Whether one side of the API takes all that the other gives, shape by shape; where it does not, that breaks somebody.

What a shape is held to is compared word by word: in the way that the word means, and else for being the same.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from scripts.openapi.released import WORDS, promised

type Node = Mapping[str, Any]

MOST_OF = ("maximum", "maxLength", "maxItems", "maxProperties", "exclusiveMaximum")
LEAST_OF = ("minimum", "minLength", "minItems", "minProperties", "exclusiveMinimum")
COMPARED = frozenset(
    {
        *MOST_OF,
        *LEAST_OF,
        "$ref",
        "type",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "properties",
        "required",
        "additionalProperties",
        "items",
        "propertyNames",
    }
)
"""These have a comparison of their own; whatever else a shape is held to must be the same."""
TELLS = WORDS | {"default", "deprecated", "readOnly", "writeOnly", "$comment"}
"""What holds a shape to nothing. What comes by default is compared where it means something: in a request."""
ALL_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


@dataclass(frozen=True, slots=True, order=True)
class Break:
    """Something that works no longer; *at* is how CHANGELOG names it."""

    at: str
    what: str

    def __str__(self) -> str:
        return f"`{self.at}` {self.what}"


@dataclass(frozen=True, slots=True)
class Side:
    """A schema, and the document in which its references are found."""

    schema: Any
    document: Node

    @property
    def name(self) -> str:
        """What the document calls it, if it refers to it."""
        is_named = isinstance(self.schema, Mapping) and "$ref" in self.schema
        return str(self.schema["$ref"]).rpartition("/")[2] if is_named else ""

    def whole(self) -> "Side":
        """Itself, with nothing referred to."""
        schema: Any = self.schema
        beside: dict[str, Any] = {}
        while isinstance(schema, Mapping) and "$ref" in schema:
            # What stands beside a reference holds, too.
            beside = _both({name: said for name, said in schema.items() if name != "$ref"}, beside)
            schema = _found(self.document, schema["$ref"])
        schema = {} if schema is True else schema
        return Side(_both(schema, beside) if beside and schema is not False else schema, self.document)

    def at(self, *names: str) -> "Side":
        """What lies below it."""
        inner = self.schema
        for name in names:
            inner = inner[name]
        return Side(inner, self.document)


class Fit:
    """Whether one side takes all that the other gives."""

    def __init__(self, *, answered: bool, within: Iterable[tuple[str, str]] = ()) -> None:
        self.answered = answered
        self._within = [*within]

    def wrong(self, taker: Side, giver: Side, at: str) -> Iterator[Break]:
        """Where *giver* gives what *taker* does not take; a shape with a name of its own is named by that."""
        at = (taker if self.answered else giver).name or at
        taker, giver = taker.whole(), giver.whole()
        pair = json.dumps(taker.schema, sort_keys=True), json.dumps(giver.schema, sort_keys=True)
        # A shape that stands within itself is looked at once.
        if pair in self._within:
            return
        self._within.append(pair)
        yield from self._wrong(taker, giver, at)
        self._within.pop()

    def _wrong(self, taker: Side, giver: Side, at: str) -> Iterator[Break]:
        if giver.schema is False:
            return
        if taker.schema is False:
            yield Break(at.strip(), "was not there before" if self.answered else "is taken no more")
            return
        if alternatives := _alternatives(giver):
            for one in alternatives:
                yield from self.wrong(taker, one, at)
            return
        if alternatives := _alternatives(taker):
            tried = [
                [*Fit(answered=self.answered, within=self._within).wrong(one, giver, at)]
                for one in alternatives
            ]
            if all(tried):
                yield from min(
                    tried, key=lambda found: (any(not _is_below(one, at) for one in found), len(found))
                )
            return
        yield from self._wrong_kind(taker.schema, giver.schema, at)
        yield from self._wrong_object(taker, giver, at)
        if "items" in taker.schema and _may_be(giver.schema, "array"):
            yield from self.wrong(
                taker.at("items"), Side(giver.schema.get("items", {}), giver.document), f"{at}[]"
            )

    def _wrong_kind(self, taker: Node, giver: Node, at: str) -> Iterator[Break]:
        place = at.strip()
        if more := _types(giver) - _types(taker):
            yield Break(
                place, f"{'may be' if self.answered else 'may no longer be'} {' or '.join(sorted(more))}"
            )
            return
        words, given = _words(taker), _words(giver)
        if words is not None and (given is None or given - words) and not (self.answered and "enum" in taker):
            lost = sorted(given - words) if given is not None else ["whatever it was"]
            verb = "may be" if self.answered else "may no longer be"
            yield Break(place, f"{verb} {', '.join(lost)}")
        if not self.answered and giver.get("default") != taker.get("default") and "default" in giver:
            yield Break(place, "means something else where it is left out")
        if given is not None:
            if words is None and (lost := _refused(giver, taker)):
                verb = "may be" if self.answered else "may no longer be"
                yield Break(place, f"{verb} {', '.join(lost)}")
            return
        for bound, sign in (*((one, 1) for one in MOST_OF), *((one, -1) for one in LEAST_OF)):
            if bound in taker and (bound not in giver or sign * giver[bound] > sign * taker[bound]):
                yield Break(place, f"is held to another {bound}")
        for name in sorted(taker.keys() - COMPARED - TELLS):
            if promised(giver.get(name)) != promised(taker[name]):
                yield Break(place, f"is held to another {name}")

    def _wrong_object(self, taker: Side, giver: Side, at: str) -> Iterator[Break]:
        if not _may_be(giver.schema, "object"):
            return
        takes, gives = (side.schema.get("properties", {}) for side in (taker, giver))
        needs, has = (set(side.schema.get("required", ())) for side in (taker, giver))
        is_closed = taker.schema.get("additionalProperties") is False
        for name in sorted({*takes, *gives, *needs}):
            place = f"{at}.{name}" if not at.endswith(" ") else f"{at}{name}"
            if name in needs - has:
                lost = "may be absent now" if name in gives else "is gone"
                yield Break(place, lost if self.answered else "is required now")
            elif name in takes and name in gives:
                yield from self.wrong(taker.at("properties", name), giver.at("properties", name), place)
            elif name in takes and self.answered:
                yield Break(place, "is gone")
            elif name in gives and is_closed:
                yield Break(place, "is taken no more")
        if "propertyNames" in taker.schema:
            names = Side(giver.schema.get("propertyNames", {"type": "string"}), giver.document)
            yield from self.wrong(taker.at("propertyNames"), names, f"{at}.*")
        others, given = (side.schema.get("additionalProperties", True) for side in (taker, giver))
        if is_closed and given is not False:
            yield Break(at.strip(), "takes no more names than it knows")
        elif isinstance(others, Mapping) and given is not False:
            yield from self.wrong(Side(others, taker.document), Side(given, giver.document), f"{at}.*")


def _alternatives(side: Side) -> list[Side]:
    schema = side.schema
    found = schema.get("anyOf") or schema.get("oneOf") or ()
    # What stands beside the alternatives holds for each of them.
    beside = {name: value for name, value in schema.items() if name not in {"anyOf", "oneOf"}}
    return [Side(_both(beside, Side(one, side.document).whole().schema), side.document) for one in found]


def _both(one: Node, other: Node) -> dict[str, Any]:
    """What holds where *one* and *other* do."""
    named = {**one.get("properties", {})}
    for name, schema in other.get("properties", {}).items():
        is_plain = isinstance(schema, Mapping) and isinstance(named.get(name), Mapping)
        named[name] = _both(named[name], schema) if is_plain else schema
    required = [*one.get("required", ()), *other.get("required", ())]
    more = {name: value for name, value in (("properties", named), ("required", required)) if value}
    bounds = {
        bound: pick(one[bound], other[bound])
        for of, pick in ((MOST_OF, min), (LEAST_OF, max))
        for bound in of
        if bound in one and bound in other
    }
    return {**one, **other, **bounds, **more}


def _types(schema: Node) -> frozenset[str]:
    """The types that it may have; a number may be whole."""
    said = schema.get("type")
    if said is None:
        words = _words(schema)
        return ALL_TYPES if words is None else frozenset()
    found = frozenset([said] if isinstance(said, str) else said)
    return found | {"integer"} if "number" in found else found


def _may_be(schema: Node, kind: str) -> bool:
    return kind in _types(schema)


def _words(schema: Node) -> set[str] | None:
    """The values that there are, if they are listed."""
    if "const" in schema:
        return {repr(schema["const"])}
    return {repr(word) for word in schema["enum"]} if "enum" in schema else None


def _refused(giver: Node, taker: Node) -> list[str]:
    """The words of *giver* that *taker*, which lists none, does not take."""
    words = giver["enum"] if "enum" in giver else [giver["const"]]
    simple = {name: taker[name] for name in taker.keys() & {*MOST_OF, *LEAST_OF, "pattern"}}
    taken = Draft202012Validator(simple)
    return sorted(repr(word) for word in words if not taken.is_valid(word))


def _is_below(one: Break, at: str) -> bool:
    return one.at != at.strip()


def _found(document: Node, ref: str) -> Any:
    here: Any = document
    for name in ref.removeprefix("#/").split("/"):
        here = here[name]
    return here
