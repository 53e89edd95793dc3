"""My tasks: begun, found again, and their conversations followed to the end."""

import re

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.console.conftest import Site
from tests.console.person import Person, said
from tests.support.hosts import HostClient


def rows(page: Page) -> Locator:
    return page.locator(".task")


def test_a_new_task_is_begun_watched_and_found_again(alice: Person) -> None:
    expect(alice.page.get_by_text("No tasks yet")).to_be_visible()
    task = alice.start("echo", "Where is my parcel?")

    expect(alice.messages(".is-output")).to_have_text(re.compile("Where is my parcel?"))
    expect(alice.messages(".is-input")).to_contain_text("Seen")
    expect(alice.page.locator(".facts")).to_contain_text("ASC-3001")
    alice.go("#/")
    expect(rows(alice.page)).to_contain_text([re.compile(f"echo.*{task[:8]}.*Awaiting input")])


def test_the_list_is_filtered_by_phase_and_goes_on_to_older_tasks(alice: Person) -> None:
    short_lived = alice.create("mayfly", "Brief")
    alice.until(short_lived, lambda status: status["phase"] == "terminal")
    for _ in range(31):
        assert alice.ask("POST", "tasks", json={"agent": "echo"}).status_code == 201
    alice.go("#/?phase=idle")
    expect(rows(alice.page)).to_have_count(30)
    alice.page.get_by_role("button", name="Show older tasks").click()
    expect(rows(alice.page)).to_have_count(31)

    alice.page.get_by_role("link", name="Ended").click()
    expect(rows(alice.page)).to_contain_text(["mayfly"])
    alice.page.get_by_role("link", name="Working").click()
    expect(alice.page.get_by_text("None of your tasks is being worked on.")).to_be_visible()


def test_what_is_sent_to_a_busy_agent_has_arrived_and_is_seen_later(alice: Person) -> None:
    alice.start("slow_echo", "First")
    expect(alice.messages(".is-output").first).to_contain_text("Thinking about 1 input(s)")
    alice.say("Second, while you think")

    second = alice.messages(".is-input").nth(1)
    expect(second).to_contain_text("Arrived, not seen yet")
    expect(second).to_contain_text("Seen")
    expect(alice.messages(".is-output").last).to_contain_text("Second, while you think")


def test_an_answer_that_was_lost_is_asked_for_again_and_what_was_sent_is_there_once(alice: Person) -> None:
    alice.visit.expects("ERR_FAILED")
    task = alice.start("echo", "First")
    expect(alice.messages(".is-output")).to_have_count(1)
    lost: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        lost.append(route.request.headers["idempotency-key"])
        answer = route.fetch()
        if len(lost) == 1:
            route.abort()
        else:
            route.fulfill(response=answer)

    alice.page.route("**/inputs", lose_the_first_answer)
    alice.say("Exactly once")
    expect(alice.messages(".is-output")).to_have_count(2)

    assert len(lost) == 2
    assert len(set(lost)) == 1
    assert [entry["type"] for entry in alice.entries(task)] == ["input", "output", "input", "output"]
    expect(alice.messages(".is-input")).to_have_count(2)


def test_what_was_sent_arrives_also_when_one_looks_elsewhere_at_once(alice: Person) -> None:
    task = alice.start("echo", "First")
    expect(alice.messages(".is-output")).to_have_count(1)
    going: list[Route] = []

    def going_on(route: Route) -> None:
        going.append(route)

    alice.page.route("**/inputs", going_on)
    alice.say("On my way out")
    expect(alice.messages(".is-sending")).to_have_count(1)
    alice.go("#/")
    expect(rows(alice.page)).to_have_count(1)
    (late,) = going
    late.continue_()
    alice.go(f"#/tasks/{task}")

    expect(alice.messages(".is-output").last).to_contain_text("On my way out")
    assert [entry["type"] for entry in alice.entries(task)] == ["input", "output", "input", "output"]


