"""Files, to the store and from it: the API says where, and the store gets the bytes and no token."""

from pathlib import Path
from typing import Any

from turnkeeper_client.errors import NotUnderstood, Refused
from turnkeeper_client.people import new_key
from turnkeeper_client.plans import Answer, Plan, Request, ask, get, send
from turnkeeper_client.results import Download, File

ALREADY_THERE = 412


def upload(
    task_id: str, content: bytes | Path, *, name: str | None = None, mime_type: str, key: str | None = None
) -> Plan[File]:
    """The file that an input may name, with *content*, which is read into memory; a path has its own name.

    Raises `Invalid` for a name or a size that is not taken, `WrongState` when the task has ended.
    """
    called = name or (content.name if isinstance(content, Path) else "file")
    held = content.read_bytes() if isinstance(content, Path) else content
    return (yield from put_at(("tasks", task_id), held, name=called, mime_type=mime_type, key=key))


def download(task_id: str, file: str | File, *, at: str | None = None) -> Plan[Download]:
    """The *file* (or its URI) that an entry of the conversation names; *at*, if several do, says which entry.

    Raises `NotFound` for any other file.
    """
    return (yield from get_from(("tasks", task_id), file, at=at))


def put_at(
    where: tuple[str, ...], content: bytes, *, name: str, mime_type: str, key: str | None
) -> Plan[File]:
    """*content* in the file store of the task that *where* names."""
    asked = {"name": name, "mimeType": mime_type, "sizeBytes": len(content)}
    answer = yield from ask(send("POST", *where, "files", body=asked, key=key or new_key()))
    place, upload_to = _place(answer, "upload")
    put = Request(
        method=str(upload_to["method"]),
        path=str(upload_to["url"]),
        headers=dict(upload_to["headers"]),
        content=content,
        is_repeatable=True,
        is_signed=False,
    )
    try:
        yield from ask(put)
    except Refused as refused:
        # The place is for this file alone and takes it once: an earlier try came through.
        if refused.status != ALREADY_THERE:
            raise
    return File.of(place, mime_type=mime_type)


def get_from(where: tuple[str, ...], file: str | File, *, at: str | None) -> Plan[Download]:
    """The *file* that the conversation of the task that *where* names has."""
    uri = file.file if isinstance(file, File) else file
    answer = yield from ask(get(*where, "files", query={"ref": uri, "at": at}))
    place, url = _place(answer, "url")
    fetched = yield from ask(Request(method="GET", path=str(url), is_repeatable=True, is_signed=False))
    return Download.of(place, content=fetched.content)


def _place(answer: Answer, name: str) -> tuple[dict[str, Any], Any]:
    try:
        said = answer.json()
        return said, said[name]
    except (ValueError, TypeError, KeyError):
        raise NotUnderstood(f"the answer's {name}", "is missing") from None
