"""When the server is away, or nobody looks."""

from contextlib import ExitStack

from playwright.sync_api import Page, expect

from offline.console import console
from offline.engine import free_port
from tests.console.conftest import Site, Visits
from tests.console.person import Person, said

HIDE = """hidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_what_is_sent_while_the_server_is_away_goes_out_when_it_is_back(
    alice: Person, visits: Visits, site: Site
) -> None:
    task = alice.create("echo", "Before")
    port = free_port()
    visit = visits()
    visit.origin = f"http://127.0.0.1:{port}"
    visit.expects(f"ERR_CONNECTION|:{port}/|Failed to load")
    person = Person(alice.name, visit, alice.api, site.deployed)

    def serving() -> ExitStack:
        running = ExitStack()
        running.enter_context(console(site.deployed.engine, site.deployed.deployment, port=port, issuer=None))
        return running

    running = serving()
    try:
        visit.open(f"/#/tasks/{task}")
        visit.sign_in(alice.name)
        expect(person.messages(".is-output")).to_have_count(1)
        running.close()
        person.say("While you were away")
        expect(visit.page.locator("#away")).to_contain_text("The server does not answer")
        expect(person.messages(".is-waiting")).to_contain_text("goes out as soon as the server is back")
        person.field.fill("A draft")
        person.ask("POST", f"tasks/{task}/inputs", json={"message": said("Aside")})
        running = serving()
        visit.page.get_by_role("button", name="Try now").click()

        expect(visit.page.locator("#away")).to_be_empty()
        expect(person.messages(".is-output").filter(has_text="While you were away")).to_have_count(1)
        expect(person.messages(".is-input").filter(has_text="Aside")).to_have_count(1)
        expect(person.field).to_have_value("A draft")
        assert len(person.messages(".is-input").all()) == 3
    finally:
        running.close()


def test_a_page_that_nobody_sees_looks_seldom_and_at_once_when_it_is_seen_again(alice: Person) -> None:
    page = alice.page
    task = alice.create("echo", "One")
    alice.until(task, lambda status: bool(status["phase"] == "idle"))
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
    with page.expect_response(f"**/v1/tasks/{task}") as seen:
        page.evaluate(HIDE, arg=False)

    assert 1 <= len(unseen) <= 3
    assert seen.value.status == 304


def settle(page: Page) -> None:
    """Let what was asked be answered."""
    page.wait_for_load_state("networkidle")
