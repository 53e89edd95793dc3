"""Reading the conversation: one page of the transcript and the inputs, merged, as of one revision.

The task is read first and bounds both Queries, so a page is a snapshot. The cursor says how far a follower has come:
it is there on the last page too, and then fetches only what is new.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from turnkeeper.domain.instants import MICROSECOND, to_text
from turnkeeper.domain.messages import Commit, Input, Output, count
from turnkeeper.domain.task import Task
from turnkeeper.guards.guardrails import ERRORS
from turnkeeper.guards.scene import Side
from turnkeeper.service.cursors import Place, bad_cursor, read_place, write_place
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.whole import whole
from turnkeeper.store import transcript
from turnkeeper.store.table import Table

PAGE_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class Page:
    """Some of the conversation at the task's revision: each entry is one JSON object as text."""

    task: Task
    entries: tuple[str, ...]
    next: str
    more: bool


def page(runtime: Runtime, *, caller: str, task_id: str, after: str | None, limit: int) -> Page:
    """Up to *limit* entries or 4 MB (one at least, where there is one) after the place of the cursor *after*."""
    return page_of(runtime, lambda: whole(runtime, caller=caller, task_id=task_id), after=after, limit=limit)


def page_of(
    runtime: Runtime, read: Callable[[], Task], *, after: str | None, limit: int, for_model: bool = False
) -> Page:
    """A page of the conversation of the task that *read* gives to whoever may have it; asked once *after* is read."""
    place = read_place(after) if after is not None else Place()
    task = read()
    if not _is_of(task, place):
        raise bad_cursor("after")
    taken = _Taken(limit)
    more = False
    # A Query begins with the entry that the reader has, and looks one beyond the page.
    entries = conversation(runtime.table, task, since=place, page_size=limit + 2, for_model=for_model)
    for entry, reached in entries:
        if not taken.add(entry):
            more = True
            break
        place = reached
    return Page(task, tuple(taken.entries), write_place(place), more)


def conversation(
    table: Table, task: Task, *, since: Place, page_size: int | None = None, for_model: bool = False
) -> Iterator[tuple[str, Place]]:
    """Every entry after *since* as text, with the place that a reader has reached with it (IO-3).

    What a guardrail refused is not *for_model*, whatever else is (AG-3).
    """
    place = since
    arrived = _Inputs(table, task, page_size)
    if task.last_committed_at is not None:
        for entry in transcript.entries(
            table, task.id, since=since.at, until=task.last_committed_at, limit=page_size
        ):
            if entry.at == since.at and not since.taken:
                continue
            if isinstance(entry, Output):
                place = Place(at=entry.at, pending=place.pending)
                yield _output(entry), place
                continue
            skip = since.taken if entry.at == since.at else 0
            for text, reached in _committed(arrived, entry, skip, place.pending, for_model=for_model):
                place = reached
                yield text, place
    waiting = [arrived.take(held.number) for held in task.held if held.number > since.pending]
    for one in chain(waiting, arrived.rest(max(task.committed, since.pending) + 1)):
        place = Place(at=place.at, taken=place.taken, pending=one.number)
        yield _input(one, None), place


def _committed(
    arrived: "_Inputs", entry: Commit, skip: int, pending: int, *, for_model: bool
) -> Iterator[tuple[str, Place]]:
    """The inputs of one commit beyond the first *skip*."""
    made: _Made | None = None
    for position, number in enumerate(_numbers(entry)):
        is_refused = number in entry.refused
        if position < skip or (for_model and is_refused):
            continue
        made = made or _Made(arrived, entry, number)
        done = position + 1 == count(entry.ranges)
        place = Place(at=entry.at, taken=0 if done else position + 1, pending=pending)
        at = entry.at + position * MICROSECOND
        yield _input(arrived.take(number), at, made.of(number), is_refused=is_refused), place


class _Made:
    """What guardrails made of the inputs of one commit, read no further than somebody asks."""

    def __init__(self, arrived: "_Inputs", entry: Commit, first: int) -> None:
        self.stream = transcript.made(
            arrived.table, arrived.task.id, entry, first=first, limit=arrived.page_size
        )
        self.next: tuple[int, str] | None = None

    def of(self, number: int) -> str | None:
        """What was made of *number*, which is higher than the last that was asked for."""
        while self.next is None or self.next[0] < number:
            if (following := next(self.stream, None)) is None:
                return None
            self.next = following
        return self.next[1] if self.next[0] == number else None


def _is_of(task: Task, place: Place) -> bool:
    """A reader of *task* can have come to *place*; another task's cursor may be well written."""
    last = task.last_committed_at
    return (place.at is None or (last is not None and place.at <= last)) and place.pending <= task.received


@dataclass(slots=True)
class _Taken:
    """What fits on a page."""

    limit: int
    entries: list[str] = field(default_factory=list)
    size: int = 0

    def add(self, entry: str) -> bool:
        size = len(entry.encode()) + 1
        if self.entries and (len(self.entries) >= self.limit or self.size + size > PAGE_BYTES):
            return False
        self.entries.append(entry)
        self.size += size
        return True


class _Inputs:
    """The inputs as one ordered Query, asked anew only where a number does not follow on."""

    def __init__(self, table: Table, task: Task, page_size: int | None) -> None:
        self.table, self.task, self.page_size = table, task, page_size
        self.stream: Iterator[Input] = iter(())
        self.expected = 0

    def take(self, number: int) -> Input:
        if number != self.expected:
            self._ask_from(number)
        self.expected = number + 1
        return next(self.stream)

    def rest(self, first: int) -> Iterator[Input]:
        if first != self.expected:
            self._ask_from(first)
        return self.stream

    def _ask_from(self, number: int) -> None:
        self.stream = transcript.inputs(
            self.table, self.task.id, first=number, last=self.task.received, limit=self.page_size
        )


def _numbers(commit: Commit) -> Iterator[int]:
    for first, last in commit.ranges:
        yield from range(first, last + 1)


def _input(
    arrived: Input, committed_at: datetime | None, made: str | None = None, *, is_refused: bool = False
) -> str:
    """An input as it is listed, or what a guardrail *made* of it."""
    seen = f',"committed_at":"{to_text(committed_at)}"' if committed_at else ""
    refused = f',"error":"{ERRORS[Side.INPUT]}"' if is_refused else ""
    received = f'"received_at":"{to_text(arrived.received_at)}"'
    return f'{{"type":"input",{(made or arrived.content)[1:-1]},{received}{seen}{refused}}}'


def _output(output: Output) -> str:
    return f'{{"type":"output",{output.content[1:-1]},"committed_at":"{to_text(output.at)}"}}'
