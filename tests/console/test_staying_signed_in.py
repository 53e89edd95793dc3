"""Being signed in: a link leads where it leads, and nothing that was written is lost on the way."""

from collections.abc import Callable

from playwright.sync_api import Route, expect

from tests.console.conftest import Site, Visits
from tests.console.person import Person

KEPT = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])"


def test_a_link_to_a_task_is_still_one_after_signing_in(
    alice: Person, people: Callable[..., Person], site: Site
) -> None:
    task = alice.create("echo", "Remember me")
    elsewhere = people(alice.name, at=f"/#/tasks/{task}")

    expect(elsewhere.messages(".is-output")).to_contain_text("Remember me")
    assert elsewhere.page.url == f"{site.console}/#/tasks/{task}"


def test_a_reload_asks_nobody_anything_and_keeps_what_was_written(alice: Person) -> None:
    task = alice.create("echo", "One")
    alice.go(f"#/tasks/{task}")
    alice.field.fill("Half a sen")
    alice.page.reload()

    expect(alice.field).to_have_value("Half a sen")
    assert alice.page.url.endswith(f"#/tasks/{task}")


def test_a_token_that_ends_is_renewed_without_losing_the_view_or_a_draft(
    visits: Visits, alice: Person
) -> None:
    task = alice.create("echo", "One")
    given: list[str] = []

    def soon_over(route: Route) -> None:
        answer = route.fetch()
        given.append(answer.json()["access_token"])
        lifetime = 4 if len(given) == 1 else 3600
        route.fulfill(response=answer, json={**answer.json(), "expires_in": lifetime})

    visit = visits()
    visit.page.route("**/token", soon_over)
    visit.open(f"/#/tasks/{task}")
    visit.sign_in(alice.name)
    person = Person(alice.name, visit, alice.api, alice.deployed)
    person.field.fill("Half a sen")
    with visit.page.expect_request("**/authorize**"):
        pass

    expect(person.field).to_be_focused()
    expect(person.field).to_have_value("Half a sen")
    person.say("Whole")
    expect(person.messages(".is-input")).to_have_count(2)
    assert len(given) == 2


def test_a_token_that_is_refused_is_renewed_once_and_then_it_is_said(visits: Visits) -> None:
    visit = visits()
    visit.expects("401")
    visit.page.clock.install()
    visit.open()
    visit.sign_in("alice-refused")
    expect(visit.page.get_by_text("No tasks yet")).to_be_visible()
    visit.page.route(
        "**/v1/tasks**", lambda route: route.fulfill(status=401, json={"message": "Unauthorized"})
    )
    with visit.page.expect_request("**/authorize**"):
        visit.page.clock.fast_forward(15_000)

    expect(visit.page.get_by_text("You are not signed in any more.")).to_be_visible()


def test_an_issuer_that_says_no_is_heard(visits: Visits, site: Site) -> None:
    visit = visits()

    def refuse(route: Route) -> None:
        state = route.request.url.partition("state=")[2].partition("&")[0]
        back = f"{site.console}/signed-in?error=access_denied&state={state}"
        route.fulfill(status=302, headers={"location": back})

    visit.page.route("**/authorize**", refuse)
    visit.open()

    expect(visit.page.get_by_text("You are not signed in")).to_be_visible()
    expect(visit.page.get_by_text("access_denied")).to_be_visible()


def test_who_signs_out_leaves_nothing_that_they_wrote(alice: Person) -> None:
    task = alice.create("echo", "Private")
    alice.go(f"#/tasks/{task}")
    alice.field.fill("Half a sen")
    assert "Half a sen" in alice.page.evaluate(KEPT)
    alice.page.get_by_role("button", name="Sign out").click()
    expect(alice.page.get_by_text("You are signed out.")).to_be_visible()

    assert "Half a sen" not in alice.page.evaluate(KEPT)


def test_what_somebody_else_wrote_in_this_tab_is_not_shown(alice: Person) -> None:
    alice.go("#/new/echo")
    alice.page.get_by_label("Message").fill("Alice's secret")
    alice.page.context.clear_cookies()
    alice.page.reload()
    alice.visit.sign_in("bob-after-alice")

    expect(alice.page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(alice.page.get_by_label("Message")).to_have_value("")
