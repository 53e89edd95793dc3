"""Whoever takes part in the walk, over HTTP alone; an answer that the README does not promise stops it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from botocore.credentials import Credentials
from rich.console import Console
from rich.table import Table

from offline import hosts
from offline.deployment import Deployment
from offline.hosts import Host
from offline.signing import Signed
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


def host(deployment: Deployment, known: Host) -> Person:
    """Return *known*, a host, let in and with its signature."""
    hosts.let_in(deployment, known)
    keys = hosts.keys_of(deployment.endpoint, known)
    signed = Signed(Credentials(keys.access_key_id, keys.secret_access_key))
    return Person(known.name, httpx.Client(base_url=deployment.base_url + "/", auth=signed, timeout=20))
