"""The bounds of a message and its parts (CP-1 to CP-3), and whether one keeps them.

What people and hosts send is read by the edge, which names each wrong place in their words. This is for what is made
here: by a guardrail, out of expressions.
"""

import json
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from turnkeeper.domain.errors import InputTooLarge, Place
from turnkeeper.domain.places import path

LARGEST_INPUT = 256 * 1024
"""Bytes of one input or output as the store keeps it."""
LARGEST_MADE = LARGEST_INPUT + 16 * 1024
"""Bytes of an output with what is put beside its message here: what is exposed, the size of a file, an error."""
LARGEST_TEXT = 100_000
"""Bytes of UTF-8."""
LARGEST_METADATA = 8 * 1024
"""Bytes of JSON."""
MOST_PARTS = 64

PLAIN = "text/plain"
LONGEST_KIND = 255
KIND_CHARACTERS = "[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*"
KIND = rf"(?=.{{3,{LONGEST_KIND}}}\Z){KIND_CHARACTERS}"
"""How the type of a file may be written: a type and a subtype (RFC 6838)."""
RESERVED = frozenset({"type", "received_at", "committed_at", "error"})
"""What the task itself says of an entry: no parameter and nothing exposed may be called so, nor `message` (IO-6)."""


def text(said: str) -> dict[str, Any]:
    """A message that says one text."""
    return {"message": [{"mimeType": PLAIN, "text": said}]}


def kept(flow: Mapping[str, Any], *, most: int = LARGEST_INPUT) -> str:
    """An input or output as the store keeps it: compact JSON; `InputTooLarge` past what the store takes (CP-5)."""
    text = _written(flow)
    if (size := len(text.encode())) > most:
        raise InputTooLarge(size, most)
    return text


def wrong_places(message: object, files: AbstractSet[str] = frozenset()) -> Iterator[Place]:
    """What is wrong with *message*, a list of parts that are texts, or name one of these *files*."""
    if not isinstance(message, list) or not 0 < len(message) <= MOST_PARTS:
        yield Place("message", f"must be a list of 1 to {MOST_PARTS} parts")
        return
    for number, part in enumerate(message):
        if problem := _problem(part, files):
            yield Place(path(["message", number]), problem)


def _problem(part: Any, files: AbstractSet[str]) -> str | None:
    match part:
        case {"file": file, **rest}:
            return _problem_of_file(file, rest, files)
        case {"mimeType": str(kind), "text": str(text), **rest}:
            if kind != PLAIN or rest.keys() - {"sizeBytes", "metadata"}:
                return (
                    f"must be a text of the type {PLAIN}, with nothing but sizeBytes and metadata beside it"
                )
            return _problem_of_text(text, rest)
        case _:
            return "must be an object with mimeType and text"


def _problem_of_file(file: Any, rest: Mapping[Any, Any], files: AbstractSet[str]) -> str | None:
    if not isinstance(file, str) or file not in files:
        return "names a file that was not there; an expression may only pass files on"
    kind = rest.get("mimeType")
    if not (isinstance(kind, str) and re.fullmatch(KIND, kind)):
        return "must have the mimeType of its file"
    if rest.keys() - {"mimeType", "sizeBytes", "metadata"}:
        return "must be a file with nothing but mimeType, sizeBytes and metadata beside it"
    if "sizeBytes" in rest and not (type(rest["sizeBytes"]) is int and rest["sizeBytes"] >= 0):
        return "has a sizeBytes that is no size"
    return _problem_of_metadata(rest)


def _problem_of_text(text: str, rest: Mapping[Any, Any]) -> str | None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        return "has half a surrogate pair, which is no character"
    if size > LARGEST_TEXT:
        return f"has a text of {size} bytes; at most {LARGEST_TEXT} are taken"
    if "sizeBytes" in rest and (type(rest["sizeBytes"]) is not int or rest["sizeBytes"] != size):
        return f"has a sizeBytes that is not the {size} bytes of its text"
    return _problem_of_metadata(rest)


def _problem_of_metadata(rest: Mapping[Any, Any]) -> str | None:
    metadata = rest.get("metadata", {})
    if not isinstance(metadata, dict) or len(_written(metadata).encode()) > LARGEST_METADATA:
        return f"has metadata that is no object of at most {LARGEST_METADATA} bytes"
    return None


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
