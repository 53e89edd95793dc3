"""Files that a message names, and how a file may be called (CP-4)."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

from turnkeeper.domain import uris
from turnkeeper.domain.uris import FileRefused, FileUri, Root

LONGEST_NAME = 255
"""Bytes of UTF-8."""
MOST_FILES = 64
"""How many files one message may name; each is an item of its transaction."""

type Steps = tuple[int | str, ...]
"""Where in what was sent something stands."""


def named(name: str, *, within: str) -> FileUri:
    """The file of this *name* in the folder *within* of a task's own root, or FileRefused."""
    if "/" in name:
        raise FileRefused("must be a name, without a folder")
    if len(name.encode(errors="replace")) > LONGEST_NAME:
        raise FileRefused(f"is longer than {LONGEST_NAME} bytes of UTF-8")
    # What cannot be seen can make one name look like another: a reversed `.exe`, for one.
    if any(unicodedata.category(character).startswith("C") for character in name):
        raise FileRefused("has a character that cannot be seen")
    return uris.parse(f"{Root.TASK.value}://{within}/{name}", {Root.TASK})


def in_message(sent: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """Where in *sent* the parts of its message name files, and which."""
    for number, part in enumerate(sent.get("message") or ()):
        if "file" in part:
            yield ("message", number, "file"), part["file"]
