"""Reviews as stored: what is asked lies beside its task, and what was decided is written into it once."""

from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.domain.reviews import Decision, Review
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import Verdict
from turnkeeper.store.items import review_key, task_from_item
from turnkeeper.store.parts import Attributes
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import Table


def review_item(review: Review) -> Attributes:
    """A new review as stored, beside its task."""
    return {
        **review_key(review.task_id, review.name),
        "agent": review.agent,
        "reviewer": review.reviewer,
        "wait_id": review.wait_id,
        "fence": review.fence,
        "subject": review.subject,
        "since": to_text(review.since),
        "deadline": to_text(review.deadline),
    }


def review_from_item(item: Attributes) -> Review:
    """The review that *item* holds, with what was decided if anything was."""
    name = item["sk"].removeprefix("REVIEW#")
    return Review(
        task_id=item["pk"].removeprefix("TASK#"),
        name=name,
        agent=item["agent"],
        reviewer=item["reviewer"],
        wait_id=item["wait_id"],
        fence=item["fence"],
        subject=item["subject"],
        since=from_text(item["since"]),
        deadline=from_text(item["deadline"]),
        decision=_decision(name, item) if "verdict" in item else None,
    )


def _decision(name: str, item: Attributes) -> Decision:
    return Decision(
        review=name,
        verdict=Verdict(item["verdict"]),
        comment=item.get("comment"),
        at=from_text(item["decided_at"]),
    )


def read(table: Table, task_id: str, name: str) -> tuple[Task | None, Review | None]:
    """A review and the task it is about, in one call."""
    keys = [task_key(task_id), review_key(task_id, name)]
    found = table.get_all(keys)
    task, review = (found.get((key["pk"], key["sk"])) for key in keys)
    return (task_from_item(task) if task else None), (review_from_item(review) if review else None)
