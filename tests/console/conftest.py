"""One `make up` of its own for all of the console's tests, and Debian's Chromium in front of it.

A test asks for `visit`, or for `visits` when it needs several people or a screen of another kind. Pictures go where
PICTURES says (`PICTURES=docs/console`), or to a folder that nobody keeps.
"""

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from offline import hosts
from offline.__main__ import DEMO_HOST, begin
from offline.console import origin_at
from offline.engine import Engine
from offline.progress import SILENT
from scripts.setup import NO_BROWSER, find_browser
from tests.console.person import TRAVEL_DESK, Person
from tests.support.browsing import Visit
from tests.support.deployed import Deployed
from tests.support.hosts import HostClient, user_at
from tests.support.ports import two_free_ports

QUICK = 15_000
"""Milliseconds that anything on a page may take on a busy machine."""

type Visits = Callable[..., Visit]


@dataclass(frozen=True)
class Site:
    """What `make up` has: a deployment, its engine, and the console's address."""

    deployed: Deployed
    console: str

    @property
    def others(self) -> frozenset[str]:
        """What the page may talk to besides: the sign-in page, and the store of files."""
        return frozenset({self.console.replace("127.0.0.1", "localhost"), self.deployed.endpoint_url})


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    engine = Engine(tmp_path_factory.mktemp("console"), port=two_free_ports(), keep=True)
    with ExitStack() as beside:
        beside.callback(engine.stop)
        deployment = begin(engine, beside, SILENT)
        yield Site(Deployed(engine, deployment), origin_at(engine.port + 1))


# Not for the session: while Playwright runs, no other test can have an event loop.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    place = find_browser()
    if place is None:
        pytest.fail(NO_BROWSER)
    # Its own sandbox is refused to root.
    flags = ["--no-proxy-server", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    expect.set_options(timeout=QUICK)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=flags)
        yield browser
        browser.close()


@pytest.fixture
def visits(chromium: Browser, site: Site) -> Iterator[Visits]:
    """Makes visits, each in a browser of its own; looks at the end at what went wrong in any."""
    made: list[Visit] = []

    def visit(**screen: Any) -> Visit:
        usual: dict[str, Any] = {"locale": "en-GB", "timezone_id": "UTC", "reduced_motion": "reduce"}
        context = chromium.new_context(**{**usual, **screen})
        context.set_default_timeout(QUICK)
        made.append(Visit(context.new_page(), site.console, site.others))
        return made[-1]

    yield visit
    for one in made:
        one.page.context.close()
    for one in made:
        one.check()


@pytest.fixture
def visit(visits: Visits) -> Visit:
    return visits()


@pytest.fixture
def picture(tmp_path: Path) -> Callable[[Visit, str], Path]:
    """Takes a picture of the whole of a view, by a name."""
    folder = Path(os.environ.get("PICTURES", tmp_path))

    def take(visit: Visit, name: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.png"
        visit.page.screenshot(path=path, full_page=True, animations="disabled", caret="hide")
        return path

    return take


@pytest.fixture(scope="package")
def desk(site: Site) -> HostClient:
    """Somebody's host, with an agent that wants to be told things."""
    endpoint = site.deployed.deployment.endpoint
    known = {host.name: host for host in hosts.hosts_of(endpoint)}
    host = user_at(site.deployed, known[DEMO_HOST])
    with host.http() as http:
        http.put("v1/host/agents/travel_desk", json=TRAVEL_DESK).raise_for_status()
    return host


@pytest.fixture
def people(visits: Visits, site: Site) -> Iterator[Callable[..., Person]]:
    """Lets people come to the console, each with a browser and tasks of their own."""
    with ExitStack() as apis:

        def person(name: str, *, at: str = "/", **screen: Any) -> Person:
            visit = visits(**screen)
            api = apis.enter_context(site.deployed.http(name))
            visit.open(at)
            visit.sign_in(name)
            expect(visit.page.get_by_role("button", name="Sign out")).to_be_visible()
            return Person(name, visit, api, site.deployed)

        yield person


@pytest.fixture
def alice(people: Callable[..., Person], request: pytest.FixtureRequest) -> Person:
    """Somebody new, signed in; nobody else has their name."""
    return people(f"alice-{zlib.crc32(request.node.nodeid.encode())}")
