"""JSON as strangers send it: an object of bounded size that means one thing to every reader, or a reason."""

import json
from collections.abc import Mapping
from copy import deepcopy
from math import isfinite
from typing import Any, NoReturn

from turnkeeper.asc.refusals import EnvelopeRefused, Place

LARGEST = 262_144
"""How many bytes an envelope may have."""

DEEPEST = 64
"""How many objects and lists may stand inside one another."""

MOST_VALUES = 20_000
"""How many values an envelope may have, counting each list and object."""

_INTEGERS = range(-(2**63), 2**63)


def parsed(source: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    """The object that *source* is, or a copy of it if it is parsed already; or EnvelopeRefused."""
    if isinstance(source, Mapping):
        value = dict(source)
        _refuse_what_is_absurd(value)
        return deepcopy(value)
    value = _loaded(_text(source))
    if not isinstance(value, dict):
        _refuse("is no object")
    _refuse_what_is_absurd(value)
    return value


def _refuse(problem: str) -> NoReturn:
    raise EnvelopeRefused(Place("envelope", problem)) from None


def _text(source: str | bytes) -> str:
    try:
        raw = source.encode() if isinstance(source, str) else source
        if len(raw) > LARGEST:
            _refuse(f"has more than {LARGEST} bytes")
        return source if isinstance(source, str) else raw.decode()
    except UnicodeError:
        _refuse("is not UTF-8")


def _loaded(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_constant)
    except RecursionError:
        _refuse(f"is nested deeper than {DEEPEST}")
    except ValueError as error:
        _refuse(f"is not JSON: {str(error)[:80]}")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        _refuse("says something twice in one object")
    return unique


def _constant(literal: str) -> NoReturn:
    _refuse(f"has {literal}, which is not JSON")


def _refuse_what_is_absurd(value: dict[str, Any]) -> None:
    """Every value is of JSON, writable and within bounds. A stack of our own: no depth can exhaust Python's."""
    waiting: list[tuple[Any, int]] = [(value, 1)]
    seen = 0
    while waiting:
        one, depth = waiting.pop()
        seen += 1
        if seen > MOST_VALUES:
            _refuse(f"has more than {MOST_VALUES} values")
        if isinstance(one, (dict, list)):
            if depth > DEEPEST:
                _refuse(f"is nested deeper than {DEEPEST}")
            inside = [*one.keys(), *one.values()] if isinstance(one, dict) else one
            if isinstance(one, dict) and not all(isinstance(key, str) for key in one):
                _refuse("has a key that is no string")
            waiting.extend((inner, depth + 1) for inner in inside)
        elif problem := _wrong_with(one):
            _refuse(problem)


def _wrong_with(one: Any) -> str | None:
    if one is None or isinstance(one, bool):
        return None
    if isinstance(one, str):
        return (
            None if one.isascii() or _is_writable(one) else "has half a surrogate pair, which is no character"
        )
    if isinstance(one, int):
        return None if one in _INTEGERS else "has an integer that does not fit into 64 bits"
    if isinstance(one, float):
        return None if isfinite(one) else "has a number that is not finite"
    return f"has a {type(one).__name__}, which JSON has not"


def _is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
