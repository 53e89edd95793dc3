"""What goes back to who asks where a task stands: its envelope, revalidated like the poll."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from turnkeeper.asc.disclosure import MEDIA_TYPE
from turnkeeper.edge import etags
from turnkeeper.edge.answers import Answer, enveloped
from turnkeeper.service.agent_status import Seen
from turnkeeper.service.poll import poll_after


def known(event: Mapping[str, Any]) -> Callable[[str], bool]:
    """Whether the sender of *event* has what a tag names."""
    sent = (event.get("headers") or {}).get("if-none-match")
    return lambda tag: etags.matches(sent, tag)


def seen(seen: Seen, *, now: datetime) -> Answer:
    """The envelope, or 304; both say when to look again."""
    after = poll_after(seen.task, now)
    return enveloped(seen.task, seen.tag, seen.envelope, media_type=MEDIA_TYPE, look_after=after)
