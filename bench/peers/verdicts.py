"""What became of an input that was accepted, judged by what the conversation says afterwards, and by nothing else."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bench.peers.conversation import Line, Role


class Fate(StrEnum):
    """What an accepted input came to; only the first is what was promised."""

    ANSWERED = "answered once"
    TWICE = "answered more than once"
    FORGOTTEN = "there, at rest, no answer"
    STUCK = "there, busy, no answer"
    GONE = "gone"


@dataclass(frozen=True, slots=True)
class Seen:
    """What a conversation showed at last; *lines* is None where the peer did not know it any more."""

    lines: Sequence[Line] | None
    busy: bool


def judge(text: str, seen: Seen) -> Fate:
    """The fate of the input *text*, which is like no other of its conversation."""
    if seen.lines is None:
        return Fate.GONE
    answers = sum(line.role is Role.AGENT and text in line.text for line in seen.lines)
    if answers > 1:
        return Fate.TWICE
    if answers == 1:
        return Fate.ANSWERED
    if not any(line.role is Role.PERSON and line.text == text for line in seen.lines):
        return Fate.STUCK if seen.busy else Fate.GONE
    return Fate.STUCK if seen.busy else Fate.FORGOTTEN


def is_settled(fate: Fate, *, busy: bool) -> bool:
    """Whether nothing more needs to be waited for: it is answered, and the conversation is at rest."""
    return fate in {Fate.ANSWERED, Fate.TWICE} and not busy


def counted(fates: Iterable[Fate]) -> dict[str, int]:
    """How often each fate was met, those that were not, too."""
    found = Counter(fates)
    return {fate.value: found[fate] for fate in Fate}
