"""How a place in what was sent is written: `message[0].text`."""

import json
import re
from collections.abc import Iterable

_SHOWN = 40
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")


def path(steps: Iterable[int | str], whole: str = "body") -> str:
    """*steps* as people write them, and *whole* for none.

    A stranger's name is quoted, and never at length.
    """
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(shortened(step))}]"
    return path or whole


def shortened(text: str) -> str:
    """*text* as an answer may quote it: what a stranger sent never comes back at length."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
