"""URIs of files in a task's mounts: `task://report.txt`, and nothing that leads anywhere else (CP-4)."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

LONGEST = 1_024
"""Bytes of UTF-8."""


class Root(StrEnum):
    """Where files may lie, by how far they reach."""

    TASK = "task"
    AGENT = "agent"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class FileUri:
    """A file: *path* is relative to its *root*, and its segments are names."""

    root: Root
    path: str

    def __str__(self) -> str:
        return f"{self.root.value}://{self.path}"


def mounted(said: str | Sequence[str] | None) -> frozenset[Root]:
    """The roots that a manifest's `mount` names.

    The older form names one or none, the newer one lists them; nothing said is the task's own.
    """
    if said is None:
        return frozenset({Root.TASK})
    if isinstance(said, str):
        return frozenset() if said == "none" else frozenset({Root(said)})
    return frozenset(Root(one) for one in said)


class FileRefused(Exception):
    """The text names no file that is available; *problem* says why, and which roots there are."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(.*)", re.DOTALL)
# What some reader takes apart again: escapes, queries, other systems' separators, what cannot be seen.
_AMBIGUOUS = re.compile(r"[%?#\\\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def parse(text: str, available: AbstractSet[Root]) -> FileUri:
    """The file that *text* names in one of the roots that are *available*, or FileRefused."""
    if not (found := _SCHEME.fullmatch(text)):
        raise FileRefused(f"is no URI of a file; {_roots(available)}")
    root = next((root for root in Root if root.value == found[1]), None)
    if root is None:
        raise FileRefused(
            f"has a scheme that no root has, and nothing remote is fetched; {_roots(available)}"
        )
    if root not in available:
        raise FileRefused(f"is in a root that is not available here; {_roots(available)}")
    if not found[2].startswith("//"):
        raise FileRefused(f"lacks the // after its scheme; {_roots(available)}")
    path = found[2].removeprefix("//")
    if problem := _problem(path):
        raise FileRefused(f"{problem}; {_roots(available)}")
    return FileUri(root, path)


def _problem(path: str) -> str | None:
    if _AMBIGUOUS.search(path):
        return "has a character that means something else to some reader: one of % ? # \\ or an invisible one"
    if len(path.encode()) > LONGEST:
        return f"is longer than {LONGEST} bytes"
    segments = path.split("/")
    if any(segment in {".", ".."} or segment.isspace() for segment in segments):
        return "leads out of its root or around in it"
    if "" in segments:
        return "has an empty name in its path"
    return None


def _roots(available: AbstractSet[Root]) -> str:
    names = [f"{root.value}://" for root in Root if root in available]
    return f"available roots: {', '.join(names)}" if names else "no root for files is available"
