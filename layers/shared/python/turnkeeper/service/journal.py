"""Reading a task's journal: what happened when, to whom it may be told, and no word of what was said.

The task is read first and bounds the Query, so a page is as of one moment; an entry never changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any

from turnkeeper.asc.registry import Code
from turnkeeper.asc.status import Profile
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.service.cursors import bad_cursor, read_number, write_number
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.whole import whole
from turnkeeper.store import journal
from turnkeeper.store.parts import Attributes

SHOWN_FROM: Mapping[str, Profile] = MappingProxyType(
    {
        "n": Profile.DEVELOPER,
        "at": Profile.DEVELOPER,
        "actor": Profile.DEVELOPER,
        "transition": Profile.DEVELOPER,
        "from": Profile.DEVELOPER,
        "to": Profile.DEVELOPER,
        "code": Profile.DEVELOPER,
        "turn": Profile.DEVELOPER,
        "attempt": Profile.DEVELOPER,
        "fence": Profile.DEVELOPER,
        "ranges": Profile.AUDIT,
        "refused": Profile.AUDIT,
        "review": Profile.AUDIT,
        "verdict": Profile.AUDIT,
        "child": Profile.AUDIT,
        "contents": Profile.AUDIT,
        "state": Profile.AUDIT,
        "write_revision": Profile.AUDIT,
        "previous": Profile.AUDIT,
    }
)
"""The first profile that is told what stands under a name; what is not named here is told to nobody (SEC-1)."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a journal, and where it goes on."""

    entries: tuple[Mapping[str, Any], ...]
    next: str
    more: bool


def page(
    runtime: Runtime, *, caller: str, task_id: str, develops: bool, after: str | None, limit: int
) -> Page:
    """Up to *limit* entries of the caller's own task after the place of the cursor *after*.

    `TaskNotFound` unless the caller *develops*: whoever may not read a journal finds none.
    """
    reached = read_number(after) if after is not None else 0
    if not develops:
        raise TaskNotFound
    task = whole(runtime, caller=caller, task_id=task_id)
    if reached > task.log_number:
        raise bad_cursor("after")
    found = journal.entries(runtime.table, task.id, first=reached + 1, last=task.log_number, limit=limit)
    told = tuple(shown(entry, Profile.DEVELOPER) for entry in islice(found, limit))
    reached += len(told)
    return Page(told, write_number(reached), more=reached < task.log_number)


def shown(entry: Attributes, profile: Profile) -> dict[str, Any]:
    """What *profile* is told of *entry*: each name that it may know, null where there is nothing under it."""
    told = {name: entry.get(name) for name, least in SHOWN_FROM.items() if least <= profile}
    return {**told, "name": Code(entry["code"]).name}
