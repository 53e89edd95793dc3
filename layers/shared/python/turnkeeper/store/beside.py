"""What lies beside a task and is part of its status: one Query finds it all, since the keys lie side by side."""

from dataclasses import dataclass

from turnkeeper.domain.reviews import Review
from turnkeeper.domain.task import Task
from turnkeeper.store.items import task_key
from turnkeeper.store.reviews import review_from_item
from turnkeeper.store.table import Table

REVIEW = "REVIEW#"
LAST = "~"
"""Sorts after everything that a key has behind its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What was found beside a task."""

    reviews: tuple[Review, ...] = ()


NOTHING = Beside()


def read(table: Table, task: Task, *, reviews: bool) -> Beside:
    """What lies beside *task*, and the *reviews* there were, if those are asked for; nothing is read for nothing."""
    if not reviews:
        return NOTHING
    items = table.range(task_key(task.id)["pk"], REVIEW, REVIEW + LAST)
    return Beside(reviews=tuple(map(review_from_item, items)))