def test_what_was_on_its_way_when_the_page_was_left_is_sent_by_the_next(alice: Person) -> None:
    task = alice.start("echo", "First")
    expect(alice.messages(".is-output")).to_have_count(1)
    alice.page.route("**/inputs", lambda route: route.abort(), times=100)
    alice.visit.expects("ERR_FAILED")
    alice.say("Interrupted")
    expect(alice.messages(".is-waiting")).to_have_count(1)
    alice.page.unroute("**/inputs")
    alice.go("#/")
    with alice.page.expect_response("**/inputs") as sent:
        alice.page.reload()
    expect(rows(alice.page)).to_have_count(1)
    alice.go(f"#/tasks/{task}")

    assert sent.value.status == 202
    expect(alice.messages(".is-output").last).to_contain_text("Interrupted")
    assert [entry["type"] for entry in alice.entries(task)] == ["input", "output", "input", "output"]


def test_a_task_is_made_once_however_often_the_answer_is_lost(alice: Person) -> None:
    alice.visit.expects("ERR_FAILED")
    tries: list[str] = []

    def lose_the_first_answer(route: Route) -> None:
        if route.request.method != "POST":
            route.fallback()
            return
        tries.append(route.request.headers["idempotency-key"])
        answer = route.fetch()
        if len(tries) == 1:
            route.abort()
        else:
            route.fulfill(response=answer)

    alice.page.route("**/v1/tasks", lose_the_first_answer)
    alice.start("echo", "Only one of me")

    assert len(tries) == 2
    assert len(alice.ask("GET", "tasks").json()["tasks"]) == 1


def test_a_task_that_went_idle_counts_down_and_ends_when_it_said(alice: Person) -> None:
    alice.start("mayfly", "Brief")
    facts = alice.page.locator(".facts")
    expect(facts.locator(".ends")).to_contain_text(re.compile(r"Ends in\s*0:0[0-5]"))

    expect(alice.page.get_by_text("This task has ended.")).to_be_visible()
    expect(alice.field).to_have_count(0)
    expect(facts).to_contain_text("ASC-2000")
    alice.page.get_by_role("link", name="New task with mayfly").click()
    expect(alice.page.get_by_role("heading", name="New task with mayfly")).to_be_visible()


def test_whatever_an_agent_says_stays_text(alice: Person) -> None:
    attack = (
        "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
        "<a href='javascript:alert(1)'>x</a> javascript:alert(1) http://evil.example/ https://example.com/\u202egnp"
    )
    alice.start("echo", attack)
    answer = alice.messages(".is-output").locator(".text")

    expect(answer).to_have_text(attack.replace("https://example.com/\u202e", "https://example.com/\u202e"))
    assert alice.page.locator("main img, main script").count() == 0
    links = answer.locator("a")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://example.com/")
    expect(links).to_have_attribute("rel", re.compile("noopener"))
    assert "owned" not in alice.page.title()


def test_another_persons_task_is_no_task(alice: Person, site: Site) -> None:
    alice.visit.expects("404")
    with site.deployed.http("bob-elsewhere") as api:
        theirs = Person("bob-elsewhere", alice.visit, api, site.deployed).create("echo", "Not for Alice")
    for task in (theirs, "0" * 32, "no-id", "..%2F..%2Fconfig.json"):
        alice.go(f"#/tasks/{task}")
        expect(alice.page.get_by_text("There is no such task for you")).to_be_visible()
        alice.go("#/nowhere")
        expect(alice.page.get_by_text("This address leads nowhere.")).to_be_visible()


