"""What waits for a person's decision, also on tasks that are not theirs: what is asked, never the conversation."""

from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import ReviewIsOver, StaleFence, TaskIsTerminal, TaskNotFound, WaitNotFound
from turnkeeper.domain.reviews import Decision, Review, read_id
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.waits import Verdict
from turnkeeper.service.change import apply
from turnkeeper.service.cursors import read_pointer, write_pointer
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import people, reviews

ACTOR = "reviewer"


@dataclass(frozen=True, slots=True)
class Reviews:
    """A page of what waits for somebody's decision; no *next* when there is no more."""

    reviews: tuple[Review, ...]
    next: str | None


def list_reviews(runtime: Runtime, *, caller: str, limit: int, cursor: str | None) -> Reviews:
    """The next *limit* reviews that wait for the caller after *cursor*, the longest first."""
    after = read_pointer(cursor) if cursor is not None else None
    found, position = people.reviews(runtime.table, caller, after=after, limit=limit)
    return Reviews(tuple(found), write_pointer(position) if position else None)


def decide(runtime: Runtime, *, caller: str, review_id: str, verdict: Verdict, comment: str | None) -> Review:
    """The review with the caller's decision, made now or before; the turn goes on when it waits for nothing else.

    Raises `TaskNotFound` when it is not the caller's, `TaskIsTerminal` once its task has ended, and `ReviewIsOver`
    when it was decided otherwise or is waited for no longer.
    """
    task, review = _read(runtime, review_id, caller)
    decision = Decision(review=review.name, verdict=verdict, comment=comment, at=runtime.clock())
    if review.decision is not None:
        return review.answered(decision)

    def change(current: Task, now: datetime) -> Change:
        if not current.is_terminal and not review.is_outstanding(current):
            raise ReviewIsOver(decided=False)
        if review.is_of_input:
            return transitions.decide(
                current,
                wait_id=review.wait_id,
                verdict=verdict,
                decision=replace(decision, at=now),
                now=now,
                pace=runtime.pace,
            )
        return transitions.resolve(
            current,
            verdicts={review.wait_id: verdict},
            fence=None if current.is_terminal else review.fence,
            decision=replace(decision, at=now),
            now=now,
            pace=runtime.pace,
        )

    try:
        apply(runtime, task, change, actor=ACTOR)
    except (ReviewIsOver, TaskIsTerminal, StaleFence, WaitNotFound):
        # The same decision may have come at the same moment.
        _, latest = _read(runtime, review_id, caller)
        if latest.decision is None:
            raise
        return latest.answered(decision)
    _, decided = _read(runtime, review_id, caller)
    return decided


def _read(runtime: Runtime, review_id: str, caller: str) -> tuple[Task, Review]:
    task, review = reviews.read(runtime.table, *read_id(review_id))
    if task is None or review is None or task.is_gone(runtime.clock()) or review.reviewer != caller:
        raise TaskNotFound
    return task, review
