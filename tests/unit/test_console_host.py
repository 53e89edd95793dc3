"""The console's host at `make up`: whatever comes, it answers in its own words, and hands on what HTTP can carry."""

from collections.abc import Callable

import httpx
import pytest
from botocore.exceptions import EndpointConnectionError
from joserfc.jwk import RSAKey
from werkzeug.test import Client, TestResponse

from infra.page import NOT_SERVED
from offline.consent import Consent
from offline.console import Front
from offline.deployment import Deployment
from offline.endpoint import Endpoint
from offline.issuer import Issuer
from offline.signin import SignInPage

PORT = 4511
CONSOLE, ORIGIN = f"http://127.0.0.1:{PORT}", f"http://localhost:{PORT}"
API = "http://127.0.0.1:4510/_aws/execute-api/abc"

type Answers = Callable[[httpx.Request], httpx.Response]
type Opens = Callable[..., Client]


@pytest.fixture(scope="module")
def key() -> RSAKey:
    return RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)


@pytest.fixture
def opens(key: RSAKey) -> Opens:
    """A browser at the host; *api* is what stands behind it."""

    def open_(api: Answers, grant: Callable[[str, str], None] = lambda *_: None) -> Client:
        page = SignInPage(CONSOLE, ORIGIN, Issuer(ORIGIN, key), b"s" * 32, lambda name: f"token of {name}")
        deployment = Deployment(API, Endpoint("http://127.0.0.1:4510"), {})
        behind = httpx.Client(transport=httpx.MockTransport(api))
        return Client(Front(PORT, deployment, page, Consent(page, grant), behind))

    return open_


def nobody(request: httpx.Request) -> httpx.Response:
    raise AssertionError(f"asked for {request.url}")


def raises(error: Exception) -> Answers:
    def answers(_: httpx.Request) -> httpx.Response:
        raise error

    return answers


def test_a_header_reaches_the_api_byte_for_byte(opens: Opens) -> None:
    heard: list[bytes] = []

    def answers(request: httpx.Request) -> httpx.Response:
        heard.extend(value for name, value in request.headers.raw if name.lower() == b"idempotency-key")
        return httpx.Response(400, text="no such key")

    answer = opens(answers).post("/v1/tasks", base_url=CONSOLE, headers={"Idempotency-Key": "caf\u00e9"})

    assert (answer.status_code, heard) == (400, [b"caf\xe9"])


def test_what_http_cannot_carry_is_the_senders_fault(opens: Opens) -> None:
    def sent(uri: str) -> TestResponse:
        return opens(nobody).get("/v1/tasks", base_url=CONSOLE, environ_overrides={"REQUEST_URI": uri})

    for uri in ("/v1/tasks?a=\x7f", "/v1/tasks?a=\x01"):
        assert sent(uri).status_code == 400
    unsent = opens(raises(httpx.LocalProtocolError("Illegal header value")))
    assert unsent.get("/v1/tasks", base_url=CONSOLE).status_code == 400


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (httpx.ConnectError("refused"), 503),
        (httpx.RemoteProtocolError("cut"), 503),
        (httpx.DecodingError("no gzip"), 503),
        (httpx.ReadTimeout("late"), 504),
    ],
)
def test_an_api_that_does_not_answer_is_away(opens: Opens, error: Exception, status: int) -> None:
    answer = opens(raises(error)).get("/v1/tasks", base_url=CONSOLE)

    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert answer.headers["retry-after"] == "1"


def test_what_lies_beside_the_files_is_not_served_however_it_is_spelt(opens: Opens) -> None:
    browser = opens(nobody)

    assert NOT_SERVED == ("*.md",)
    for path in ("/README.md", "/README.md/.", "/./README.md", "/app/../README.md"):
        answer = browser.get(path, base_url=CONSOLE)
        assert answer.status_code == 404, path


@pytest.mark.parametrize(
    "error", [EndpointConnectionError(endpoint_url="http://pool"), httpx.ConnectError("refused")], ids=str
)
def test_a_consent_that_the_stack_does_not_hear_can_be_given_again(opens: Opens, error: Exception) -> None:
    heard: list[str] = []

    def grant(name: str, _: str) -> None:
        heard.append(name)
        if len(heard) == 1:
            raise error

    browser = opens(nobody, grant)
    asked = {
        "client_id": "turnkeeper-console",
        "redirect_uri": f"{CONSOLE}/signed-in",
        "response_type": "code",
        "scope": "openid",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    sent = {"base_url": ORIGIN, "headers": {"origin": ORIGIN}}
    signed_in = browser.post("/authorize", query_string=asked, data={"name": "alice"}, **sent)
    away = browser.post("/providers/calendar", **sent)
    again = browser.post("/providers/calendar", **sent)

    assert (signed_in.status_code, away.status_code, again.status_code) == (303, 503, 200)
    assert "Try again" in away.text
    assert heard == ["alice", "alice"]
