"""A history of one register, and whether it is linearizable: what each call read and wrote, and when it was under way.

The register is a task's `write_revision`. Each value is written once and each write names the one that it replaces, so
there is only one order in which the writes can have happened: the chain. A history is linearizable if and only if the
chain is whole, and nothing that had ended before another began stands behind it there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

BEGINNING = ""
"""What the register holds before anything is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A call that saw *value*, or that wrote it in place of *replaced*, between two instants."""

    who: str
    began: int
    ended: int | None
    """None when nobody knows: its answer was lost, and it may have been done at any time since, or never."""
    value: str
    replaced: str | None = None
    is_end: bool = False
    """The task has ended with *value*: nothing may replace it."""

    @property
    def is_write(self) -> bool:
        """It changed the register."""
        return self.replaced is not None


def wrong(history: Iterable[Seen], *, latest: str) -> Iterator[str]:
    """What no order of the calls explains, if the register holds *latest* after them all; nothing if one does."""
    calls = list(history)
    chain, problems = _chain(calls, latest)
    yield from problems
    if problems:
        return
    place = {value: position for position, value in enumerate(chain)}
    known = [call for call in calls if call.value in place]
    for call in calls:
        if call.value not in place and call.ended is not None:
            what = "wrote" if call.is_write else "saw"
            yield f"{call.who} {what} {call.value}, which is no value of the register's chain"
    yield from _out_of_order(known, place)


def _chain(calls: Sequence[Seen], latest: str) -> tuple[list[str], list[str]]:
    """The values of the register in their order, back from the latest, and what speaks against there being one."""
    writes, problems = dict[str, Seen](), list[str]()
    for call in calls:
        if not call.is_write:
            continue
        if call.value in writes:
            problems.append(f"{call.who} and {writes[call.value].who} both wrote {call.value}")
        writes[call.value] = call
    chain = [latest]
    while chain[-1] != BEGINNING and not problems:
        written = writes.get(chain[-1])
        if written is None or written.replaced is None:
            problems.append(f"nobody wrote {chain[-1]}")
        elif written.replaced in chain:
            problems.append(f"{written.who} wrote {written.value} over what came after it")
        else:
            chain.append(written.replaced)
    chain.reverse()
    ends = {call.value for call in calls if call.is_end}
    problems += [f"{value} is an end, and was written over" for value in chain[:-1] if value in ends]
    replaced = dict[str, Seen]()
    for call in writes.values():
        if call.ended is None and call.value not in chain:
            continue
        other = replaced.setdefault(call.replaced or BEGINNING, call)
        if other is not call:
            problems.append(f"{other.who} and {call.who} both replaced {call.replaced!r}: one is lost")
    return chain, problems


def _out_of_order(calls: Sequence[Seen], place: dict[str, int]) -> Iterator[str]:
    """Calls that had ended before another began and saw, or wrote, what came after that."""
    events = sorted(calls, key=lambda call: call.began)
    ended = sorted((call for call in calls if call.ended is not None), key=lambda call: call.ended or 0)
    furthest: Seen | None = None
    position = 0
    for call in events:
        while position < len(ended) and (ended[position].ended or 0) < call.began:
            done = ended[position]
            if furthest is None or place[done.value] > place[furthest.value]:
                furthest = done
            position += 1
        if furthest is not None and _is_behind(call, furthest, place):
            yield f"{call.who} came after {furthest.who} had ended, and before it in the chain"


def _is_behind(call: Seen, done: Seen, place: dict[str, int]) -> bool:
    """Whether *call*, which began after *done* had ended, cannot have happened after it.

    A write is before all that saw its value; who saw the value before it cannot come after.
    """
    mine, other = place[call.value], place[done.value]
    return mine < other or (mine == other and call.is_write)
