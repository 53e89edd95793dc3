"""Files by reference: where to send one, what a message pins of those it names, and where to get one (CP-4, CP-5).

No file's content passes through here. What a message names is looked for when it is taken, and not before; from then on
the reference means the version that lay there, and is the only way to read it.
"""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from turnkeeper.domain import uris
from turnkeeper.domain.content import LARGEST_INPUT, LARGEST_MADE, kept
from turnkeeper.domain.errors import (
    InvalidInput,
    Place,
    StoreIsBusy,
    TaskIsTerminal,
    TaskNotFound,
)
from turnkeeper.domain.files import MOST_FILES, Steps, in_message, named
from turnkeeper.domain.messages import Input, Output, Pin
from turnkeeper.domain.places import path
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.uris import FileRefused, FileUri, Root
from turnkeeper.guards import rules as guards
from turnkeeper.guards.rules import Rules
from turnkeeper.mounts import Mounts, Version, key_of
from turnkeeper.service import rules
from turnkeeper.service.change import Decide
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import files
from turnkeeper.store.keys import claim

FOLDER_BYTES = 16
"""Random ones, so that no upload lands where another did and nobody guesses where one will."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file that *caller* wants to send; *body* is what makes the same *key* another request."""

    caller: str
    name: str
    kind: str
    size: int
    body: str
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Signed:
    """A file, and the URL by which whoever has it may send or get that one, until it *expires_at*."""

    file: Pin | FileUri
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    """What must be sent along."""
    expires_at: datetime


def upload(runtime: Runtime, task: Task, asked: Upload) -> Signed:
    """Where to send a file of *task*'s, once; *task* is as it is now, and whoever asks may have it.

    Raises `TaskIsTerminal`, and `InvalidInput` for a name that is none, a file that is too large or an agent without
    the root. A *key* that came before gives the same place in it.
    """
    if task.is_terminal:
        raise TaskIsTerminal(str(task.terminal_reason))
    mounts = _mounts(runtime)
    wrong = []
    if asked.size > mounts.largest:
        wrong.append(Place("sizeBytes", f"must be at most {mounts.largest}, the bytes of the largest file"))
    try:
        named(asked.name, within="any")
        uris.parse(f"{Root.TASK.value}://any", _ruled(runtime, task).mount)
    except FileRefused as refused:
        wrong.append(Place("name", refused.problem))
    if wrong:
        raise InvalidInput(wrong)
    uri = named(asked.name, within=_folder(runtime, task, asked))
    key = key_of(task, uri)
    url, headers = mounts.upload_url(key, name=asked.name, kind=asked.kind, size=asked.size)
    return Signed(file=uri, url=url, headers=headers, expires_at=runtime.clock() + mounts.lasts)


def download(runtime: Runtime, task: Task, *, file: str, at: str | None) -> Signed:
    """Where to get what *file* names in an entry of *task*: in the one of the instant *at*, or in the last that does.

    Raises `TaskNotFound` for whatever is no reference of this task.
    """
    try:
        uri = uris.parse(file, frozenset(Root))
    except FileRefused as refused:
        raise TaskNotFound from refused
    pin = files.reference(runtime.table, task.id, str(uri), at=at)
    if pin is None:
        raise TaskNotFound
    mounts = _mounts(runtime)
    url = mounts.download_url(key_of(task, uri), version=pin.version, name=uri.path.rpartition("/")[2])
    return Signed(file=pin, url=url, expires_at=runtime.clock() + mounts.lasts)


def pinning(runtime: Runtime, decide: Decide) -> Decide:
    """*decide*, and what its input or output names is pinned; looked for only where the change is allowed."""

    def decide_and_pin(current: Task, now: datetime) -> Change:
        return pinned(runtime, decide(current, now))

    return decide_and_pin


