"""Entity tags: a revision in quotes, and whether an If-None-Match names it (RFC 9110, 8.8.3 and 13.1.2)."""

import re

# One element of the list, which may be empty; the comparison is weak, so a W/ makes no difference.
_ELEMENT = re.compile(r'[ \t]*+(?:(?:W/)?"(?P<tag>[\x21\x23-\x7e\x80-\xff]*+)")?+[ \t]*+(?:,|\Z)')


def tag(revision: str) -> str:
    """*revision* as an entity tag."""
    return f'"{revision}"'


def matches(if_none_match: str | None, revision: str) -> bool:
    """The header names *revision*, or anything at all (`*`); a malformed header names nothing."""
    if if_none_match is None:
        return False
    if if_none_match.strip(" \t") == "*":
        return True
    named, position = False, 0
    while position < len(if_none_match):
        element = _ELEMENT.match(if_none_match, position)
        if element is None:
            return False
        named = named or element["tag"] == revision
        position = element.end()
    return named
