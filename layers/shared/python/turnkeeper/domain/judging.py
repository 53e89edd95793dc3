"""What guardrails made of what waits: some goes on, some is refused, some is held until somebody decides.

Which input is which is written in one entry with the turn's start. A held input keeps nothing of its run but when that
began and what was decided, so that it is judged again from the first step, as if it had just come (AG-3).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from turnkeeper.domain.waits import Wait

if TYPE_CHECKING:
    from turnkeeper.domain.messages import Range  # a poll has no messages

MOST_REFUSED = 64
"""In one turn: each refusal is a part of the one output that answers them."""


MOST_HELD = 8
HELD_BYTES = 2_000
"""What held inputs may take in the task's item, which a poll reads."""
_EACH = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An input that a guardrail step waits for a review of, or of which one was decided since."""

    number: int
    began: datetime
    """When it was first judged: what its expressions know as `now`."""
    turn: int = 0
    inputs: int = 0
    outputs: int = 0
    """The turn that was about to begin then, and how many committed inputs and outputs its expressions saw."""
    is_refused: bool = False
    """Its turn was interrupted: whatever its expressions say, it is not let through."""
    wait: Wait | None = None
    """The review that is outstanding; None once it is decided, or once its task has ended."""
    step: int = 0
    """The step that asked for it."""
    decided: tuple[tuple[int, str, bool], ...] = ()
    """The reviews that were decided: step, reviewer, and whether they approved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOutput:
    """An output of a turn that is suspended until a review of it is decided; its content lies beside the task."""

    ordinal: int
    is_last: bool
    """The turn ends with it."""
    fence: int
    """Under which its content was put down."""
    began: datetime
    step: int
    reviewer: str
    decided: tuple[tuple[int, str, bool], ...] = ()

    @property
    def wait_id(self) -> str:
        """The id of the review that it waits for."""
        return f"output-{self.ordinal}-{self.step}-{len(self.decided)}"

    def after(self, *, approved: bool) -> "HeldOutput":
        """The same, with that review decided."""
        return replace(self, decided=(*self.decided, (self.step, self.reviewer, approved)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was made of the held inputs that were decided, and of the pending ones up to *through*, in their order."""

    through: int
    taken: tuple[int, ...]
    """The numbers that enter the conversation or are refused."""
    refused: frozenset[int] = frozenset()
    held: tuple[Held, ...] = ()
    """All that are held from now on."""
    token: str | None = None
    """Under which what a guardrail made of inputs lies; None where it changed none."""
    seals: Mapping[str, str] = field(default_factory=dict)
    """What the journal says of that, by where it lies."""
    reply: str | None = None
    """The output that answers the refused ones, as JSON text."""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """What the reviewers of newly held inputs are shown, by their waits' ids."""

    @property
    def has_passed(self) -> bool:
        """Something is left for the agent."""
        return len(self.refused) < len(self.taken)

    @property
    def ranges(self) -> "tuple[Range, ...]":
        """What is taken, as ranges."""
        return ranges(self.taken)


def ranges(numbers: Sequence[int]) -> "tuple[Range, ...]":
    """Rising *numbers* as the fewest ranges."""
    made: list[Range] = []
    for number in numbers:
        if made and made[-1][1] == number - 1:
            made[-1] = (made[-1][0], number)
        else:
            made.append((number, number))
    return tuple(made)


def size(held: Sequence[Held]) -> int:
    """About how many bytes *held* takes in the task's item."""
    names = [one.wait.reviewer or "" for one in held if one.wait]
    names += [reviewer for one in held for _, reviewer, _ in one.decided]
    return _EACH * len(held) + sum(len(name.encode()) + 16 for name in names)


def has_room(held: Sequence[Held]) -> bool:
    """One more input may be held."""
    return len(held) < MOST_HELD and size(held) + _EACH <= HELD_BYTES


def has_ready_input(received: int, committed: int, held: Sequence[Held]) -> bool:
    """Of inputs that came up to *received*, one waits for nothing but the next turn."""
    is_decided = any(one.wait is None for one in held)
    return is_decided or (received > committed and has_room(held))


def outstanding(held: Sequence[Held]) -> tuple[Wait, ...]:
    """The reviews that held inputs wait for."""
    return tuple(one.wait for one in held if one.wait is not None)
