"""An instant as it is sent: RFC 3339, its offset with it."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator

from turnkeeper.edge.bodies import refusal

_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _instant(sent: object) -> datetime:
    if isinstance(sent, str) and _INSTANT.fullmatch(sent):
        try:
            return datetime.fromisoformat(sent.upper()).astimezone(UTC)
        except (ValueError, OverflowError):
            pass
    raise refusal("must be an instant with its offset, such as 2026-11-30T12:00:00Z")


type Instant = Annotated[datetime, BeforeValidator(_instant)]
