"""What goes back to the gateway, in the shape it takes (payload 2.0); no shared cache may keep any of it."""

import base64
import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.primary import lifecycle_phase, public_code
from turnkeeper.domain.standing import Standing
from turnkeeper.domain.status import status_object
from turnkeeper.edge import etags

NOT_STORED = "private, no-store"
REVALIDATED = "private, no-cache"

_encode = json.JSONEncoder(separators=(",", ":")).encode

type Answer = dict[str, Any]
"""`statusCode`, `headers`, `body` and, where the body is packed, `isBase64Encoded`."""

type Headers = Mapping[str, str | None]
"""Header values by name; None leaves the header out."""


def answer(status: int, body: str, headers: Headers) -> Answer:
    """An answer with *body*, which is JSON unless *headers* say what else it is."""
    kind = {"Content-Type": "application/json"} if body else {}
    given = {name: value for name, value in headers.items() if value is not None}
    return {"statusCode": status, "headers": {"Cache-Control": NOT_STORED, **kind, **given}, "body": body}


def agent_status(task: Standing) -> Headers:
    """*task*'s primary status as anybody may see it, in a structured field (RFC 9651): an integer with parameters.

    A parameter that is true stands without a value, as that format has it.
    """
    code = public_code(task)
    terminal = "terminal" if task.is_terminal else "terminal=?0"
    said = f"{code.value};name={code.name};phase={lifecycle_phase(task, code)};{terminal}"
    return {"Agent-Status": said}


def polled(task: Standing, *, look_after: int | None, is_known: bool) -> Answer:
    """*task*'s status object, or 304 when the caller has it already; both say when to look again."""
    status = HTTPStatus.NOT_MODIFIED if is_known else HTTPStatus.OK
    return _shown(status, task, look_after, {"Cache-Control": REVALIDATED})


def accepted(
    status: int,
    task: Standing,
    *,
    look_after: int | None,
    received_at: datetime | None,
    location: str | None = None,
) -> Answer:
    """*task*'s status object after something was sent; Received-At is how an input is recognised."""
    received = to_text(received_at) if received_at else None
    return _shown(status, task, look_after, {"Location": location, "Received-At": received})


def listed(tasks: Iterable[Standing], following: str | None) -> Answer:
    """A page of tasks as status objects, and the cursor of the next page."""
    body = {"tasks": [status_object(task) for task in tasks], "next": following}
    return answer(HTTPStatus.OK, _to_json(body), {})


def conversed(task: Standing, entries: Iterable[str], *, following: str, more: bool) -> Answer:
    """A page of *task*'s conversation, each entry one JSON object as text, as of its revision.

    The body goes in base64, which the gateway unpacks: as text, each quote in it would double inside Lambda's
    own JSON, and no more than 6 MB leave a function.
    """
    rest = _to_json({"next": following, "more": more})
    body = f'{{"messages":[{",".join(entries)}],{rest[1:]}'
    plain = answer(HTTPStatus.OK, body, {**agent_status(task), "ETag": etags.tag(task.revision)})
    return {**plain, "body": base64.b64encode(body.encode()).decode(), "isBase64Encoded": True}


def journalled(entries: Iterable[Mapping[str, Any]], *, following: str, more: bool) -> Answer:
    """A page of a journal, and the cursor of what comes after it."""
    return answer(HTTPStatus.OK, _to_json({"entries": [*entries], "next": following, "more": more}), {})


def enveloped(
    task: Standing, tag: str, envelope: Mapping[str, Any] | None, *, media_type: str, look_after: int | None
) -> Answer:
    """*task*'s envelope, or 304 when there is none to send; *tag* is its entity tag."""
    headers = {
        "Cache-Control": REVALIDATED,
        "ETag": etags.tag(tag),
        "Poll-After": None if look_after is None else str(look_after),
        **agent_status(task),
    }
    if envelope is None:
        return answer(HTTPStatus.NOT_MODIFIED, "", headers)
    return answer(HTTPStatus.OK, _to_json(envelope), {**headers, "Content-Type": media_type})


def told(status: int, problem: Mapping[str, Any], *, media_type: str, retry_after_s: int | None) -> Answer:
    """*problem* as problem details (RFC 9457)."""
    retry_after = None if retry_after_s is None else str(retry_after_s)
    headers = {"Content-Type": media_type, "Retry-After": retry_after}
    return answer(status, _to_json(problem), headers)


def _shown(status: int, task: Standing, look_after: int | None, headers: Headers) -> Answer:
    poll_after = None if look_after is None else str(look_after)
    body = "" if status == HTTPStatus.NOT_MODIFIED else status_text(task)
    said = {"ETag": etags.tag(task.revision), "Poll-After": poll_after, **agent_status(task)}
    return answer(status, body, {**said, **headers})


def status_text(task: Standing) -> str:
    """*task*'s status object as text: what a poll answers, and an event tells."""
    return _to_json(status_object(task))


def _to_json(value: object) -> str:
    """*value* as compact JSON in ASCII, so that nothing on its way can misread it."""
    return _encode(value)
