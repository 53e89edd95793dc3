"""The terminal, which does what this command says, and nothing that stood in what somebody else wrote.

A text of an agent's, of a host's or of another person's may hold what moves a cursor, names a window or fills a
clipboard. It is shown without; only lines and tabs are left of it.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_DONE = dict.fromkeys({*range(0x20), 0x7F, *range(0x80, 0xA0)} - {ord("\n"), ord("\t")})
_LATE = re.compile("[\x7f-\x9f]")
"""What JSON lets stand, and a terminal does."""


class Terminal(Console):
    """Prints texts, and no control characters of theirs."""

    def __init__(self, **told: Any) -> None:
        super().__init__(**{"highlight": False, "soft_wrap": True, **told})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of *renderable*; those that rich itself controls the terminal with stay."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(segment.text.translate(_DONE), segment.style)


def in_a_line(value: object) -> str:
    """*value* as a line of JSON that a terminal only shows."""
    return _LATE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(value, ensure_ascii=False))
