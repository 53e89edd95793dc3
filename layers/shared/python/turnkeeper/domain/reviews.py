"""A review: one step of a turn that a named person approves or denies, once.

It is known to its reviewer by an opaque id that begins with its task's, so that deciding needs no index.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from turnkeeper.domain.errors import ReviewIsOver, TaskNotFound
from turnkeeper.domain.judging import outstanding
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import Verdict, Wait, WaitKind

SUBJECT_BYTES = 2_048
COMMENT_BYTES = 2_048
OF_INPUT = 0
REVIEW_ID = re.compile(r"([0-9a-f]{32})([0-9a-f]{16})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the reviewer said of the review of this *name* within its task."""

    review: str
    verdict: Verdict
    comment: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What a reviewer is asked, and what was answered; never the conversation."""

    task_id: str
    name: str
    agent: str
    reviewer: str
    wait_id: str
    fence: int
    """The one under which its turn was suspended on it; 0 for a review of an input, which no turn waits for."""
    subject: str
    since: datetime
    deadline: datetime
    decision: Decision | None = None

    @property
    def id(self) -> str:
        """What its reviewer calls it."""
        return self.task_id + self.name

    @property
    def is_of_input(self) -> bool:
        """An input is held for it, and no turn."""
        return self.fence == OF_INPUT

    def is_outstanding(self, task: Task) -> bool:
        """*task* waits for it still."""
        if self.is_of_input:
            return any(wait.id == self.wait_id for wait in outstanding(task.held))
        turn = task.turn
        waits = any(wait.id == self.wait_id and wait.kind is WaitKind.REVIEW for wait in task.waits)
        return turn is not None and turn.fence == self.fence and waits

    def answered(self, decision: Decision) -> "Review":
        """The review, if *decision* is what was decided already; otherwise it is over, or was decided otherwise."""
        kept = self.decision
        if kept is None or (kept.verdict, kept.comment) != (decision.verdict, decision.comment):
            raise ReviewIsOver(decided=kept is not None)
        return self


def name_of(fence: int, wait_id: str) -> str:
    """The name, within its task, of the review that the wait *wait_id* under *fence* is."""
    return hashlib.sha256(f"{fence}:{wait_id}".encode()).hexdigest()[:16]


def fence_of(task: Task, wait: Wait) -> int:
    """Under which fence *wait* is known: its suspended turn's, or that of no turn at all."""
    return task.fence if wait in task.waits else OF_INPUT


def review_of(task: Task, wait: Wait, *, subject: str) -> Review:
    """The review that *wait*, one of those that *task* has, asks its reviewer for."""
    fence = fence_of(task, wait)
    return Review(
        task_id=task.id,
        name=name_of(fence, wait.id),
        agent=task.agent,
        reviewer=wait.reviewer or "",
        wait_id=wait.id,
        fence=fence,
        subject=subject,
        since=wait.since,
        deadline=wait.deadline,
    )


def read_id(review_id: str) -> tuple[str, str]:
    """The task's id and the review's name in it; what can be no id is `TaskNotFound` before anything is read."""
    if not (match := REVIEW_ID.fullmatch(review_id)):
        raise TaskNotFound
    return match[1], match[2]
