"""What a change of the API's document breaks: whoever gives what the other side takes no longer.

One comparison serves both directions. Of a request the caller gives what it gave before, and the new document takes it;
of an answer the new document gives, and whoever read the old one takes it. What callers were told to skip breaks
nothing: a new route, a new field of an answer, a new word in a list of words.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from scripts.openapi.fits import Break, Fit, Node, Side

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
TELLS_OF_SCHEME = frozenset({"description", "bearerFormat"})
"""What a way to say who is there promises nothing by."""
SPELT = ("style", "explode", "allowReserved")
"""How a parameter is written into the address."""


def breaks(old: Node, new: Node) -> list[Break]:
    """What works by the *old* document and not by the *new* one."""
    found: set[Break] = set()
    for path, item in old["paths"].items():
        for method in item.keys() & METHODS:
            at, following = f"{method.upper()} {path}", new["paths"].get(path, {})
            if method not in following:
                found.add(Break(at, "is gone"))
            else:
                found |= {
                    *_Change(old, new, at).of_operation(_whole(item, method), _whole(following, method))
                }
    return sorted(found | {*_of_schemes(old, new)})


def unnamed(found: Iterable[Break], changelog: str) -> list[Break]:
    """Those of *found* whose place the newest section of the *changelog* does not name, in backticks."""
    newest = f"\n{changelog}".split("\n## ")[1]
    return [one for one in found if f"`{one.at}`" not in newest]


@dataclass(frozen=True, slots=True)
class _Change:
    """One route, before and after."""

    old: Node
    new: Node
    route: str

    def of_operation(self, was: Node, now: Node) -> Iterator[Break]:
        """What of the route works no longer."""
        yield from self._of_callers(was, now)
        yield from self._of_parameters(was, now)
        yield from self._of_body(was.get("requestBody"), now.get("requestBody"))
        for status, answer in was["responses"].items():
            at = f"{self.route} {status}"
            if status not in now["responses"]:
                yield Break(at, "is answered no more")
            else:
                old, new = Side(answer, self.old).whole(), Side(now["responses"][status], self.new).whole()
                yield from self._of_answer(at, old.schema, new.schema)

    def _of_callers(self, was: Node, now: Node) -> Iterator[Break]:
        """Whoever could say who they are still can, in the way they did."""
        before, after = (
            side.get("security", document.get("security")) or [{}]
            for side, document in ((was, self.old), (now, self.new))
        )
        for way in before:
            taken = [one for one in after if one.keys() <= way.keys()]
            if not taken:
                yield Break(self.route, f"asks who is there{' in another way' if way else ''}")

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
                continue
            for spelt in SPELT:
                if one.get(spelt) != after[key].get(spelt):
                    yield Break(at, f"is held to another {spelt}")
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
            old = Side(header, self.old).whole().schema
            new = Side(now.get("headers", {}).get(name), self.new).whole().schema
            if new is None:
                yield Break(f"{at} {name}", "is gone")
                continue
            if old.get("required") and not new.get("required"):
                yield Break(f"{at} {name}", "may be absent now")
            taker, giver = Side(old["schema"], self.old), Side(new["schema"], self.new)
            place = Side(header, self.old).name or f"{at} {name}"
            yield from Fit(answered=True).wrong(taker, giver, f"{place} ")
        for kind, media in was.get("content", {}).items():
            if kind not in now.get("content", {}):
                yield Break(f"{at} {kind}", "is answered no more")
                continue
            taker = Side(media["schema"], self.old)
            giver = Side(now["content"][kind]["schema"], self.new)
            yield from Fit(answered=True).wrong(taker, giver, f"{at} ")

    def _taken(self, at: str, was: Any, now: Any) -> Iterator[Break]:
        yield from Fit(answered=False).wrong(Side(now, self.new), Side(was, self.old), f"{at} ")


def _whole(item: Node, method: str) -> dict[str, Any]:
    """The operation of *item*, with the parameters that all of its methods have; its own come after, and hold."""
    operation = item[method]
    return {**operation, "parameters": [*item.get("parameters", ()), *operation.get("parameters", ())]}


def _of_schemes(old: Node, new: Node) -> Iterator[Break]:
    """Whoever says who they are says it as before; what a route asks for no more is the route's to tell."""
    before, after = (side["components"].get("securitySchemes", {}) for side in (old, new))
    for name in before.keys() & after.keys():
        was, now = (
            {word: said for word, said in side[name].items() if word not in TELLS_OF_SCHEME}
            for side in (before, after)
        )
        if was != now:
            yield Break(name, "says in another way who is there")
