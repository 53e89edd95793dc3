"""An agent's manifest: what it is called, and the terms on which its tasks live (AG-1).

Our own settings stand under the one key `turnkeeper`; the other names are the published form's.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from turnkeeper.domain.task import DEPLOYMENT, Runs, Terms, Usage

LIFESPAN = timedelta(days=7)
MAX_AGE = timedelta(days=90)
TURN_LIMIT = timedelta(hours=1)
ATTEMPTS = 3
LONGEST = timedelta(days=3_650)
BACKOFF = (timedelta(seconds=2), timedelta(seconds=8), timedelta(seconds=30))

RULES = ("parameters", "guardrails", "exposes")
"""The fields that say something about what comes to an agent and what leaves it."""

NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
"""How an agent may be called."""

_DIGITS = 9
DURATION = rf"^[0-9]{{1,{_DIGITS}}}(ms|s|m|h|d)$"
"""How long something lasts, as it is spelt."""

_DURATION = re.compile(r"(\d+)(ms|s|m|h|d)", re.ASCII)
_UNITS = {
    "ms": timedelta(milliseconds=1),
    "s": timedelta(seconds=1),
    "m": timedelta(minutes=1),
    "h": timedelta(hours=1),
    "d": timedelta(days=1),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One immutable version of an agent; *version* is the hash of its document."""

    name: str
    description: str
    version: str
    document: str
    owner: str
    terms: Terms
    delegates_from: frozenset[str] = frozenset()
    """The agents whose turns may give this one tasks."""

    @property
    def is_built_in(self) -> bool:
        """It comes with the deployment, and its turns run in the deployment's own function, as no host's do."""
        return self.owner == DEPLOYMENT and self.terms.runs is Runs.FUNCTION


def parse(text: str, *, owner: str) -> Manifest:
    """The manifest that *text* (JSON) is, as *owner*'s; its version does not depend on spacing or order."""
    fields: dict[str, Any] = json.loads(text)
    document = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return Manifest(
        name=fields["name"],
        description=fields["description"],
        version=hashlib.sha256(document.encode()).hexdigest(),
        document=document,
        owner=owner,
        terms=replace(
            _terms(_said(fields, "limits"), _said(fields, "turnkeeper"), owner),
            ruled=any(fields.get(field) for field in RULES),
        ),
        delegates_from=frozenset(_said(fields, "turnkeeper").get("delegates_from", ())),
    )


def duration(text: str) -> timedelta:
    """A duration such as `500ms`, `30s`, `2h` or `7d`."""
    if not (match := _DURATION.fullmatch(text)):
        raise ValueError(f"{text!r} is no duration; write a number and ms, s, m, h or d, such as 30m")
    if len(match[1]) > _DIGITS or (lasts := int(match[1]) * _UNITS[match[2]]) > LONGEST:
        raise ValueError(f"{text!r} is too long; at most {LONGEST.days}d")
    return lasts


def _said(fields: Mapping[str, Any], part: str) -> dict[str, Any]:
    """What *part* says; null says nothing."""
    return {name: value for name, value in (fields.get(part) or {}).items() if value is not None}


def _terms(limits: Mapping[str, Any], ours: Mapping[str, Any], owner: str) -> Terms:
    repeatable: bool = ours.get("repeatable", False)
    return Terms(
        lifespan=duration(ours["lifespan"]) if "lifespan" in ours else LIFESPAN,
        max_age=duration(limits["max_age"]) if "max_age" in limits else MAX_AGE,
        repeatable=repeatable,
        attempts=ours.get("attempts", ATTEMPTS if repeatable else 1),
        backoff=tuple(duration(pause) for pause in ours["backoff"]) if "backoff" in ours else BACKOFF,
        owner=owner,
        runs=Runs(ours.get("runs", Runs.EXTERNAL)),
        function=ours.get("function"),
        turn_limit=duration(ours["turn_limit"]) if "turn_limit" in ours else TURN_LIMIT,
        max_turns=limits.get("max_llm_turns", limits.get("max_turns")),
        usage=Usage(
            prompt_tokens=limits.get("max_prompt_tokens"),
            completion_tokens=limits.get("max_completion_tokens"),
            tool_calls=limits.get("max_capability_uses", limits.get("max_tool_calls")),
        ),
    )
