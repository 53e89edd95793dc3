"""Texts with expressions in braces, as deny messages are: `A refund of {input.amount} is too much`."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turnkeeper.guards.syntax import ExpressionRefused

LONGEST = 1_024
"""Bytes of a template, and of what it becomes: a refusal lies beside its commit."""
MOST_EXPRESSIONS = 8
_PAIRS = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Hole:
    """Where the value of *expression* goes."""

    expression: str


type Part = str | Hole


class ValueMissing(Exception):
    """An expression of a template has no value."""


def parts(template: str) -> tuple[Part, ...]:
    """*template* taken apart, `{{` and `}}` being braces; ExpressionRefused when a brace has no other."""
    if (size := len(template.encode(errors="surrogatepass"))) > LONGEST:
        raise ExpressionRefused(f"is {size} bytes; at most {LONGEST} are taken")
    found: list[Part] = []
    text, at = "", 0
    while at < len(template):
        if template[at : at + 2] in {"{{", "}}"}:
            text, at = text + template[at], at + 2
        elif template[at] == "{":
            end = _end_of(template, at)
            found += [text, Hole(template[at + 1 : end])]
            text, at = "", end + 1
        else:
            text, at = text + template[at], at + 1
    if sum(isinstance(part, Hole) for part in found) > MOST_EXPRESSIONS:
        raise ExpressionRefused(f"has more than {MOST_EXPRESSIONS} expressions")
    return tuple(part for part in (*found, text) if part != "")


def filled(template: str, value_of: Callable[[str], Any]) -> str:
    """*template* with the values of its expressions, cut where it grows too long; *value_of* may raise ValueMissing."""
    return cut(
        "".join(
            part if isinstance(part, str) else written(value_of(part.expression)) for part in parts(template)
        )
    )


def written(value: Any) -> str:
    """*value* as a reader wants it: a text as it is, a whole number without a point, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)


def cut(text: str) -> str:
    """*text*, or its beginning where it is longer than a message may be."""
    packed = text.encode()
    if len(packed) <= LONGEST:
        return text
    return packed[: LONGEST - len("…".encode())].decode(errors="ignore") + "…"


def _end_of(template: str, start: int) -> int:
    """Where the brace at *start* closes, past brackets and texts within."""
    closers: list[str] = []
    quote = ""
    at = start
    while at < len(template):
        character = template[at]
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "'\"":
            quote = character
        elif character in _PAIRS:
            closers.append(_PAIRS[character])
        elif closers and character == closers[-1]:
            closers.pop()
            if not closers:
                return at
        at += 1
    raise ExpressionRefused(f"opens a brace at character {start + 1} that nothing closes")
