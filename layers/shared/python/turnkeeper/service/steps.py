"""What an agent yields, held to what may be written: nothing of a step that is refused here was stored.

An agent is somebody else's code. Whatever it gives is its failure when it is wrong, and never ours.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from turnkeeper.agents.protocol import Delegate, Pause, Say, Step
from turnkeeper.domain.content import LARGEST_INPUT, LARGEST_TEXT
from turnkeeper.domain.errors import InvalidInput
from turnkeeper.domain.manifest import NAME
from turnkeeper.domain.needs import Need, check
from turnkeeper.domain.transitions import CALL_BYTES
from turnkeeper.domain.waits import MEMO_BYTES, WaitKind

_TYPES: Mapping[str, Any] = {
    "id": str,
    "kind": WaitKind,
    "provider": str | None,
    "needed_at": datetime | None,
    "reviewer": str | None,
    "subject": str | None,
    "child": str | None,
    "within": timedelta,
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
    elif isinstance(step, Delegate):
        _check_delegate(step)
    else:
        raise AgentMisbehaved("an agent yields Say, Pause or Delegate")
    return step


def content(text: str) -> str:
    """Return the message that *text* is, as it is stored."""
    part = {"mimeType": "text/plain", "text": text}
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
    if not isinstance(text, str) or _size(text) > LARGEST_TEXT:
        raise AgentMisbehaved(f"an output is a text of at most {LARGEST_TEXT} bytes")
    if len(content(text).encode()) > LARGEST_INPUT:
        raise AgentMisbehaved(f"an output is at most {LARGEST_INPUT} bytes of JSON")


def _check_needs(needs: Sequence[object]) -> None:
    asked = [_check_need(need) for need in needs]
    try:
        check(asked)
    except InvalidInput as error:
        raise AgentMisbehaved(str(error)) from error


def _check_need(need: object) -> Need:
    if not isinstance(need, Need):
        raise AgentMisbehaved("a pause has needs")
    for name, kind in _TYPES.items():
        if not isinstance(getattr(need, name), kind):
            raise AgentMisbehaved(f"the {name} of a need is of another type")
    if need.needed_at is not None and need.needed_at.tzinfo is None:
        raise AgentMisbehaved("the needed_at of a need has an offset")
    for text in filter(None, (need.id, need.provider, need.reviewer, need.subject, need.child)):
        _size(text)
    return need


def _check_delegate(step: Delegate) -> None:
    call: object = step.call
    if not isinstance(call, str) or not 0 < _size(call) <= CALL_BYTES:
        raise AgentMisbehaved(f"a delegation names its call in 1 to {CALL_BYTES} bytes")
    agent: object = step.agent
    if not isinstance(agent, str) or not NAME.fullmatch(agent):
        raise AgentMisbehaved("a delegation names an agent")
    _check_text(step.text)


def _size(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise AgentMisbehaved("a text has no lone surrogates") from error
