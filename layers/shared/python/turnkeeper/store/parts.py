"""The parts of a task inside its item, as nested maps: its terms, its turn and what it holds.

They carry what a newer version put there (`unknown`), so a rolling deploy drops nothing.
"""

from datetime import timedelta
from typing import Any

from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.judging import Held, HeldOutput
from turnkeeper.domain.task import Runs, Terms, Turn, Usage
from turnkeeper.domain.waits import Verdict
from turnkeeper.store.standing import turn_shown
from turnkeeper.store.waits import (
    instant,
    present,
    resolution_to_map,
    text,
    unknown_in,
    wait_from_map,
    wait_to_map,
)

type Attributes = dict[str, Any]


_USED = ("prompt_tokens", "completion_tokens", "tool_calls")
_TERMS = frozenset(
    {"lifespan", "max_age", "turn_limit", "repeatable", "attempts", "backoff", "owner", "runs", "function"}
    | {"max_turns", "ruled", *(f"max_{name}" for name in _USED)}
)
_TURN = frozenset(
    {"state", "attempt", "started_at", "inputs", "committed_at", "judged", "lease_until", "retry_at"}
    | {"outputs", "kept", "memo_fence", "resolutions", "output", "early", "children", "changed_at"}
    | {"seen_at"}
)


def terms_to_map(terms: Terms) -> Attributes:
    """Durations in seconds."""
    known = {
        "lifespan": terms.lifespan.total_seconds(),
        "max_age": terms.max_age.total_seconds(),
        "turn_limit": terms.turn_limit.total_seconds(),
        "repeatable": terms.repeatable or None,
        "attempts": terms.attempts,
        "backoff": [pause.total_seconds() for pause in terms.backoff],
        "owner": terms.owner,
        "runs": terms.runs.value,
        "function": terms.function,
        "max_turns": terms.max_turns,
        **usage_to_attributes("max", terms.usage),
        "ruled": terms.ruled or None,
    }
    return present(known, terms.unknown)


def terms_from_map(stored: Attributes) -> Terms:
    """The terms that *stored* holds."""
    return Terms(
        lifespan=timedelta(seconds=stored["lifespan"]),
        max_age=timedelta(seconds=stored["max_age"]),
        turn_limit=timedelta(seconds=stored["turn_limit"]),
        repeatable=stored.get("repeatable", False),
        attempts=stored["attempts"],
        backoff=tuple(timedelta(seconds=pause) for pause in stored["backoff"]),
        owner=stored["owner"],
        runs=Runs(stored["runs"]),
        function=stored.get("function"),
        max_turns=stored.get("max_turns"),
        usage=usage_from_attributes("max", stored),
        ruled=stored.get("ruled", False),
        unknown=unknown_in(stored, _TERMS),
    )


def usage_to_attributes(prefix: str, usage: Usage) -> Attributes:
    """*usage*, each amount under its name with *prefix*."""
    return {f"{prefix}_{name}": getattr(usage, name) for name in _USED}


def usage_from_attributes(prefix: str, stored: Attributes) -> Usage:
    """The usage that lies under names with *prefix*."""
    return Usage(**{name: stored.get(f"{prefix}_{name}") for name in _USED})


def turn_to_map(turn: Turn) -> Attributes:
    """Its number and its fence are the task's last ones; what is as it is in a first attempt is left out."""
    known = {
        "state": turn.state.value,
        "attempt": turn.attempt if turn.attempt != 1 else None,
        "started_at": to_text(turn.started_at) if turn.started_at != turn.committed_at else None,
        "inputs": [list(numbers) for numbers in turn.inputs],
        "committed_at": to_text(turn.committed_at),
        "judged": turn.judged or None,
        "lease_until": text(turn.lease_until),
        "retry_at": text(turn.retry_at),
        "changed_at": text(turn.changed_at),
        "seen_at": text(turn.seen_at),
        "outputs": turn.outputs or None,
        "kept": turn.kept or None,
        "memo_fence": turn.memo_fence,
        "resolutions": [resolution_to_map(one) for one in turn.resolutions] or None,
        "output": held_output_to_map(turn.output) if turn.output else None,
        "early": {wait_id: verdict.value for wait_id, verdict in turn.early} or None,
        "children": turn.children or None,
    }
    return present(known, turn.unknown)


def turn_from_map(stored: Attributes, *, number: int, fence: int) -> Turn:
    """The turn that *stored* holds; its number and its fence are the task's last ones."""
    return Turn(
        **turn_shown(stored),
        number=number,
        fence=fence,
        attempt=stored.get("attempt", 1),
        inputs=tuple((first, last) for first, last in stored["inputs"]),
        committed_at=from_text(stored["committed_at"]),
        judged=stored.get("judged", False),
        lease_until=instant(stored.get("lease_until")),
        retry_at=instant(stored.get("retry_at")),
        seen_at=instant(stored.get("seen_at")),
        outputs=stored.get("outputs", 0),
        kept=stored.get("kept", 0),
        memo_fence=stored.get("memo_fence"),
        output=held_output_from_map(stored["output"]) if "output" in stored else None,
        early=tuple((wait_id, Verdict(verdict)) for wait_id, verdict in stored.get("early", {}).items()),
        children=stored.get("children", 0),
        unknown=unknown_in(stored, _TURN),
    )


def held_to_map(held: Held) -> Attributes:
    """A held input as it is stored."""
    known = {
        "number": held.number,
        "began": to_text(held.began),
        "turn": held.turn,
        "inputs": held.inputs,
        "outputs": held.outputs,
        "is_refused": held.is_refused or None,
        "step": held.step,
        "wait": wait_to_map(held.wait) if held.wait else None,
        "decided": [list(one) for one in held.decided] or None,
    }
    return present(known, {})


def held_output_to_map(held: HeldOutput) -> Attributes:
    """A held output as it is stored."""
    return {
        "ordinal": held.ordinal,
        "is_last": held.is_last,
        "fence": held.fence,
        "began": to_text(held.began),
        "step": held.step,
        "reviewer": held.reviewer,
        "decided": [list(one) for one in held.decided],
    }


def held_output_from_map(stored: Attributes) -> HeldOutput:
    """The held output that *stored* holds."""
    return HeldOutput(
        ordinal=stored["ordinal"],
        is_last=stored["is_last"],
        fence=stored["fence"],
        began=from_text(stored["began"]),
        step=stored["step"],
        reviewer=stored["reviewer"],
        decided=tuple((step, reviewer, approved) for step, reviewer, approved in stored["decided"]),
    )


def held_from_map(stored: Attributes) -> Held:
    """The held input that *stored* holds."""
    wait = stored.get("wait")
    return Held(
        number=stored["number"],
        began=from_text(stored["began"]),
        turn=stored["turn"],
        inputs=stored["inputs"],
        outputs=stored["outputs"],
        is_refused=stored.get("is_refused", False),
        step=stored["step"],
        wait=wait_from_map(wait) if wait else None,
        decided=tuple((step, reviewer, approved) for step, reviewer, approved in stored.get("decided", ())),
    )
