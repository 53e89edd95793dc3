"""What lies beside a task and is part of its status: one Query finds it all, since the keys lie side by side."""

from dataclasses import dataclass

from turnkeeper.domain.reviews import Review
from turnkeeper.domain.task import Task
from turnkeeper.store.items import outcome_key, report_key
from turnkeeper.store.reviews import review_from_item
from turnkeeper.store.table import Table

REPORT, REVIEW = "REPORT#", "REVIEW#"
LAST = "~"
"""Sorts after everything that a key has behind its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What was found beside a task."""

    declared: str | None = None
    """What a host said with the task's end, as JSON."""
    reports: tuple[str, ...] = ()
    """What others reported, each as JSON, in the order in which it came."""
    reviews: tuple[Review, ...] = ()


NOTHING = Beside()


def read(table: Table, task: Task, *, reviews: bool) -> Beside:
    """What lies beside *task*, and the *reviews* there were, if those are asked for; nothing is read for nothing."""
    if not (task.is_terminal or task.reports or reviews):
        return NOTHING
    first = outcome_key(task.id)
    found = list(table.range(first["pk"], first["sk"], (REVIEW if reviews else REPORT) + LAST))
    outcome = next((item for item in found if item["sk"] == first["sk"]), None)
    return Beside(
        declared=outcome["declared"] if outcome else None,
        reports=tuple(item["report"] for item in found if item["sk"].startswith(REPORT)),
        reviews=tuple(review_from_item(item) for item in found if item["sk"].startswith(REVIEW)),
    )


def reports(table: Table, task: Task) -> tuple[str, ...]:
    """What others reported to *task*, each as JSON, in the order in which it came."""
    first, last = report_key(task.id, 1), report_key(task.id, task.reports)
    return tuple(item["report"] for item in table.range(first["pk"], first["sk"], last["sk"]))
