"""What an agent yields, held to what may be written: nothing of a step that is refused here was stored.

An agent is somebody else's code. Whatever it gives is its failure when it is wrong, and never ours.
"""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from turnkeeper.agents.protocol import Need, Pause, Say, Step
from turnkeeper.domain.waits import WaitKind

TEXT_BYTES = 100_000
MEMO_BYTES = 32_768
WAITS = 16
NAMES_BYTES = 1_024
"""All ids, providers and reviewers of a pause: they lie in the task's item, which a poll reads."""
LONGEST_WAIT = timedelta(days=3_650)

# What a wait of each kind must name; nobody can wait for a reconcile but the one whose turn was lost.
_NAMES = {
    WaitKind.AUTHORISATION: "provider",
    WaitKind.REVIEW: "reviewer",
    WaitKind.CHILD: None,
    WaitKind.HOST: None,
}


class AgentMisbehaved(Exception):
    """What the agent yielded is not acceptable; the message says why."""


def checked(step: object) -> Step:
    """Return *step* if it may be written."""
    if isinstance(step, Say):
        _check_text(step.text)
    elif isinstance(step, Pause):
        _check_needs(step.needs)
        memo_text(step.memo)
    else:
        raise AgentMisbehaved("an agent yields Say or Pause")
    return step


def content(step: Say) -> str:
    """Return the output that *step* is, as it is stored."""
    part = {"mimeType": "text/plain", "text": step.text}
    return json.dumps({"message": [part]}, ensure_ascii=False, separators=(",", ":"))


def memo_text(memo: Any) -> str | None:
    """Return *memo* as it is stored; none where there is none."""
    if memo is None:
        return None
    try:
        text = json.dumps(memo, ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentMisbehaved("a memo is JSON") from error
    if size > MEMO_BYTES:
        raise AgentMisbehaved(f"a memo is at most {MEMO_BYTES} bytes of JSON")
    return text


def _check_text(text: object) -> None:
    if not isinstance(text, str) or _size(text) > TEXT_BYTES:
        raise AgentMisbehaved(f"an output is a text of at most {TEXT_BYTES} bytes")


def _check_needs(needs: Sequence[object]) -> None:
    named = [_check_need(need) for need in needs]
    if not 0 < len(named) <= WAITS:
        raise AgentMisbehaved(f"a pause names 1 to {WAITS} needs")
    if len({need.id for need in named}) < len(named):
        raise AgentMisbehaved("the ids of a pause's needs differ")
    if sum(map(_names_size, named)) > NAMES_BYTES:
        raise AgentMisbehaved(f"a pause names things in at most {NAMES_BYTES} bytes in all")


def _check_need(need: object) -> Need:
    if not isinstance(need, Need) or need.kind not in _NAMES:
        raise AgentMisbehaved("a need is for an authorisation, a review, a child or the host")
    if not need.id or not all(isinstance(name, str | None) for name in _names(need)):
        raise AgentMisbehaved("a need has an id, and its names are texts")
    wanted = _NAMES[need.kind]
    if wanted and not getattr(need, wanted):
        raise AgentMisbehaved(f"a need of kind {need.kind} names its {wanted}")
    _check_within(need.within)
    return need


def _check_within(within: object) -> None:
    if not isinstance(within, timedelta) or not timedelta(0) < within <= LONGEST_WAIT:
        raise AgentMisbehaved(f"a need is waited for at most {LONGEST_WAIT.days} days")


def _names(need: Need) -> tuple[str | None, ...]:
    return need.id, need.provider, need.reviewer


def _names_size(need: Need) -> int:
    return sum(_size(name) for name in _names(need) if name)


def _size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise AgentMisbehaved("a text has no lone surrogates") from error
