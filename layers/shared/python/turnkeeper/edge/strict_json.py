"""JSON as strangers send it: either it means one thing to every reader, or it is refused with what and where.

Python is lenient where others are not (NaN, duplicate keys, lone surrogates, huge integers). What one reader
takes and the next one cannot is a conversation that somebody loses. All of it is linear in the body.
"""

import base64
import binascii
import json
import re
from typing import Any, NoReturn

from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.domain.places import shortened

DEEPEST = 64
"""How many objects and lists may stand inside one another."""

_LONGEST_NUMBER = 100

# An unterminated string runs to the end of the text, so no character is looked at twice.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_STRING_OR_BRACKET = re.compile(rf"{_STRING}|[\[\]{{}}]", re.DOTALL)
_STRING_OR_NUMBER = re.compile(rf"{_STRING}|-?(?:[0-9][0-9.eE+-]*+|Infinity)|NaN", re.DOTALL)
_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{{2}})|.)", re.DOTALL)


def is_blank(text: str) -> bool:
    """Nothing is said: JSON's own four kinds of space at most, and not what Unicode has besides."""
    return not text.strip(" \t\r\n")


def read(body: str | None, *, is_base64: bool = False) -> dict[str, Any]:
    """The one object that *body* says, or MalformedRequest."""
    text = unpacked(body or "", is_base64=is_base64)
    if is_blank(text):
        _refuse("is empty; send a JSON object")
    _refuse_deep_nesting(text)
    value = _parsed(text)
    if "\\" in text:
        _refuse_lone_surrogates(text)
    if not isinstance(value, dict):
        _refuse("must be a JSON object")
    return value


def written(value: object) -> str:
    """*value* as the store keeps it: compact, and every character as itself."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size(text: str) -> int:
    """The bytes of *text* in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


class _NumberRefused(Exception):
    """A refusal on its way out of the parser's hooks, which know no position."""

    def __init__(self, literal: str, problem: str) -> None:
        super().__init__(problem)
        self.literal, self.problem = literal, problem


def _refuse(problem: str) -> NoReturn:
    raise MalformedRequest("body", problem) from None


def unpacked(body: str, *, is_base64: bool) -> str:
    """The text that *body* is, which the gateway may have packed; MalformedRequest where it is none."""
    if is_base64:
        try:
            return base64.b64decode(body, validate=True).decode()
        except UnicodeDecodeError as error:
            _refuse(f"is not UTF-8 at byte {error.start}")
        except (binascii.Error, ValueError):
            _refuse("is not base64, although the gateway says so")
    try:
        body.encode()
    except UnicodeEncodeError as error:
        _refuse(f"is not UTF-8 at character {error.start}")
    return body


def _refuse_deep_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= DEEPEST:
        return
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text):
        bracket = found[0]
        if bracket in "[{":
            depth += 1
            if depth > DEEPEST:
                _refuse(f"is nested deeper than {DEEPEST} {_where(text, found.start())}")
        elif bracket in "]}":
            depth -= 1


def _parsed(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        _refuse(f"is not JSON {_where(text, error.pos)}: {error.msg.removesuffix(' at')}")
    except _NumberRefused as refused:
        _refuse(f"{refused.problem} {_where(text, _position(text, refused.literal))}")


def _refuse_lone_surrogates(text: str) -> None:
    for escape in _ESCAPE.finditer(text):
        if escape["lone"]:
            _refuse(f"has half a surrogate pair, which is no character, {_where(text, escape.start())}")


def _where(text: str, position: int) -> str:
    line = text.count("\n", 0, position) + 1
    return f"at line {line}, column {position - text.rfind('\n', 0, position)}"


def _position(text: str, literal: str) -> int:
    """Where the number *literal* stands outside every string; there the parser stopped first."""
    return next((found.start() for found in _STRING_OR_NUMBER.finditer(text) if found[0] == literal), 0)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique: dict[str, Any] = {}
    for key, value in pairs:
        if key in unique:
            _refuse(f"has the key {json.dumps(shortened(key))} twice in one object")
        unique[key] = value
    return unique


def _integer(literal: str) -> int:
    if len(literal) <= len(str(-(2**63))) and -(2**63) <= (value := int(literal)) < 2**63:
        return value
    raise _NumberRefused(literal, "has an integer that does not fit into 64 bits")


def _float(literal: str) -> float:
    if len(literal) > _LONGEST_NUMBER:
        raise _NumberRefused(literal, f"has a number of more than {_LONGEST_NUMBER} characters")
    value = float(literal)
    if value in (float("inf"), float("-inf")):
        raise _NumberRefused(literal, "has a number that is too large")
    return value


def _constant(literal: str) -> NoReturn:
    raise _NumberRefused(literal, f"has {literal}, which is not JSON,")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_once_each, parse_int=_integer, parse_float=_float, parse_constant=_constant
)
