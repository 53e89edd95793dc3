"""The offline sign-in page: the code flow with PKCE, as strict as one on AWS."""

import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from botocore.exceptions import EndpointConnectionError
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.test import Client, TestResponse
from werkzeug.wrappers import Request

from offline.issuer import Issuer
from offline.signin import CLIENT, CODE_SECONDS, MOST_CODES, SignInPage, challenge_of

CONSOLE, ORIGIN = "http://127.0.0.1:4511", "http://localhost:4511"
BACK = f"{CONSOLE}/signed-in"
VERIFIER = "v" * 43
KEY = RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


class Browser:
    """Somebody's browser at the page."""

    def __init__(self, page: SignInPage) -> None:
        self.page = page
        self._client = Client(Request.application(page.answer))

    def ask(self, **changed: str | None) -> TestResponse:
        return self._client.get("/authorize", base_url=ORIGIN, query_string=asked(**changed))

    def say(self, name: str, origin: str = ORIGIN, /, **changed: str | None) -> TestResponse:
        return self._client.post(
            "/authorize",
            base_url=ORIGIN,
            query_string=asked(**changed),
            data={"name": name},
            headers={"origin": origin},
        )

    def code(self, name: str = "alice") -> str:
        return sent_back(self.say(name))["code"]

    def token(self, code: str, **changed: str) -> TestResponse:
        sent = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": CLIENT,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
        }
        return self._client.post("/token", base_url=ORIGIN, data=sent | changed)

    def whose(self, answer: TestResponse) -> str:
        """Whose token the console gets for the code in *answer*."""
        return str(told(self.token(sent_back(answer)["code"]))["access_token"])

    def get(self, path: str, **query: str) -> TestResponse:
        return self._client.get(path, base_url=ORIGIN, query_string=query)


def asked(**changed: str | None) -> dict[str, str]:
    """What the console asks for, but for what *changed*."""
    usual: dict[str, str | None] = {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": BACK,
        "scope": "openid",
        "state": "some state",
        "nonce": "some nonce",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    return {name: value for name, value in (usual | changed).items() if value is not None}


def told(answer: TestResponse) -> dict[str, Any]:
    """What an *answer* in JSON says."""
    assert isinstance(answer.json, dict)
    return answer.json


def sent_back(answer: TestResponse) -> dict[str, str]:
    """What the console is told, where *answer* sends the browser."""
    assert answer.status_code == 303
    where = urlsplit(answer.headers["location"])
    assert f"{where.scheme}://{where.netloc}{where.path}" == BACK
    return {name: value for name, (value,) in parse_qs(where.query).items()}


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def browser(clock: Clock) -> Browser:
    page = SignInPage(
        console=CONSOLE,
        origin=ORIGIN,
        issuer=Issuer(ORIGIN, KEY),
        secret=b"s" * 32,
        token_of=lambda name: f"token of {name}",
        clock=clock,
    )
    return Browser(page)


def test_whoever_says_a_name_is_signed_in_by_that_name(browser: Browser) -> None:
    asks = browser.ask()
    back = sent_back(browser.say("alice"))
    answer = browser.token(back["code"])
    claims = jwt.decode(told(answer)["id_token"], KEY).claims

    assert (asks.status_code, "Who are you?" in asks.text) == (200, True)
    assert back["state"] == "some state"
    assert told(answer) | {"id_token": ""} == {
        "access_token": "token of alice",
        "id_token": "",
        "token_type": "Bearer",
        "expires_in": 3600,
    }
    assert answer.headers["cache-control"] == "no-store"
    assert (claims["iss"], claims["aud"], claims["nonce"]) == (ORIGIN, CLIENT, "some nonce")
    assert claims["preferred_username"] == "alice"


def test_only_the_console_may_read_the_token(browser: Browser) -> None:
    answer = browser.token(browser.code())

    assert answer.headers["access-control-allow-origin"] == CONSOLE
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "changed",
    [
        {"code_verifier": "w" * 43},
        {"code_verifier": ""},
        {"redirect_uri": f"{CONSOLE}/"},
        {"redirect_uri": "https://evil.example/signed-in"},
    ],
)
def test_a_code_is_of_no_use_to_anybody_else(browser: Browser, changed: dict[str, str]) -> None:
    code = browser.code()

    refused = browser.token(code, **changed)

    assert (refused.status_code, told(refused)["error"]) == (400, "invalid_grant")
    assert "access_token" not in told(refused)
    # And it is used up by the attempt.
    assert browser.token(code).status_code == 400


@pytest.mark.parametrize(
    ("changed", "error"),
    [({"client_id": "another"}, "invalid_client"), ({"grant_type": "password"}, "unsupported_grant_type")],
)
def test_no_other_client_and_no_other_way_gets_a_token(
    browser: Browser, changed: dict[str, str], error: str
) -> None:
    refused = browser.token(browser.code(), **changed)

    assert (refused.status_code, told(refused)["error"]) == (400, error)


@pytest.mark.parametrize("verifier", ["", "v" * 42, "v" * 129, "\u00e9" * 43])
def test_a_verifier_that_could_be_guessed_or_is_none_gets_no_token(browser: Browser, verifier: str) -> None:
    code = sent_back(browser.say("alice", code_challenge=challenge_of(verifier)))["code"]

    refused = browser.token(code, code_verifier=verifier)

    assert (refused.status_code, told(refused)["error"]) == (400, "invalid_grant")


