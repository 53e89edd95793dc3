"""Somebody at the console, who does with it what people do, and looks behind it where a test must know."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx
from botocore.credentials import Credentials
from playwright.sync_api import Locator, Page

from offline import hosts
from offline.signing import Signed
from tests.support.browsing import Visit
from tests.support.deployed import Deployed

BUSY_ENGINE = 429
TASK = re.compile(r"#/tasks/([^/]+)$")
TRAVEL_DESK = {
    "kind": "commonagents.info/v1/agent",
    "name": "travel_desk",
    "description": "Books trains up to a limit, and asks you where you want to go.",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "title": "Destination", "description": "A town with a station."},
            "price": {"type": "number", "title": "At most, in EUR", "default": 120, "minimum": 0},
            "class": {"enum": ["first", "second"], "title": "Class"},
        },
        "required": ["to"],
    },
    "guardrails": {
        "before": [
            {"assert": "input.message[0].text != 'Go to the moon'", "deny_message": "No trains go there."}
        ]
    },
    "turnkeeper": {"runs": "external"},
}


@dataclass
class Person:
    """*name* on a *visit*, and with *api* behind it."""

    name: str
    visit: Visit
    api: httpx.Client
    deployed: Deployed

    @property
    def page(self) -> Page:
        return self.visit.page

    def go(self, at: str) -> None:
        """Follow a link to the view *at*."""
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

    @property
    def field(self) -> Locator:
        """Where one writes to the task that is shown."""
        return self.page.get_by_label("Message", exact=True)

    def say(self, text: str) -> None:
        self.field.fill(text)
        self.page.get_by_role("button", name="Send").click()

    def messages(self, kind: str = "") -> Locator:
        return self.page.locator(f".message{kind}")

    def entries(self, task: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("GET", f"tasks/{task}/messages").json()["messages"]
        return found

    def standing(self, task: str) -> dict[str, Any]:
        found: dict[str, Any] = self.ask("GET", f"tasks/{task}").json()["status"]
        return found

    def grant(self, task: str, provider: str) -> None:
        """Authorise *provider* for the built-in agents, as whose *task* waits for it."""
        endpoint = self.deployed.deployment.endpoint
        (steward,) = [host for host in hosts.hosts_of(endpoint) if host.name == hosts.STEWARD]
        keys = hosts.keys_of(endpoint, steward)
        user = self.ask("GET", f"tasks/{task}").json()["responsible_user"]
        told = {"user": user, "provider": provider}
        signed = Signed(Credentials(keys.access_key_id, keys.secret_access_key))
        with httpx.Client(auth=signed, timeout=60) as host:
            host.post(f"{self.deployed.base_url}/v1/host/grants", json=told).raise_for_status()

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
