"""What waits for a person: approved, denied with a comment, signed in to."""

import re

from playwright.sync_api import expect

from tests.console.person import Person
from tests.support.hosts import HostClient


def test_from_a_new_task_to_an_approved_review(alice: Person) -> None:
    page = alice.page
    alice.start("concierge", "Book the 8:15 to Lyon")
    expect(page.get_by_role("heading", name="Sign in to calendar")).to_be_visible()
    expect(page.locator("#nav")).to_contain_text("1 waits for you")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in to calendar").click()
    opened.value.get_by_role("button", name="Allow").click()
    expect(opened.value.get_by_text("The task goes on by itself.")).to_be_visible()
    opened.value.close()
    card = page.locator(".card.is-review")
    expect(card).to_contain_text("Book the 8:15 to Lyon")
    card.get_by_role("button", name="Approve").click()

    expect(alice.messages(".is-output").last).to_contain_text("They say: Book the 8:15 to Lyon")
    expect(card).to_have_count(0)
    expect(page.locator("#count")).to_be_hidden()
    expect(page).to_have_title(re.compile("^Task"))


def test_a_review_is_denied_with_a_comment_that_the_agent_hears(alice: Person) -> None:
    page = alice.page
    task = alice.create("concierge", "Sell the house")
    alice.until(task, lambda status: bool(status["notifications"]))
    alice.grant(task, "calendar")
    alice.go("#/waiting")
    card = page.locator(".card.is-review")
    expect(card).to_contain_text("Sell the house")
    card.get_by_label("Comment").fill("Not the house, please.")
    page.reload()
    expect(card.get_by_label("Comment")).to_have_value("Not the house, please.")
    card.get_by_role("button", name="Deny").click()

    expect(page.get_by_text("Nothing waits for you")).to_be_visible()
    expect(page.locator("#live")).to_contain_text("Denied.")
    alice.go(f"#/tasks/{task}")
    expect(alice.messages(".is-output").last).to_contain_text("Then I leave it (Not the house, please.).")


def test_a_review_that_was_decided_elsewhere_says_so(alice: Person) -> None:
    alice.visit.expects("409")
    page = alice.page
    task = alice.create("concierge", "Twice")
    alice.until(task, lambda status: bool(status["notifications"]))
    alice.grant(task, "calendar")
    alice.until(task, lambda status: any(one["kind"] == "review_required" for one in status["notifications"]))
    alice.go("#/waiting")
    card = page.locator(".card.is-review")
    card.get_by_label("Comment").fill("No.")
    (review,) = alice.ask("GET", "reviews").json()["reviews"]
    page.route("**/v1/reviews?**", lambda route: route.fulfill(json={"reviews": [review], "next": None}))
    alice.ask("POST", f"reviews/{review['id']}", json={"decision": "approve"})
    card.get_by_role("button", name="Deny").click()

    expect(card.get_by_role("alert")).to_contain_text("This is over already.")


def test_a_sign_in_opens_where_the_agent_says_and_nowhere_unsafe(alice: Person, desk: HostClient) -> None:
    page = alice.page
    registered = desk.register("linker")
    assert registered.is_success, registered.text
    task = alice.create("linker", "Look into my mail")
    fence = desk.post(task, "turns").json()["turn"]["fence"]
    links = "Sign in at https://mail.example/consent?x=1 or javascript:alert(1) or http://mail.example/"
    desk.post(
        task, "outputs", {"fence": fence, "number": 1, "message": [{"mimeType": "text/plain", "text": links}]}
    )
    waits = [{"id": "mail", "kind": "auth", "provider": "mail"}]
    desk.post(task, "wait", {"fence": fence, "waits": waits})
    alice.go(f"#/tasks/{task}")
    button = page.locator(".card.is-sign-in a")

    expect(button).to_have_count(1)
    expect(button).to_have_attribute("href", "https://mail.example/consent?x=1")
    expect(button).to_have_attribute("rel", "noopener noreferrer")
    expect(button).to_have_attribute("target", "_blank")
    expect(button).to_contain_text("at mail.example")
