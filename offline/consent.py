"""The page on which somebody lets the built-in agents use a provider of theirs: offline nothing else could ask.

What it records is what any host records of its own sign-in: a grant, by the deployment's own host (docs/hosts.md).
"""

import html
from collections.abc import Callable
from dataclasses import dataclass
from string import Template

import httpx
from werkzeug.wrappers import Request, Response

from offline.signin import AWAY, NotAnswered, SignInPage
from turnkeeper.agents.concierge import PROVIDER

AT = "/providers/"
PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title · Turnkeeper offline</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>$title</h1>
$body
</main>
</body>
</html>
""")
ASKS = """\
<p>The agents of this machine would like to use $provider in your name, $name.</p>
<form method="post"><button>Allow</button></form>
<p class="note">This is the offline stack: there is no real $provider behind it. What waits for it goes on.</p>
"""
DONE = """\
<p role="status">You can close this page. The task goes on by itself.</p>
<p class="note"><a href="$console">Back to the console</a></p>
"""
WHO = """\
<p role="alert">Nobody is signed in.</p>
<p class="note">Sign in at <a href="$console">the console</a> first.</p>
"""
AGAIN = """\
<p role="alert">The stack did not answer.</p>
<form method="post"><button>Try again</button></form>
<p class="note">To allow it twice is to allow it once.</p>
"""


@dataclass(frozen=True)
class Consent:
    """Asks whoever is signed in on *page*; *grant* records that a name has authorised a provider."""

    page: SignInPage
    grant: Callable[[str, str], None]

    @property
    def providers(self) -> dict[str, str]:
        """Where a person authorises each provider there is."""
        return {PROVIDER: f"{self.page.origin}{AT}{PROVIDER}"}

    def answer(self, request: Request) -> Response:
        """Answer one *request* below `AT`."""
        return self.page.dressed(self._answer(request))

    def _answer(self, request: Request) -> Response:
        provider = request.path.removeprefix(AT)
        if provider not in self.providers or request.method not in {"GET", "POST"}:
            return self.page.refusal("There is no such page.", 404)
        name = self.page.name_of(request)
        if name is None:
            return self._said("Not signed in", WHO, 401)
        if request.method == "GET":
            return self._said(f"Allow {provider}?", ASKS, provider=provider, name=name)
        try:
            self.page.check_form(request)
        except NotAnswered as refused:
            return self.page.refusal(str(refused), 400)
        try:
            self.grant(name, provider)
        except (httpx.HTTPError, *AWAY):
            return self._said("Not allowed yet", AGAIN, 503)
        return self._said("Allowed", DONE)

    def _said(self, title: str, body: str, status: int = 200, **told: str) -> Response:
        filled = {name: html.escape(value) for name, value in told.items()}
        shown = Template(body).substitute(filled, console=self.page.console)
        return Response(PAGE.substitute(title=html.escape(title), body=shown), status, mimetype="text/html")
