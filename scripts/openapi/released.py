"""The document of the version that was released last, without its words: what a change is compared with."""

import json
from pathlib import Path
from typing import Any

KEPT = Path(__file__).with_name("released.json")
WORDS = frozenset({"description", "summary", "example", "examples", "title", "tags"})
"""What promises nothing."""
NAMED = frozenset({"properties", "schemas", "headers", "responses", "paths", "content"})
"""Where the keys are names of something, and no words of the format."""


def read() -> Any:
    """The document that was released last."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


def keep(document: Any) -> None:
    """Have *document* be the one that later versions are compared with."""
    KEPT.write_text(json.dumps(promised(document), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def promised(found: Any, *, named: bool = False) -> Any:
    """*found* without what only tells."""
    if isinstance(found, list):
        return [promised(one) for one in found]
    if isinstance(found, dict):
        kept = {name: one for name, one in found.items() if named or name not in WORDS}
        return {name: promised(one, named=not named and name in NAMED) for name, one in kept.items()}
    return found
