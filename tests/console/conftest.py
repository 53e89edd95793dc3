"""The console as people have it: in a browser, at a deployment of its own, served as `make up` serves it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from botocore.credentials import Credentials
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Response,
    expect,
    sync_playwright,
)

from offline import hosts
from offline.console import console, origin_at, origins_besides
from offline.deployment import deploy
from offline.engine import Engine, free_port
from offline.hosts import Host
from offline.signing import Signed
from tests.console.person import Person
from tests.support.deployed import SHORT, Deployed
from tests.support.hosts import HostClient, user_at

PATIENCE_MS = 20_000
PARCELS = {
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
class Served:
    """A deployment, and its console, which can be stopped and started again."""

    deployed: Deployed
    port: int
    steward: Host
    desk: HostClient
    _running: ExitStack = field(default_factory=ExitStack)

    @property
    def origin(self) -> str:
        return origin_at(self.port)

    def start(self) -> None:
        at = console(self.deployed.engine, self.deployed.deployment, port=self.port, issuer=None)
        self._running.enter_context(at)

    def stop(self) -> None:
        self._running.close()

    def api(self, name: str) -> httpx.Client:
        """The API as *name* has it without a console."""
        return self.deployed.http(name)

    def grant(self, user: str, provider: str) -> None:
        """Have *user* authorise *provider* for the built-in agents."""
        keys = hosts.keys_of(self.deployed.deployment.endpoint, self.steward)
        signed = Signed(Credentials(keys.access_key_id, keys.secret_access_key))
        with httpx.Client(auth=signed, timeout=60) as steward:
            told = {"user": user, "provider": provider}
            steward.post(f"{self.deployed.base_url}/v1/host/grants", json=told).raise_for_status()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    port = free_port()
    with Engine(tmp_path_factory.mktemp("console")) as engine:
        steward, desk = (hosts.make_host(engine.endpoint, name) for name in (hosts.STEWARD, "desk"))
        context = SHORT | hosts.settings([steward, desk]) | origins_besides(origin_at(port))
        deployed = Deployed(engine, deploy(engine, context=context))
        hosts.let_in(deployed.deployment, steward)
        found = Served(deployed, port, steward, user_at(deployed, desk))
        with found.desk.http() as http:
            http.put("v1/host/agents/travel_desk", json=PARCELS).raise_for_status()
        found.start()
        yield found
        found.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        pytest.fail("these tests look through Debian's chromium: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        # The sandbox needs more than a container gives; what is looked at is all our own.
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@dataclass
class Watched:
    """A page that may say no word of error, but for what its test allows."""

    page: Page
    allowed: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)

    def heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(one in message.text for one in self.allowed):
            self.said.append(message.text)

    def answered(self, response: Response) -> None:
        if response.status >= 500 and not self.allowed:
            self.said.append(f"{response.status} {response.url}")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", accept_downloads=True
    )
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@pytest.fixture
def watched(context: BrowserContext) -> Iterator[Watched]:
    watched = Watched(context.new_page())
    watched.page.on("console", watched.heard)
    watched.page.on("pageerror", lambda error: watched.said.append(str(error)))
    watched.page.on("response", watched.answered)
    yield watched
    assert watched.said == []


@pytest.fixture
def page(watched: Watched) -> Page:
    return watched.page


@pytest.fixture
def alice(served: Served, page: Page, request: pytest.FixtureRequest) -> Iterator[Person]:
    """Somebody new at the console, signed in; nobody else has their name."""
    name = f"alice-{abs(hash(request.node.nodeid)) % 10**8}"
    with served.api(name) as api:
        person = Person(name, page, api, served.origin)
        person.sign_in()
        yield person
