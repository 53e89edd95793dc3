"""The walk of `make demo`: a task's life over HTTP, on a deployment of its own that is gone afterwards.

It shows what the API answered, and stops with an error where that is not what the README promises.
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console
from rich.table import Table

from offline.deployment import Deployment, deploy
from offline.engine import Engine
from offline.progress import Shown
from offline.users import token

POLLS = 60
BUSY_ENGINE = 429


class NotAsPromised(Exception):
    """The API answered something else than this walk, and the README, say."""


@dataclass(slots=True)
class Person:
    """Somebody with a token."""

    name: str
    http: httpx.Client
    revisions: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, *, expect: int, json: Any = None, **headers: str) -> httpx.Response:
        """Return the answer; one refused for want of capacity is asked again."""
        for _ in range(POLLS):
            answer = self.http.request(method, f"v1/{path}", json=json, headers=headers)
            if answer.status_code != BUSY_ENGINE:
                break
            time.sleep(0.2)
        if answer.status_code != expect:
            raise NotAsPromised(
                f"{method} {path} as {self.name}: {answer.status_code}, not {expect}: {answer.text}"
            )
        return answer

    def follow(self, task_id: str) -> Iterator[dict[str, Any]]:
        """Yield the status whenever it changed, polling as the server says, until it stays as it is."""
        etag = ""
        for _ in range(POLLS):
            wanted = {"If-None-Match": etag} if etag else {}
            answer = self.http.get(f"v1/tasks/{task_id}", headers=wanted)
            if answer.status_code == httpx.codes.OK:
                etag = answer.headers["etag"]
                yield answer.json()["status"]
            if "poll-after" not in answer.headers:
                return
            time.sleep(min(float(answer.headers["poll-after"]), 1.0))
        raise NotAsPromised(f"the task did not end within {POLLS} polls")

    def until(self, task_id: str, phase: str) -> dict[str, Any]:
        """Return the first status of *phase*."""
        for status in self.follow(task_id):
            if status["phase"] == phase:
                return status
        raise NotAsPromised(f"the task never was {phase}")

    def messages(self, task_id: str) -> list[dict[str, Any]]:
        """Return the conversation."""
        entries: list[dict[str, Any]] = self.ask("GET", f"tasks/{task_id}/messages", expect=200).json()[
            "messages"
        ]
        return entries


def walk(alice: Person, bob: Person, console: Console) -> None:
    """Live through a task's life and show it."""
    console.rule("A task: create, poll to idle, read the conversation")
    made = alice.ask("POST", "tasks", expect=202, json={"agent": "echo", "input": said("Hello!")})
    task_id = made.json()["id"]
    console.print(f"Created {task_id}: {made.json()['status']['phase']}")
    idle = alice.until(task_id, "idle")
    console.print(f"It is idle, and will be completed at {idle['idle_expires_at']} if nothing happens.")
    show(console, alice.messages(task_id))

    console.rule("An unchanged poll costs nothing to read")
    current = alice.ask("GET", f"tasks/{task_id}", expect=200)
    again = alice.ask("GET", f"tasks/{task_id}", expect=304, **{"If-None-Match": current.headers["etag"]})
    console.print(f"304, {len(again.content)} bytes; look again in {again.headers['poll-after']} s.")

    console.rule("Another's task is an unknown task")
    foreign = bob.ask("GET", f"tasks/{task_id}", expect=404)
    unknown = bob.ask("GET", f"tasks/{'0' * 32}", expect=404)
    require(foreign.content == unknown.content, "the two answers differ")
    console.print("To Bob it answers the very bytes of a task that does not exist.")

    console.rule("Input while the agent is busy is queued, and answered in a later turn")
    slow = alice.ask("POST", "tasks", expect=202, json={"agent": "slow_echo", "input": said("One")}).json()[
        "id"
    ]
    wait_for_commit(alice, slow)
    for text in ("Two", "Three"):
        alice.ask("POST", f"tasks/{slow}/inputs", expect=202, json=said(text), **{"Idempotency-Key": text})
    alice.ask("POST", f"tasks/{slow}/inputs", expect=202, json=said("Three"), **{"Idempotency-Key": "Three"})
    waiting = alice.messages(slow)
    require([entry.get("committed_at") for entry in waiting[-2:]] == [None, None], "the inputs do not wait")
    show(console, waiting)
    alice.until(slow, "idle")
    show(console, alice.messages(slow))

    console.rule("A task ends at the instant it announced")
    mayfly = alice.ask("POST", "tasks", expect=202, json={"agent": "mayfly", "input": said("Brief.")}).json()[
        "id"
    ]
    announced = alice.until(mayfly, "idle")["idle_expires_at"]
    ended = alice.until(mayfly, "terminal")
    console.print(f"Announced for {announced}; it is {ended['phase']} / {ended['terminal_reason']}.")
    refused = alice.ask("POST", f"tasks/{mayfly}/inputs", expect=409, json=said("Too late"))
    console.print(f"Input now: {refused.status_code} {refused.json()['detail']}")


def wait_for_commit(person: Person, task_id: str) -> None:
    """Return when a turn has taken the task's first input."""
    for _ in range(POLLS):
        if "committed_at" in person.messages(task_id)[0]:
            return
        time.sleep(0.1)
    raise NotAsPromised("no turn took the first input")


def said(text: str) -> dict[str, Any]:
    """Return an input with one text part."""
    return {"message": [{"mimeType": "text/plain", "text": text}]}


def show(console: Console, entries: list[dict[str, Any]]) -> None:
    """Print a conversation as a table."""
    table = Table("", "received", "committed", "text", box=None)
    for entry in entries:
        text = " ".join(part["text"] for part in entry["message"])
        times = (entry.get(name, "-")[11:23] or "-" for name in ("received_at", "committed_at"))
        table.add_row(entry["type"], *times, text)
    console.print(table)


def require(holds: bool, otherwise: str) -> None:  # noqa: FBT001 - a sentence: require(this, "otherwise that")
    """Stop where a promise does not hold."""
    if not holds:
        raise NotAsPromised(otherwise)


def person(deployment: Deployment, name: str) -> Person:
    """Return *name*, signed in."""
    authorization = {"Authorization": f"Bearer {token(deployment, name)}"}
    return Person(name, httpx.Client(base_url=deployment.base_url + "/", headers=authorization, timeout=20))


def main() -> int:
    """Deploy, walk, and clean up; return the exit code."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="turnkeeper-demo-") as folder:
        engine = Engine(Path(folder))
        with console.status("Starting") as status:
            progress = Shown(console, status)
            progress.step("Starting an engine of its own")
            engine.start()
            try:
                deployment = deploy(engine, progress=progress)
                walk(person(deployment, "alice"), person(deployment, "bob"), console)
            except NotAsPromised as broken:
                console.print(f"Not as promised: {broken}", style="red", markup=False)
                return 1
            finally:
                engine.stop()
    console.print("All as promised.", style="green")
    return 0


if __name__ == "__main__":
    sys.exit(main())
