"""What a change of the API's document breaks: whoever gives what the other side takes no longer.

One comparison serves both directions. Of a request the caller gives what it gave before, and the new document takes it;
of an answer the new document gives, and whoever read the old one takes it. What callers were told to skip breaks
nothing: a new route, a new field of an answer, a new word in a list of words.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

type Node = Mapping[str, Any]

MOST_OF = ("maximum", "maxLength", "maxItems", "maxProperties", "exclusiveMaximum")
LEAST_OF = ("minimum", "minLength", "minItems", "minProperties", "exclusiveMinimum")
SPELT = ("pattern", "format")
ALL_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


@dataclass(frozen=True, slots=True, order=True)
class Break:
    """Something that works no longer; *at* is how CHANGELOG names it."""

    at: str
    what: str

    def __str__(self) -> str:
        return f"`{self.at}` {self.what}"


def breaks(old: Node, new: Node) -> list[Break]:
    """What works by the *old* document and not by the *new* one."""
    found: set[Break] = set()
    for path, item in old["paths"].items():
        for method, operation in item.items():
            at, now = f"{method.upper()} {path}", new["paths"].get(path, {}).get(method)
            if now is None:
                found.add(Break(at, "is gone"))
            else:
                found |= {*_Change(old, new, at).of_operation(operation, now)}
    return sorted(found)


def unnamed(found: Iterable[Break], changelog: str) -> list[Break]:
    """Those of *found* whose place the newest section of the *changelog* does not name, in backticks."""
    newest = f"\n{changelog}".split("\n## ")[1]
    return [one for one in found if f"`{one.at}`" not in newest]


@dataclass(frozen=True, slots=True)
class _Side:
    """A schema, and the document in which its references are found."""

    schema: Any
    document: Node

    @property
    def name(self) -> str:
        """What the document calls it, if it refers to it."""
        is_named = isinstance(self.schema, Mapping) and "$ref" in self.schema
        return str(self.schema["$ref"]).rpartition("/")[2] if is_named else ""

    def whole(self) -> "_Side":
        """Itself, with nothing referred to."""
        schema = self.schema
        while isinstance(schema, Mapping) and "$ref" in schema:
            schema = _found(self.document, schema["$ref"])
        return _Side({} if schema is True else schema, self.document)

    def at(self, *names: str) -> "_Side":
        """What lies below it."""
        inner = self.schema
        for name in names:
            inner = inner[name]
        return _Side(inner, self.document)


@dataclass(frozen=True, slots=True)
class _Change:
    """One route, before and after."""

    old: Node
    new: Node
    route: str

    def of_operation(self, was: Node, now: Node) -> Iterator[Break]:
        """What of the route works no longer."""
        if not was.get("security") and now.get("security"):
            yield Break(self.route, "asks who is there")
        yield from self._of_parameters(was, now)
        yield from self._of_body(was.get("requestBody"), now.get("requestBody"))
        for status, answer in was["responses"].items():
            at = f"{self.route} {status}"
            if status not in now["responses"]:
                yield Break(at, "is answered no more")
            else:
                old, new = _Side(answer, self.old).whole(), _Side(now["responses"][status], self.new).whole()
                yield from self._of_answer(at, old.schema, new.schema)

    def _of_parameters(self, was: Node, now: Node) -> Iterator[Break]:
        before, after = (
            {(one["in"], one["name"]): one for one in side.get("parameters", ())} for side in (was, now)
        )
        for key, one in after.items():
            if one.get("required") and not before.get(key, {}).get("required"):
                yield Break(f"{self.route} {key[1]}", "is required now")
        for key, one in before.items():
            at = f"{self.route} {key[1]}"
            if key not in after:
                yield Break(at, "is taken no more")
            else:
                yield from self._taken(at, one["schema"], after[key]["schema"])

    def _of_body(self, was: Node | None, now: Node | None) -> Iterator[Break]:
        if now is not None and now.get("required") and not (was or {}).get("required"):
            yield Break(f"{self.route} body", "is required now")
        for kind, media in (was or {}).get("content", {}).items():
            at = f"{self.route} body" if kind == "application/json" else f"{self.route} {kind}"
            if kind not in (now or {}).get("content", {}):
                yield Break(at, "is taken no more")
            else:
                yield from self._taken(at, media["schema"], (now or {})["content"][kind]["schema"])

    def _of_answer(self, at: str, was: Node, now: Node) -> Iterator[Break]:
        for name, header in was.get("headers", {}).items():
            old = _Side(header, self.old).whole().schema
            new = _Side(now.get("headers", {}).get(name), self.new).whole().schema
            if new is None:
                yield Break(f"{at} {name}", "is gone")
            elif old.get("required") and not new.get("required"):
                yield Break(f"{at} {name}", "may be absent now")
        for kind, media in was.get("content", {}).items():
            if kind not in now.get("content", {}):
                yield Break(f"{at} {kind}", "is answered no more")
                continue
            taker = _Side(media["schema"], self.old)
            giver = _Side(now["content"][kind]["schema"], self.new)
            yield from _Fit(answered=True).wrong(taker, giver, f"{at} ")

    def _taken(self, at: str, was: Any, now: Any) -> Iterator[Break]:
        yield from _Fit(answered=False).wrong(_Side(now, self.new), _Side(was, self.old), f"{at} ")


class _Fit:
    """Whether one side takes all that the other gives."""

    def __init__(self, *, answered: bool, within: Iterable[tuple[str, str]] = ()) -> None:
        self.answered = answered
        self._within = [*within]

    def wrong(self, taker: _Side, giver: _Side, at: str) -> Iterator[Break]:
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

    def _wrong(self, taker: _Side, giver: _Side, at: str) -> Iterator[Break]:
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
                [*_Fit(answered=self.answered, within=self._within).wrong(one, giver, at)]
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
                taker.at("items"), _Side(giver.schema.get("items", {}), giver.document), f"{at}[]"
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
        if given is not None:
            return
        for bound, sign in (*((one, 1) for one in MOST_OF), *((one, -1) for one in LEAST_OF)):
            if bound in taker and (bound not in giver or sign * giver[bound] > sign * taker[bound]):
                yield Break(place, f"is held to another {bound}")
        for name in SPELT:
            if name in taker and giver.get(name) != taker[name]:
                yield Break(place, f"is held to another {name}")

    def _wrong_object(self, taker: _Side, giver: _Side, at: str) -> Iterator[Break]:
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
        others, given = (side.schema.get("additionalProperties", True) for side in (taker, giver))
        if is_closed and given is not False:
            yield Break(at.strip(), "takes no more names than it knows")
        elif isinstance(others, Mapping) and given is not False:
            yield from self.wrong(_Side(others, taker.document), _Side(given, giver.document), f"{at}.*")


def _alternatives(side: _Side) -> list[_Side]:
    schema = side.schema
    found = schema.get("anyOf") or schema.get("oneOf") or ()
    # What stands beside the alternatives holds for each of them.
    beside = {name: value for name, value in schema.items() if name not in {"anyOf", "oneOf"}}
    return [_Side(_both(beside, _Side(one, side.document).whole().schema), side.document) for one in found]


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


def _is_below(one: Break, at: str) -> bool:
    return one.at != at.strip()


def _found(document: Node, ref: str) -> Any:
    here: Any = document
    for name in ref.removeprefix("#/").split("/"):
        here = here[name]
    return here