def test_a_pool_that_makes_no_token_now_is_told_to_the_console(browser: Browser) -> None:
    def away(_: str) -> str:
        raise EndpointConnectionError(endpoint_url="http://pool")

    browser.page.token_of = away
    answer = browser.token(browser.code())

    assert (answer.status_code, told(answer)["error"]) == (503, "temporarily_unavailable")
    assert answer.headers["access-control-allow-origin"] == CONSOLE


def test_a_code_is_good_once(browser: Browser) -> None:
    code = browser.code()
    first, second = browser.token(code), browser.token(code)

    assert (first.status_code, second.status_code) == (200, 400)
    assert told(second)["error"] == "invalid_grant"


def test_a_code_is_good_for_a_minute(browser: Browser, clock: Clock) -> None:
    code = browser.code()
    clock.now += CODE_SECONDS + 1

    assert told(browser.token(code))["error"] == "invalid_grant"


def test_codes_that_nobody_came_for_do_not_pile_up(browser: Browser) -> None:
    first = browser.code()
    codes = [browser.code() for _ in range(MOST_CODES)]

    assert browser.token(first).status_code == 400
    assert browser.token(codes[0]).status_code == 200


@pytest.mark.parametrize(
    "changed",
    [
        {"redirect_uri": f"{CONSOLE}/signed-in/"},
        {"redirect_uri": f"{CONSOLE}/signed-in?x=1"},
        {"redirect_uri": "https://evil.example/signed-in"},
        {"redirect_uri": None},
        {"client_id": "another"},
        {"client_id": None},
    ],
)
def test_nobody_is_sent_to_an_address_that_is_not_the_consoles(
    browser: Browser, changed: dict[str, str | None]
) -> None:
    browser.say("alice")
    for answer in (browser.ask(**changed), browser.say("alice", **changed)):
        assert answer.status_code == 400
        assert "location" not in answer.headers
        assert "alert" in answer.text


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "email"}, "invalid_scope"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge": "\u00e9" * 43}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"prompt": "none"}, "login_required"),
    ],
)
def test_the_console_is_told_what_was_wrong(
    browser: Browser, changed: dict[str, str | None], error: str
) -> None:
    back = sent_back(browser.ask(**changed))

    assert (back["error"], back["state"]) == (error, "some state")
    assert "code" not in back


def test_who_is_signed_in_is_not_asked_again_until_they_sign_out(browser: Browser, clock: Clock) -> None:
    browser.say("alice")
    again = browser.whose(browser.ask())
    out = browser.get("/sign-out", client_id=CLIENT, post_logout_redirect_uri=f"{CONSOLE}/signed-out")
    after = browser.ask()

    assert again == "token of alice"
    assert out.headers["location"] == f"{CONSOLE}/signed-out"
    assert "Who are you?" in after.text

    browser.say("alice")
    clock.now += 13 * 3600
    assert "Who are you?" in browser.ask().text


def test_somebody_else_can_sign_in_when_the_console_asks_for_that(browser: Browser) -> None:
    browser.say("alice")

    assert "Who are you?" in browser.ask(prompt="login").text
    assert browser.whose(browser.say("bob", prompt="login")) == "token of bob"


@pytest.mark.parametrize("name", ["logout_uri", "post_logout_redirect_uri"])
def test_signing_out_leads_nowhere_else(browser: Browser, name: str) -> None:
    answer = browser.get("/sign-out", **{name: "https://evil.example/"})

    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_a_session_that_somebody_made_up_is_none(browser: Browser) -> None:
    forged = jwt.encode({"alg": "RS256"}, {"sub": "alice", "exp": int(time.time()) + 60}, KEY)
    for cookie in ("alice", forged, ""):
        browser._client.set_cookie("turnkeeper-offline", cookie, domain="localhost")  # noqa: SLF001

        assert "Who are you?" in browser.ask().text


def test_a_form_of_another_page_signs_nobody_in(browser: Browser) -> None:
    for origin in ("https://evil.example", "null", CONSOLE):
        answer = browser.say("mallory", origin)

        assert answer.status_code == 400
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("name", ["", "  ", "a b", "a\u0000b", "x" * 129])
def test_a_name_that_nobody_can_have_is_asked_for_again_with_why(browser: Browser, name: str) -> None:
    answer = browser.say(name)

    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert 'aria-describedby="said"' in answer.text


def test_what_was_typed_is_shown_as_text(browser: Browser) -> None:
    answer = browser.say('"><script>alert(1)</script> ')
    shown: Any = browser.say('"><script> alert(1)</script>').text

    assert answer.status_code == 303
    assert "<script" not in shown


def test_the_page_itself_is_held_to_a_policy(browser: Browser) -> None:
    policy = browser.ask().headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert f"form-action 'self' {CONSOLE}" in policy
    assert "unsafe" not in policy


def test_whoever_strays_is_told_where_the_console_is(browser: Browser) -> None:
    assert browser.get("/").headers["location"] == f"{CONSOLE}/"
    assert CONSOLE in browser.get("/nowhere").text
