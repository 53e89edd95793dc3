"""What people get of what waits for them: reviews with what is asked, and calls to act, each with its task."""

import json
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.reviews import Review
from turnkeeper.domain.status import status_object
from turnkeeper.domain.waits import Verdict
from turnkeeper.edge.answers import Answer, answer
from turnkeeper.service.notifications import Calls
from turnkeeper.service.reviews import Reviews


def reviews(page: Reviews) -> Answer:
    """A page of reviews that wait for their reviewer."""
    return _answer({"reviews": [_review(review) for review in page.reviews], "next": page.next})


def reviewed(review: Review) -> Answer:
    """A review with its decision."""
    return _answer(_review(review))


def called(page: Calls) -> Answer:
    """A page of the notifications of the caller's tasks, each with its task."""
    notifications = [
        {"task": task.id, "agent": task.agent, **notification}
        for task in page.tasks
        for notification in status_object(task)["status"]["notifications"]
    ]
    return _answer({"notifications": notifications, "next": page.next})


def _review(review: Review) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": review.id,
        "agent": review.agent,
        "subject": review.subject,
        "since": to_text(review.since),
        "deadline": to_text(review.deadline),
    }
    if decided := review.decision:
        shown["decision"] = "approve" if decided.verdict is Verdict.DONE else "deny"
        shown["decided_at"] = to_text(decided.at)
        if decided.comment is not None:
            shown["comment"] = decided.comment
    return shown


def _answer(body: dict[str, Any]) -> Answer:
    return answer(200, json.dumps(body, separators=(",", ":")), {})
