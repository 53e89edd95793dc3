"""Somebody's browser at the console: what they do, and whatever the page does wrong meanwhile.

A visit ends with a look at what went wrong: an error in the page, a line of its console, a request to somebody else, an
answer 5xx. What a test means to happen, it says beforehand (`expects`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Error, Page, Request, Response

from infra import ROOT

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
SERVER_ERROR = 500
FINE = frozenset({"log", "debug", "info", "timeEnd", "startGroup", "startGroupCollapsed", "endGroup"})
"""Kinds of lines in a page's console that nobody need mind."""


@dataclass
class Visit:
    """A page of the console at *origin*; it may talk to the *others* besides."""

    page: Page
    origin: str
    others: frozenset[str]
    wrong: list[str] = field(default_factory=list)
    expected: list[re.Pattern[str]] = field(default_factory=list)
    sent: int = 0
    """Bytes that came over the wire, headers and all."""

    def __post_init__(self) -> None:
        self.page.on("pageerror", self._of_the_page)
        self.page.on("console", self._of_its_console)
        self.page.on("request", self._asked)
        self.page.on("response", self._answered)
        wire = self.page.context.new_cdp_session(self.page)
        wire.send("Network.enable")
        wire.on("Network.loadingFinished", self._came)

    def expects(self, pattern: str) -> None:
        """What matches *pattern* is meant to go wrong."""
        self.expected.append(re.compile(pattern))

    def check(self) -> None:
        """Nothing went wrong that was not meant to."""
        unforeseen = [one for one in self.wrong if not any(known.search(one) for known in self.expected)]
        assert not unforeseen, "\n".join(unforeseen)

    def open(self, place: str = "/") -> None:
        """Go to *place* of the console."""
        self.page.goto(f"{self.origin}{place}")

    def sign_in(self, name: str = "alice") -> None:
        """Say who one is, at the sign-in page."""
        self.page.get_by_label("Name").fill(name)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{self.origin}/**")

    def accessible(self, *, without: Iterable[str] = ()) -> None:
        """Nothing of this view is against what axe-core knows of accessibility, but for the rules *without*."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        rules = {rule: {"enabled": False} for rule in without}
        found: Any = self.page.evaluate("rules => axe.run(document, { rules })", rules)
        said = [
            f"{one['id']} ({one['impact']}): {one['help']}: {[node['html'] for node in one['nodes']]}"
            for one in found["violations"]
        ]
        assert not said, "\n".join(said)
        assert found["passes"], "axe-core looked at nothing"

    def _of_the_page(self, error: Error) -> None:
        self.wrong.append(f"page error: {error}")

    def _of_its_console(self, line: ConsoleMessage) -> None:
        if line.type not in FINE:
            self.wrong.append(f"console {line.type}: {line.text} ({line.location.get('url')})")

    def _asked(self, request: Request) -> None:
        where = urlsplit(request.url)
        if f"{where.scheme}://{where.netloc}" not in {self.origin, *self.others}:
            self.wrong.append(f"third party: {request.method} {request.url}")

    def _answered(self, response: Response) -> None:
        if response.status >= SERVER_ERROR:
            self.wrong.append(f"server error: {response.status} {response.request.method} {response.url}")

    def _came(self, told: dict[str, Any]) -> None:
        self.sent += int(told["encodedDataLength"])
