"""The trace that a request belongs to, in X-Ray's header: it goes with a wake-up, and its id stands in the envelope."""

import re

_ROOT = re.compile(r"(?:^|;)\s*Root=1-([0-9a-f]{8})-([0-9a-f]{24})(?:;|$)", re.ASCII)
_NONE = "0" * 32


def trace_id(header: str | None) -> str | None:
    """The id of the trace that *header* names, as W3C writes it: 32 hexadecimal digits; None where it names none."""
    found = _ROOT.search(header or "")
    named = found[1] + found[2] if found else _NONE
    return None if named == _NONE else named
