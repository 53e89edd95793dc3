"""Authorising a provider at the offline stack: asked on a page of its own, and recorded for nobody else."""

from collections.abc import Callable

import httpx
import pytest

from tests.console.conftest import Site, Visits
from tests.console.person import Person


@pytest.fixture
def sign_in_page(site: Site) -> str:
    return site.console.replace("127.0.0.1", "localhost")


def test_the_page_that_asks_is_for_everybody(people: Callable[..., Person], sign_in_page: str) -> None:
    carol = people("carol-consents")
    carol.page.goto(f"{sign_in_page}/providers/calendar")
    carol.visit.accessible()
    carol.page.get_by_role("button", name="Allow").click()
    carol.page.get_by_role("status").wait_for()

    carol.visit.accessible()


def test_nobody_consents_who_is_not_signed_in(visits: Visits, sign_in_page: str) -> None:
    visit = visits()
    visit.expects("401")
    visit.page.goto(f"{sign_in_page}/providers/calendar")

    assert visit.page.get_by_role("button").count() == 0
    assert "Nobody is signed in." in visit.page.inner_text("main")


def test_another_page_cannot_consent_for_somebody(people: Callable[..., Person], sign_in_page: str) -> None:
    dave = people("dave-tricked")
    task = dave.create("concierge", "Wait for me")
    dave.until(task, lambda status: bool(status["notifications"]))
    cookies = {one["name"]: one["value"] for one in dave.page.context.cookies(sign_in_page)}
    assert cookies
    sent = {"origin": "http://evil.example"}
    with httpx.Client(base_url=sign_in_page, cookies=cookies, headers=sent, timeout=60) as evil:
        tricked = evil.post("/providers/calendar")
        unknown = evil.post("/providers/bank")
        told = tricked.text + unknown.text

    assert (tricked.status_code, unknown.status_code) == (400, 404)
    assert "Allowed" not in told
    assert dave.standing(task)["notifications"][0]["kind"] == "user_auth_required"