@pytest.mark.usefixtures("desk")
def test_parameters_are_a_form_and_what_is_refused_is_said_at_its_field(alice: Person) -> None:
    alice.visit.expects("422")
    page = alice.page
    alice.go("#/new/travel_desk")
    page.get_by_label("Message").fill("Go")
    page.get_by_role("button", name="Start the task").click()
    expect(page.locator("#field-to-error")).to_have_text("This is needed.")
    expect(page.get_by_label("Destination")).to_be_focused()

    page.get_by_label("Destination").fill("Bern")
    page.get_by_label("At most, in EUR").fill("-1")
    page.get_by_role("button", name="Start the task").click()
    expect(page.locator("#field-price-error")).to_contain_text("0")
    page.get_by_label("At most, in EUR").fill("80")
    page.get_by_role("button", name="Start the task").click()

    expect(alice.messages(".is-input").locator(".besides")).to_contain_text("Bern")
    expect(page.get_by_label("Destination")).to_be_visible()


def test_what_a_guardrail_refuses_says_why(alice: Person, desk: HostClient) -> None:
    answer = alice.ask(
        "POST",
        "tasks",
        json={"agent": "travel_desk", "input": {"message": said("Go to the moon"), "to": "Moon"}},
    )
    task = answer.json()["id"]
    alice.go(f"#/tasks/{task}")
    expect(alice.messages(".is-input")).to_contain_text("Arrived, not seen yet")
    desk.post(task, "turns")

    expect(alice.messages(".is-input")).to_contain_text("Refused: No trains go there.".replace(": ", ":"))
    expect(alice.messages(".is-output")).to_contain_text("A guardrail refused your message")


@pytest.mark.usefixtures("desk")
def test_what_was_refused_can_be_mended_and_sent_again(alice: Person) -> None:
    alice.visit.expects("422")
    page = alice.page
    task = alice.ask(
        "POST", "tasks", json={"agent": "travel_desk", "input": {"message": said("Go"), "to": "Bern"}}
    ).json()["id"]
    alice.go(f"#/tasks/{task}")
    page.get_by_label("Destination").fill("Basel")
    page.get_by_label("At most, in EUR").fill("-5")
    alice.say("And back")
    expect(page.get_by_text("Not sent")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    expect(alice.field).to_have_value("And back")
    expect(page.locator("#field-price-error")).to_contain_text("0")
    page.get_by_label("At most, in EUR").fill("5")
    page.get_by_role("button", name="Send").click()

    expect(alice.messages(".is-input")).to_have_count(2)
    expect(alice.messages(".is-input").nth(1)).to_contain_text("Arrived, not seen yet")


def test_a_file_goes_up_is_named_and_comes_down_again(alice: Person) -> None:
    page = alice.page
    alice.start("echo", "Here comes a file")
    expect(alice.messages(".is-output")).to_have_count(1)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files({"name": "week 48.csv", "mimeType": "text/csv", "buffer": b"a,b\n1,2\n"})
    expect(page.get_by_role("button", name="Remove week 48.csv")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Remove week 48.csv")).to_be_visible()
    page.get_by_role("button", name="Send").click()
    card = alice.messages(".is-input").locator(".file").last
    expect(card).to_contain_text("text/csv · 8 bytes")
    with page.expect_download() as downloaded:
        card.get_by_role("button", name="Download week 48.csv").click()

    assert downloaded.value.path().read_bytes() == b"a,b\n1,2\n"
    assert downloaded.value.suggested_filename == "week 48.csv"


def test_unchanged_polls_are_answered_by_304_and_messages_are_read_by_their_cursor(alice: Person) -> None:
    task = alice.create("slow_echo", "Slowly")
    polls: list[int] = []
    reads: list[str] = []

    def answered(response: object) -> None:
        url, status = getattr(response, "url", ""), getattr(response, "status", 0)
        if url.endswith(f"/v1/tasks/{task}"):
            polls.append(status)
        elif "/messages" in url:
            reads.append(url)

    alice.page.on("response", answered)
    alice.go(f"#/tasks/{task}")
    expect(alice.messages(".is-output")).to_have_count(2)
    alice.page.wait_for_function("() => true")
    alice.page.wait_for_event("response", lambda response: response.status == 304)

    assert 304 in polls
    assert "after=" not in reads[0]
    assert all("after=" in read for read in reads[1:])
    assert len(reads) == len([status for status in polls if status == 200])
