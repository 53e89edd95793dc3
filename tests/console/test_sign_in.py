"""Signing in and out: a link leads where it leads, a token lies nowhere, and nothing written is lost."""

import re

from playwright.sync_api import Page, Request, Route, expect

from tests.console.conftest import Served, Watched
from tests.console.person import Person

STORED = "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"


def test_a_link_to_a_task_is_still_one_after_signing_in(served: Served, page: Page) -> None:
    with served.api("alice-deep") as api:
        alice = Person("alice-deep", page, api, served.origin)
        task = alice.create("echo", "Remember me")
        alice.sign_in(f"#/tasks/{task}")

        expect(alice.messages(".is-output")).to_have_text(re.compile("Remember me"))
        assert page.url == f"{served.origin}/#/tasks/{task}"


def test_no_token_is_in_an_address_or_kept_anywhere(served: Served, page: Page) -> None:
    addresses: list[str] = []
    bearers: set[str] = set()

    def sent(request: Request) -> None:
        addresses.append(request.url)
        if bearer := request.headers.get("authorization"):
            bearers.add(bearer.removeprefix("Bearer "))

    page.on("request", sent)
    with served.api("alice-secret") as api:
        alice = Person("alice-secret", page, api, served.origin)
        alice.sign_in()
        expect(page.get_by_text("No tasks yet")).to_be_visible()
    kept = page.evaluate(STORED)

    (token,) = bearers
    assert not any(token in address for address in addresses)
    assert token not in kept
    assert "verifier" not in kept
    assert "code=" not in page.url


def test_a_reload_asks_nobody_anything_and_keeps_what_was_written(alice: Person) -> None:
    task = alice.create("echo", "One")
    alice.go(f"#/tasks/{task}")
    field = alice.page.get_by_label("Message", exact=True)
    field.fill("Half a sen")
    alice.page.reload()

    expect(field).to_have_value("Half a sen")
    assert alice.page.url.endswith(f"#/tasks/{task}")


def test_a_token_that_ends_is_renewed_without_losing_the_view_or_a_draft(served: Served, page: Page) -> None:
    given: list[str] = []

    def soon_over(route: Route) -> None:
        answer = route.fetch()
        given.append(answer.json()["access_token"])
        lifetime = 4 if len(given) == 1 else 3600
        route.fulfill(response=answer, json={**answer.json(), "expires_in": lifetime})

    page.route("**/token", soon_over)
    with served.api("alice-renews") as api:
        alice = Person("alice-renews", page, api, served.origin)
        task = alice.create("echo", "One")
        alice.sign_in(f"#/tasks/{task}")
        field = page.get_by_label("Message", exact=True)
        field.fill("Half a sen")
        with page.expect_request("**/authorize**"):
            pass
        expect(field).to_have_value("Half a sen")
        expect(field).to_be_focused()
        alice.say("Whole")
        expect(alice.messages(".is-input")).to_have_count(2)

    assert len(given) == 2


def test_a_refused_token_is_renewed_once_and_then_it_is_said(served: Served, watched: Watched) -> None:
    page = watched.page
    watched.allowed.add("401")
    page.clock.install()
    with served.api("alice-refused") as api:
        alice = Person("alice-refused", page, api, served.origin)
        alice.sign_in()
        expect(page.get_by_text("No tasks yet")).to_be_visible()
        page.route("**/v1/tasks**", lambda route: route.fulfill(status=401, json={"message": "Unauthorized"}))
        with page.expect_request("**/authorize**"):
            page.clock.fast_forward(15_000)

        expect(page.get_by_text("You are not signed in any more.")).to_be_visible()


def test_a_sign_in_that_was_not_asked_for_here_is_refused(served: Served, page: Page) -> None:
    page.goto(f"{served.origin}/signed-in?code=stolen&state=foreign")

    expect(page.get_by_text("You are not signed in")).to_be_visible()
    assert page.url == f"{served.origin}/"


def test_an_issuer_that_says_no_is_heard(served: Served, page: Page) -> None:
    page.route(
        "**/authorize**",
        lambda route: route.fulfill(
            status=302,
            headers={
                "location": f"{served.origin}/signed-in?error=access_denied&state="
                + re.findall(r"[?&]state=([^&]+)", route.request.url)[0]
            },
        ),
    )
    page.goto(served.origin)
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_text("access_denied")).to_be_visible()


def test_who_signs_out_leaves_nothing_behind(alice: Person, served: Served) -> None:
    task = alice.create("echo", "Private")
    alice.go(f"#/tasks/{task}")
    alice.page.get_by_label("Message", exact=True).fill("Half a sen")
    alice.page.get_by_role("button", name="Sign out").click()
    expect(alice.page.get_by_text("You are signed out.")).to_be_visible()
    assert "Half" not in alice.page.evaluate(STORED)

    alice.page.goto(f"{served.origin}/#/tasks/{task}")
    alice.page.get_by_role("button", name="Sign in").click()

    expect(alice.page.get_by_label("Name")).to_be_visible()
