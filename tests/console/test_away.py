"""When the server is away, or nobody looks."""

from playwright.sync_api import Page, expect

from tests.console.conftest import Served, Watched
from tests.console.person import Person

HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_server_that_is_away_is_said_and_what_was_sent_meanwhile_goes_out_when_it_is_back(
    alice: Person, served: Served, watched: Watched
) -> None:
    watched.allowed.update({"ERR_CONNECTION", "Failed to load resource"})
    page = alice.page
    task = alice.start("echo", "Before")
    expect(alice.messages(".is-output")).to_have_count(1)
    served.stop()
    try:
        alice.say("While you were away")
        expect(page.locator("#away")).to_contain_text("The server does not answer")
        expect(alice.messages(".is-waiting")).to_contain_text("goes out as soon as the server is back")
        page.get_by_label("Message", exact=True).fill("A draft")
        alice.ask(
            "POST", f"tasks/{task}/inputs", json={"message": [{"mimeType": "text/plain", "text": "Aside"}]}
        )
    finally:
        served.start()
    page.get_by_role("button", name="Try now").click()

    expect(page.locator("#away")).to_be_empty()
    expect(alice.messages(".is-output").filter(has_text="While you were away")).to_have_count(1)
    expect(alice.messages(".is-input").filter(has_text="Aside")).to_have_count(1)
    expect(page.get_by_label("Message", exact=True)).to_have_value("A draft")
    assert len(alice.messages(".is-input").all()) == 3


def test_a_page_that_nobody_sees_looks_seldom_and_at_once_when_it_is_seen_again(alice: Person) -> None:
    page = alice.page
    task = alice.create("echo", "One")
    alice.until(task, lambda status: status["phase"] == "idle")
    page.clock.install()
    alice.go(f"#/tasks/{task}")
    expect(alice.messages(".is-output")).to_have_count(1)
    looks: list[str] = []
    page.on("request", lambda request: looks.append(request.url))
    page.evaluate(HIDE, arg=True)
    settle(page)
    looks.clear()
    for _ in range(12):
        page.clock.run_for(10_000)
        settle(page)
    unseen = [url for url in looks if url.endswith(task)]
    looks.clear()
    with page.expect_response(f"**/v1/tasks/{task}") as seen:
        page.evaluate(HIDE, arg=False)

    assert 1 <= len(unseen) <= 3
    assert seen.value.status == 304


def settle(page: Page) -> None:
    """Let what was asked be answered."""
    page.wait_for_load_state("networkidle")
