"""People at work on a deployment while something is done to it: what they were promised, and what they were told."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.deployed import Deployed, eventually

PROBLEM = "application/problem+json"
AGENTS = ("slow_echo", "echo", "echo")
PAUSE_SECONDS = 3
TURNED_AWAY = 429
BROKEN = 500
NO_ANSWER = 0


@dataclass
class Traffic:
    """Inputs that were accepted, by task, and every answer that was not a success."""

    deployed: Deployed
    accepted: dict[str, list[str]] = field(default_factory=dict)
    ours: list[str] = field(default_factory=list)
    """Answers of 5xx that the product gave."""
    engines: Counter[int] = field(default_factory=Counter)
    """Those that it did not: the gateway's own, bare, for a function that is just being replaced."""
    polls: int = 0
    _over: threading.Event = field(default_factory=threading.Event)

    def ask(self, client: httpx.Client, method: str, path: str, **request: Any) -> httpx.Response:
        """The answer; what the engine refused is asked again, which its key makes safe."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            try:
                answer = client.request(method, path, **request)
            except httpx.TransportError:
                self.engines[NO_ANSWER] += 1
                continue
            if answer.status_code >= BROKEN and answer.headers.get("content-type") == PROBLEM:
                self.ours.append(f"{method} {path}: {answer.status_code} {answer.text}")
            elif answer.status_code < BROKEN and answer.status_code != TURNED_AWAY:
                return answer
            else:
                self.engines[answer.status_code] += 1
            time.sleep(0.3)
        raise AssertionError(f"{method} {path} got no answer in 90 s")

    def send(self, number: int) -> None:
        """Create tasks and send them inputs, until it is over."""
        with self.deployed.http(f"person-{number}") as client:
            for turn in range(10_000):
                # The engine takes one turn at a time: more than this it would still be at minutes later.
                if self._over.wait(PAUSE_SECONDS if turn else 0):
                    return
                agent, text = AGENTS[turn % len(AGENTS)], f"{number}.{turn}"
                made = self.ask(
                    client,
                    "POST",
                    "v1/tasks",
                    json={"agent": agent, "input": said(f"{text} first")},
                    headers={"idempotency-key": text},
                )
                assert made.status_code == httpx.codes.ACCEPTED, made.text
                task = made.json()["id"]
                self.accepted[task] = [f"{text} first"]
                more = self.ask(
                    client,
                    "POST",
                    f"v1/tasks/{task}/inputs",
                    json=said(f"{text} second"),
                    headers={"idempotency-key": f"{text}-second"},
                )
                assert more.status_code == httpx.codes.ACCEPTED, more.text
                self.accepted[task].append(f"{text} second")
                assert self.ask(client, "GET", f"v1/tasks/{task}").status_code == httpx.codes.OK
                self.polls += 1

    def check(self, people: int) -> None:
        """Every input that was accepted is in its conversation once, and answered."""
        assert self.ours == []
        for number in range(people):
            with self.deployed.http(f"person-{number}") as client:
                for task in [
                    task for task, texts in self.accepted.items() if texts[0].startswith(f"{number}.")
                ]:
                    self._check_task(client, task)

    def _check_task(self, client: httpx.Client, task: str) -> None:
        def is_idle() -> bool:
            phase: str = self.ask(client, "GET", f"v1/tasks/{task}").json()["status"]["phase"]
            return phase == "idle"

        eventually(is_idle, within=120, every=0.5)
        entries = self.ask(client, "GET", f"v1/tasks/{task}/messages").json()["messages"]
        inputs = [entry["message"][0]["text"] for entry in entries if entry["type"] == "input"]
        assert inputs == self.accepted[task]
        assert [entry["type"] for entry in entries][-1] == "output"


def said(text: str) -> dict[str, Any]:
    """An input with one text part."""
    return {"message": [{"mimeType": "text/plain", "text": text}]}


@contextmanager
def traffic(deployed: Deployed, *, people: int) -> Iterator[Traffic]:
    """People send and poll while the block runs; what they were promised is checked when it is over."""
    made = Traffic(deployed)
    failures: list[BaseException] = []

    def send(number: int) -> None:
        try:
            made.send(number)
        except BaseException as error:  # noqa: BLE001 - told to whoever runs the block
            failures.append(error)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(people)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: bool(failures) or len(made.accepted) >= people, within=60)
        yield made
    finally:
        made._over.set()  # noqa: SLF001 - it is ours
        for thread in threads:
            thread.join()
    if failures:
        raise failures[0]
    made.check(people)