def pinned(runtime: Runtime, change: Change, *, at: Steps = ()) -> Change:
    """*change* with what its input or output names pinned, and the sizes filled in.

    Raises `InvalidInput` with every place, below *at*, that names no file that the task may name and that is there.
    """
    said = change.input or change.entry
    content = said.content if isinstance(said, Input | Output) else change.held_output
    # What was held was looked for when it was.
    if content is None or change.files or not _may_name(content):
        return change
    sent = json.loads(content)
    names = [*in_message(sent)]
    is_input = isinstance(said, Input)
    if not names and not (is_input and sent.keys() - {"message"}):
        return change
    ruled = _ruled(runtime, change.after)
    if is_input:
        names = [*ruled.files(sent)]
    found = _found(runtime, change.after, names, roots=ruled.mount, at=at)
    most = LARGEST_INPUT if is_input else LARGEST_MADE
    content = kept({**sent, "message": _sized(sent["message"], found, at=at)}, most=most)
    pins = tuple(
        Pin(uri=file, version=version.id, size=version.size, kind=version.kind)
        for file, version in found.items()
    )
    if isinstance(said, Input):
        return replace(change, input=replace(said, content=content), files=pins)
    if isinstance(said, Output):
        return replace(change, entry=replace(said, content=content), files=pins)
    # It waits for a review, and is looked for now all the same: what is approved is what was there.
    return replace(change, held_output=content, files=pins)


def _may_name(content: str) -> bool:
    """Whether it is worth while to read *content*: few messages have files."""
    return '"file":' in content or "://" in content


def _found(
    runtime: Runtime, task: Task, names: Iterable[tuple[Steps, str]], *, roots: frozenset[Root], at: Steps
) -> dict[str, Version]:
    """Every file of *names* as it is now, each looked for once."""
    mounts, wrong, found = _mounts(runtime), [], {}
    asked: dict[str, Version | None] = {}
    for steps, file in names:
        place = path((*at, *steps))
        try:
            uri = uris.parse(file, roots)
        except FileRefused as refused:
            wrong.append(Place(place, refused.problem))
            continue
        if file not in asked:
            if len(asked) == MOST_FILES:
                wrong.append(Place(place, f"is one more than the {MOST_FILES} files that a message may name"))
                break
            asked[file] = mounts.look(key_of(task, uri))
        if version := asked[file]:
            found[file] = version
        else:
            wrong.append(Place(place, "names no file that is there; upload it first"))
    if wrong:
        raise InvalidInput(wrong)
    return found


def _sized(
    parts: Iterable[Mapping[str, Any]], found: Mapping[str, Version], *, at: Steps
) -> list[Mapping[str, Any]]:
    """*parts* with the sizes of their files; InvalidInput where one was sent and is another."""
    sized, wrong = [], []
    for number, part in enumerate(parts):
        if "file" not in part:
            sized.append(part)
            continue
        size = found[part["file"]].size
        if part.get("sizeBytes", size) != size:
            problem = f"must be the size of the file, which is {size} bytes"
            wrong.append(Place(path((*at, "message", number, "sizeBytes")), problem))
        sized.append({**part, "sizeBytes": size})
    if wrong:
        raise InvalidInput(wrong)
    return sized


def _folder(runtime: Runtime, task: Task, asked: Upload) -> str:
    """Where nothing lies yet, or the place that the same key was given before."""
    fresh = secrets.token_urlsafe(FOLDER_BYTES)
    if asked.key is None:
        return fresh
    for _ in range(2):
        claimed = claim(
            asked.key,
            caller=asked.caller,
            route="files",
            task_id=task.id,
            body=asked.body,
            now=runtime.clock(),
            lasts=runtime.idempotency,
        )
        stored = runtime.table.get(claimed.key)
        if claimed.repeats(stored):
            folder: str = (stored or {})["folder"]
            return folder
        if files.keep_folder(runtime.table, claimed, fresh):
            return fresh
    raise StoreIsBusy


def _ruled(runtime: Runtime, task: Task) -> Rules:
    """What the manifest rules that *task* began with; one that rules nothing has a root all the same."""
    return guards.of(rules.document(runtime, task))


def _mounts(runtime: Runtime) -> Mounts:
    if runtime.mounts is None:
        raise LookupError("this function was given no bucket")
    return runtime.mounts
