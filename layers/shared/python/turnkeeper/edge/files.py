"""Files, as people and hosts ask for them: one to send, and one that stands in a conversation to get."""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.messages import Pin
from turnkeeper.edge import strict_json
from turnkeeper.edge.answers import Answer, answer
from turnkeeper.edge.bodies import Query, Sent, body, checked, idempotency_key, query, refusal
from turnkeeper.edge.content import Kind
from turnkeeper.service.files import Signed, Upload

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)


class NewFile(Sent):
    """A file to send."""

    name: Annotated[str, Field(min_length=1)]
    mime_type: Kind = Field(alias="mimeType")
    size_bytes: Annotated[int, Field(ge=0)] = Field(alias="sizeBytes")


def _instant(sent: str) -> str:
    if not _INSTANT.fullmatch(sent):
        raise refusal("must be the received_at or the committed_at of an entry, as the list shows it")
    return sent


class Wanted(Query):
    """A file to get, by the name that an entry of the conversation has for it."""

    may_hold_commas: ClassVar[frozenset[str]] = frozenset({"ref"})

    ref: Annotated[str, Field(min_length=1)]
    at: Annotated[str, AfterValidator(_instant)] | None = None


def upload(event: Mapping[str, Any], *, caller: str) -> Upload:
    """The body of *event* as a file that *caller* wants to send."""
    sent = body(event)
    new = checked(NewFile, sent)
    return Upload(
        caller=caller,
        name=new.name,
        kind=new.mime_type,
        size=new.size_bytes,
        body=strict_json.written(sent),
        key=idempotency_key(event),
    )


def wanted(event: Mapping[str, Any]) -> Wanted:
    """The query of *event* as a file to get."""
    return query(Wanted, event)


def awaited(signed: Signed) -> Answer:
    """Where to send the file, and with which headers."""
    sent_by = {"method": "PUT", "url": signed.url, "headers": signed.headers}
    return _answer(HTTPStatus.CREATED, signed, {"upload": sent_by})


def found(signed: Signed) -> Answer:
    """Where to get the file. Not a redirect: a client that follows one may take its token along."""
    pin = signed.file
    facts = {"mimeType": pin.kind, "sizeBytes": pin.size} if isinstance(pin, Pin) else {}
    return _answer(HTTPStatus.OK, signed, {**facts, "url": signed.url})


def _answer(status: int, signed: Signed, more: Mapping[str, Any]) -> Answer:
    file = signed.file.uri if isinstance(signed.file, Pin) else str(signed.file)
    shown = {"file": file, **more, "expires_at": to_text(signed.expires_at)}
    return answer(status, json.dumps(shown, separators=(",", ":")), {})
