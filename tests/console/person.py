"""Somebody at the console, who does with it what people do, and looks behind it where a test must know."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from playwright.sync_api import Locator, Page, expect

BUSY_ENGINE = 429
TASK = re.compile(r"#/tasks/([^/]+)$")


@dataclass
class Person:
    """*name* in front of *page*, and with *api* behind it."""

    name: str
    page: Page
    api: httpx.Client
    origin: str

    def sign_in(self, at: str = "") -> None:
        """Come to the view *at*, and sign in."""
        self.page.goto(f"{self.origin}/{at}")
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_label("Name").fill(self.name)
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("button", name="Sign out")).to_be_visible()

    def go(self, at: str) -> None:
        self.page.evaluate("at => { location.hash = at }", at)

    def start(self, agent: str, text: str) -> str:
        """A task begun at the console; its id."""
        self.page.get_by_role("link", name="New task").first.click()
        self.page.get_by_role("link", name=re.compile(f"^{agent}")).click()
        self.page.get_by_label("Message").fill(text)
        self.page.get_by_role("button", name="Start the task").click()
        self.page.wait_for_url(TASK)
        found = TASK.search(self.page.url)
        assert found
        return found[1]

    def create(self, agent: str, text: str) -> str:
        """A task begun without the console; its id."""
        made = self.ask("POST", "tasks", json={"agent": agent, "input": {"message": said(text)}})
        assert made.status_code == 202, made.text
        task: str = made.json()["id"]
        return task

    def say(self, text: str) -> None:
        self.page.get_by_label("Message", exact=True).fill(text)
        self.page.get_by_role("button", name="Send").click()

    def messages(self, kind: str = "") -> Locator:
        return self.page.locator(f".message{kind}")

    def entries(self, task: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("GET", f"tasks/{task}/messages").json()["messages"]
        return found

    def standing(self, task: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"tasks/{task}").json()["status"]
        return found

    def user(self, task: str) -> str:
        return str(self.ask("GET", f"tasks/{task}").json()["responsible_user"])

    def until(self, task: str, is_so: Callable[[dict[str, Any]], bool], *, within: float = 40) -> None:
        """Return as soon as it is so of where *task* stands."""
        deadline = time.monotonic() + within
        while not is_so(seen := self.standing(task)):
            assert time.monotonic() < deadline, seen
            time.sleep(0.2)

    def ask(self, method: str, path: str, **request: Any) -> httpx.Response:
        """What the API answers; the engine takes ten calls at a time and says 429 to the rest, who ask again."""
        for _ in range(200):
            answer = self.api.request(method, f"v1/{path}", **request)
            if answer.status_code != BUSY_ENGINE:
                return answer
            time.sleep(0.1)
        raise AssertionError("the engine stayed busy")


def said(text: str) -> list[dict[str, str]]:
    return [{"mimeType": "text/plain", "text": text}]
