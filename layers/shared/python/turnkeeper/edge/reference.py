"""The API's own description, which lies beside this file: made from the code (`make openapi`), served to anybody."""

import hashlib
from collections.abc import Mapping
from functools import cache
from http import HTTPStatus
from pathlib import Path
from typing import Any

from turnkeeper.edge import etags
from turnkeeper.edge.answers import Answer, answer

DOCUMENT = Path(__file__).with_name("openapi.json")


def described(event: Mapping[str, Any]) -> Answer:
    """The document, or 304 when the sender of *event* has it already; it says nothing of anybody."""
    text, tag = _document()
    headers = {"ETag": etags.tag(tag), "Cache-Control": "public, no-cache"}
    if etags.matches((event.get("headers") or {}).get("if-none-match"), tag):
        return answer(HTTPStatus.NOT_MODIFIED, "", headers)
    return answer(HTTPStatus.OK, text, headers)


@cache
def _document() -> tuple[str, str]:
    """Read once in the life of a process, and only where somebody asks."""
    text = DOCUMENT.read_text(encoding="utf-8")
    return text, hashlib.sha256(text.encode()).hexdigest()[:24]
