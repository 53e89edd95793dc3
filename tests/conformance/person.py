"""A person, and all that they can see of their tasks."""

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import httpx

from tests.conformance.client import PAUSE_SECONDS, TRIES, Client, Json, answered, said

PAGE, LISTED = 1000, 100
OUTLIVED = 500


@dataclass(frozen=True)
class Seen:
    """All that a consumer sees of a task, byte for byte."""

    status: bytes
    etag: str
    messages: bytes


@dataclass(frozen=True)
class Person(Client):
    """Somebody with an access token."""

    def create(self, agent: str, text: str | None = None) -> str:
        """The id of a new task of *agent*, with *text* as its first input when there is any."""
        body: Json = {"agent": agent} if text is None else {"agent": agent, "input": said(text)}
        task_id: str = answered(self.ask("POST", "tasks", body), 201 if text is None else 202)["id"]
        return task_id

    def poll(self, task_id: str, etag: str | None = None) -> httpx.Response:
        """The answer to a poll, by somebody who knows *etag* when there is one."""
        return self.ask("GET", f"tasks/{task_id}", headers={"if-none-match": etag} if etag else None)

    def ask_status(self, task_id: str, etag: str | None = None) -> httpx.Response:
        """Where the task stands, by somebody who knows *etag* when there is one."""
        known = {"if-none-match": etag} if etag else None
        return self.ask("GET", f"tasks/{task_id}/agent-status", headers=known)

    def task(self, task_id: str) -> Json:
        """The status object."""
        return answered(self.poll(task_id), 200)

    def status(self, task_id: str) -> Json:
        """The part of the status object that changes."""
        status: Json = self.task(task_id)["status"]
        return status

    def phase(self, task_id: str) -> tuple[str, str | None]:
        """Phase and terminal reason."""
        status = self.status(task_id)
        return status["phase"], status["terminal_reason"]

    def outlives(self, task_id: str) -> Json:
        """The status of an idle task when it is idle no longer, or of one that stays so for far too long."""
        for _ in range(OUTLIVED):
            status = self.status(task_id)
            if status["phase"] != "idle":
                break
        return status

    def revision(self, task_id: str) -> str:
        """The revision of the status object."""
        revision: str = self.status(task_id)["revision"]
        return revision

    def notifications(self, task_id: str) -> list[Json]:
        """What is outstanding."""
        outstanding: list[Json] = self.status(task_id)["notifications"]
        return outstanding

    def listed(self, task_id: str) -> Json:
        """The task as this person's list has it; a new one may come into the list a little later."""
        for _ in range(TRIES):
            tasks = answered(self.ask("GET", f"tasks?limit={LISTED}"), 200)["tasks"]
            if found := [task for task in tasks if task["id"] == task_id]:
                break
            time.sleep(PAUSE_SECONDS)
        (task,) = found
        return dict(task)

    def send(self, task_id: str, text: str) -> httpx.Response:
        """The answer to an input."""
        return self.ask("POST", f"tasks/{task_id}/inputs", said(text))

    def send_for_sure(self, task_id: str, text: str, key: str) -> httpx.Response:
        """The answer to an input sent under *key*, again while there is too much at once."""
        for _ in range(TRIES):
            answer = self.ask("POST", f"tasks/{task_id}/inputs", said(text), headers={"idempotency-key": key})
            if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                break
            time.sleep(PAUSE_SECONDS)
        return answer

    def tell(self, task_id: str, text: str) -> Json:
        """The status object after an input that was accepted."""
        return answered(self.send(task_id, text), 202)

    def page(self, task_id: str, **query: Any) -> httpx.Response:
        """A page of the conversation."""
        asked = urlencode({"limit": PAGE, **query})
        return self.ask("GET", f"tasks/{task_id}/messages?{asked}")

    def messages(self, task_id: str) -> list[Json]:
        """The conversation."""
        page = answered(self.page(task_id), 200)
        assert not page["more"], "the suite's conversations fit a page"
        entries: list[Json] = page["messages"]
        return entries

    def texts(self, task_id: str) -> list[str]:
        """What was said, in the conversation's order."""
        return [texts_of(entry) for entry in self.messages(task_id)]

    def waiting(self, task_id: str) -> list[str]:
        """The inputs that no turn has taken."""
        return [texts_of(entry) for entry in self.messages(task_id) if "committed_at" not in entry]

    def reviews(self) -> list[Json]:
        """The decisions that wait for this person, oldest first."""
        return self.all_of("reviews")

    def outstanding(self) -> list[Json]:
        """The notifications of all of this person's tasks."""
        return self.all_of("notifications")

    def all_of(self, what: str) -> list[Json]:
        """The list *what* of this person, page by page."""
        found: list[Json] = []
        cursor: str | None = ""
        while cursor is not None:
            query = urlencode({"limit": LISTED, **({"cursor": cursor} if cursor else {})})
            page = answered(self.ask("GET", f"{what}?{query}"), 200)
            found += page[what]
            cursor = page["next"]
        return found

    def review_of(self, subject: str) -> str:
        """The id of the review of *subject*, which must be waiting for this person."""
        (found,) = [review["id"] for review in self.reviews() if review["subject"] == subject]
        return str(found)

    def decide(self, review_id: str, decision: str) -> httpx.Response:
        """The answer to a decision."""
        return self.ask("POST", f"reviews/{review_id}", {"decision": decision})

    def sees(self, task_id: str) -> Seen:
        """All there is to see of the task now."""
        polled, page = self.poll(task_id), self.page(task_id)
        assert (polled.status_code, page.status_code) == (200, 200), polled.text
        return Seen(polled.content, polled.headers["etag"], page.content)


def texts_of(entry: Json) -> str:
    """The text of an entry."""
    return "".join(part["text"] for part in entry["message"])
