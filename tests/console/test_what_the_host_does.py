"""What stands behind the page at `make up`: the API on the same origin, and the store of files beside it."""

from http.client import HTTPConnection

import httpx
from playwright.sync_api import expect

from tests.console.conftest import Site
from tests.support.browsing import Visit
from tests.support.consoles import sign_in

SEND = """async ([token, task]) => {
  const asked = await fetch(`/v1/tasks/${task}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'a.txt', mimeType: 'text/plain', sizeBytes: 5 }),
  });
  const { file, upload } = await asked.json();
  const sent = await fetch(upload.url, { method: upload.method, headers: upload.headers, body: 'hello' });
  return [asked.status, sent.status, file];
}"""
HELLO = {"agent": "echo", "input": {"message": [{"mimeType": "text/plain", "text": "hello"}]}}


def test_the_page_may_send_a_file_straight_to_the_store(visit: Visit, site: Site) -> None:
    token = sign_in(site.console, "alice")
    bearer = {"authorization": f"Bearer {token}"}
    made = httpx.post(f"{site.console}/v1/tasks", json=HELLO, headers=bearer, timeout=60)
    visit.open("/signed-out")
    expect(visit.page.get_by_role("button", name="Sign in")).to_be_visible()

    asked, sent, file = visit.page.evaluate(SEND, [token, made.json()["id"]])

    assert (made.status_code, asked, sent) == (202, 201, 200)
    assert file.startswith("task://")


def test_the_api_answers_through_the_console_as_it_does_by_itself(site: Site) -> None:
    bearer = {"authorization": f"Bearer {sign_in(site.console, 'bob')}"}
    through, direct = (
        httpx.get(f"{base}/v1/tasks/{'0' * 32}", headers=bearer, timeout=60)
        for base in (site.console, site.deployed.base_url)
    )
    made = httpx.post(f"{site.console}/v1/tasks", json={"agent": "echo"}, headers=bearer, timeout=60)
    task = f"{site.console}/v1/tasks/{made.json()['id']}"
    etag = httpx.get(task, headers=bearer, timeout=60).headers["etag"]
    known = httpx.get(task, headers={**bearer, "if-none-match": etag}, timeout=60)

    assert (through.status_code, through.text) == (direct.status_code, direct.text)
    assert through.status_code == 404
    assert (known.status_code, known.headers["etag"], known.content) == (304, etag, b"")


def test_the_console_says_that_the_api_is_away_and_serves_it_when_it_is_back(site: Site) -> None:
    engine = site.deployed.engine
    bearer = {"authorization": f"Bearer {sign_in(site.console, 'alice')}"}
    tasks = f"{site.console}/v1/tasks"
    before = httpx.get(tasks, headers=bearer, timeout=60)

    engine.stop()
    away, page = httpx.get(tasks, headers=bearer, timeout=60), httpx.get(site.console)
    engine.start()
    after = httpx.get(tasks, headers=bearer, timeout=60)

    assert (away.status_code, away.headers["content-type"]) == (503, "application/problem+json")
    assert away.headers["retry-after"] == "1"
    assert page.status_code == 200
    assert (after.status_code, after.json()) == (200, before.json())


def test_only_the_api_and_the_page_are_behind_it(site: Site) -> None:
    """The engine would do anything for anybody."""
    page = httpx.get(site.console).text
    for path in ("/_ministack/health", "/v1/../_ministack/health", "/v1/../../../../_ministack/health"):
        # By hand: any client of today would tidy the path before it is sent.
        asked = HTTPConnection(site.console.removeprefix("http://"), timeout=60)
        asked.request("GET", path)
        answer = asked.getresponse()
        said = answer.read().decode()
        asked.close()

        assert answer.status == 404 or said == page, path
    assert httpx.get(f"{site.console}/README.md").status_code == 404
    assert httpx.get(f"{site.console}/app/nothing.js").status_code == 404
    assert httpx.post(f"{site.console}/config.json").status_code == 405
