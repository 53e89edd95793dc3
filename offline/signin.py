"""The sign-in page of the offline stack: who are you? The code flow with PKCE, as an issuer on AWS has it.

Nobody needs a password, since nothing here is anybody's but whose machine it is. All else is as strict as elsewhere:
one client, its addresses to the letter, codes for one use within a minute, no code without its verifier.
"""

import base64
import hashlib
import hmac
import html
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Template
from urllib.parse import urlencode

from botocore.exceptions import BotoCoreError, ClientError
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, Rule
from werkzeug.utils import send_from_directory
from werkzeug.wrappers import Request, Response

from infra import ROOT
from infra.page import FILES, NEVER_KEPT, SIGNED_IN, SIGNED_OUT, SignIn, headers
from offline.issuer import HOUR, Issuer

CLIENT = "turnkeeper-console"
ICON = "icon.svg"
COOKIE = "turnkeeper-offline"
CODE_SECONDS = 60
SESSION_SECONDS = 12 * HOUR
LONGEST_NAME = 128
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}", re.ASCII)
"""How the two are spelt (RFC 7636, 4.1 and 4.2)."""

AWAY = (BotoCoreError, ClientError)
"""How the pool says that it makes no token now."""

MOST_CODES = 1000
"""Of codes that nobody came for, the oldest go beyond so many."""

PAGE = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Turnkeeper offline</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>Who are you?</h1>
$said
<form method="post">
<label for="name">Name</label>
<input id="name" name="name" autocomplete="username" autocapitalize="none" spellcheck="false" maxlength="128"
 required autofocus value="$name"$described>
<button>Sign in</button>
</form>
<p class="note">This is the offline stack on this machine: any name will do, and nobody needs a password.
Each name has tasks of its own. <b>alice</b> is a developer besides, who sees what happened inside.</p>
</main>
</body>
</html>
""")

REFUSED = Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not signed in · Turnkeeper offline</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/sign-in.css">
</head>
<body>
<main>
<h1>$title</h1>
<p role="alert">$why</p>
<p class="note">The console is at <a href="$console">$console</a>.</p>
</main>
</body>
</html>
""")

STYLE = """\
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #f6f7f9; --card: #fff; --line: #6b7684; --mark: #1f5fbf;
  --on-mark: #fff; --bad: #a11d1d }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --paper: #14171a; --card: #1e2226; --line: #8b95a1;
  --mark: #8ab4f8; --on-mark: #10233f; --bad: #ff9d94 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; color: var(--ink);
  background: var(--paper); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 24rem; padding: 2rem; background: var(--card); border-radius: .75rem;
  box-shadow: 0 1px 3px rgb(0 0 0 / .2) }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.2 }
label { display: block; font-weight: 600; margin-bottom: .25rem }
input { width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: .5rem }
button { width: 100%; margin-top: 1rem; padding: .65rem; font: inherit; font-weight: 600; color: var(--on-mark);
  background: var(--mark); border: 0; border-radius: .5rem; cursor: pointer }
:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px }
a { color: var(--mark) }
.note { margin: 1.25rem 0 0; font-size: .875rem }
[role=alert] { color: var(--bad); margin: 0 0 1rem }
"""


class NotAnswered(Exception):
    """The page that asks cannot be trusted with an answer; the message says why."""


class Refused(Exception):
    """What the client asked for is refused, with an error of OAuth's."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(why)
        self.error = error


@dataclass(frozen=True)
class Asked:
    """What a client asked for, that may have it."""

    redirect_uri: str
    challenge: str
    state: str
    nonce: str


@dataclass(frozen=True)
class Given:
    """A code that was given away, and for what it stands."""

    name: str
    asked: Asked
    until: float


@dataclass
class SignInPage:
    """Signs people in for the console at *console*, itself at *origin*; *token_of* makes the token of a name."""

    console: str
    origin: str
    issuer: Issuer
    """Whose name the ID tokens bear."""
    secret: bytes
    """What sessions are sealed with."""
    token_of: Callable[[str], str]
    clock: Callable[[], float] = time.time
    _codes: dict[str, Given] = field(default_factory=dict)

    @property
    def sign_in(self) -> SignIn:
        """What the console is told of this."""
        return SignIn(
            issuer=self.issuer.url,
            client_id=CLIENT,
            authorization_endpoint=f"{self.origin}/authorize",
            token_endpoint=f"{self.origin}/token",
            end_session_endpoint=f"{self.origin}/sign-out",
        )

    def answer(self, request: Request) -> Response:
        """Answer one *request* that came to *origin*."""
        try:
            endpoint, _ = ROUTES.bind_to_environ(request.environ).match()
            response = ANSWERS[endpoint](self, request)
        except NotAnswered as refused:
            response = self.refusal(str(refused), 400)
        except HTTPException as error:
            response = self.refusal("There is no such page.", error.code or 404)
        return self.dressed(response)

    def check_form(self, request: Request) -> None:
        """Refuse a form that another page sent."""
        if request.headers.get("origin") != self.origin:
            raise NotAnswered("The form is not from this page.")

    def dressed(self, response: Response) -> Response:
        """*response* with what a page of this origin may do."""
        response.headers.update(headers(connect=()))
        # The form goes to this page, which sends whoever filled it in on to the console.
        allowed = f"form-action 'self' {self.console}"
        told = response.headers["content-security-policy"].replace("form-action 'none'", allowed)
        response.headers["content-security-policy"] = told
        # Without a referrer of its own, a form would come from nowhere.
        response.headers["referrer-policy"] = "same-origin"
        response.headers["cache-control"] = NEVER_KEPT
        return response

    def _authorize(self, request: Request) -> Response:
        query = request.args
        if query.get("client_id") != CLIENT:
            raise NotAnswered("No such client is known here.")
        if query.get("redirect_uri") != f"{self.console}{SIGNED_IN}":
            raise NotAnswered("The address to come back to is not the console's.")
        back, state = query["redirect_uri"], query.get("state", "")
        try:
            asked = asked_for(query)
            name = self._known(request)
        except Refused as refused:
            told = {"error": refused.error, "error_description": str(refused), "state": state}
            return sent_on(back, told)
        if request.method == "POST":
            self.check_form(request)
            name = request.form.get("name", "").strip()
            if said := cannot_be(name):
                return form(name, said)
        elif name is None:
            return form()
        response = sent_on(back, {"code": self._code(name, asked), "state": state})
        self._remember(response, name)
        return response

    def _token(self, request: Request) -> Response:
        try:
            given = self._given(request.form)
            token = self.token_of(given.name)
            told: Mapping[str, object] = {
                "access_token": token,
                "id_token": self._id_token(given),
                "token_type": "Bearer",
                "expires_in": HOUR,
            }
            response = told_as_json(told, 200)
        except Refused as refused:
            response = told_as_json({"error": refused.error, "error_description": str(refused)}, 400)
        except AWAY:
            why = "The stack makes no token now; sign in again."
            response = told_as_json({"error": "temporarily_unavailable", "error_description": why}, 503)
        response.headers["access-control-allow-origin"] = self.console
        response.headers["cross-origin-resource-policy"] = "cross-origin"
        response.vary.add("origin")
        return response

    def _sign_out(self, request: Request) -> Response:
        back = request.args.get("post_logout_redirect_uri") or request.args.get("logout_uri")
        if back not in {None, f"{self.console}{SIGNED_OUT}"}:
            raise NotAnswered("The address to come back to is not the console's.")
        response = sent_on(f"{self.console}{SIGNED_OUT}", {})
        response.delete_cookie(COOKIE, httponly=True, samesite="Lax")
        return response

    def _discovery(self, _: Request) -> Response:
        known = self.sign_in
        return told_as_json(
            {
                "issuer": known.issuer,
                "authorization_endpoint": known.authorization_endpoint,
                "token_endpoint": known.token_endpoint,
                "end_session_endpoint": known.end_session_endpoint,
                "jwks_uri": f"{self.origin}/keys",
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "subject_types_supported": ["public"],
            },
            200,
        )

    def _keys(self, _: Request) -> Response:
        return told_as_json({"keys": [self.issuer.key.as_dict(private=False)]}, 200)

    def _style(self, _: Request) -> Response:
        return Response(STYLE, mimetype="text/css")

    def _icon(self, request: Request) -> Response:
        return send_from_directory(ROOT / FILES, ICON, request.environ)

    def _front(self, _: Request) -> Response:
        return sent_on(f"{self.console}/", {})

    def _code(self, name: str, asked: Asked) -> str:
        """A code that stands for *name*, once and for a minute."""
        while len(self._codes) >= MOST_CODES:
            self._codes.pop(next(iter(self._codes)), None)
        code = secrets.token_urlsafe(32)
        self._codes[code] = Given(name, asked, self.clock() + CODE_SECONDS)
        return code

    def _given(self, sent: Mapping[str, str]) -> Given:
        """What the code that was *sent* stands for; it stands for nothing from then on."""
        if sent.get("grant_type") != "authorization_code":
            raise Refused("unsupported_grant_type", "Only a code is taken here.")
        if sent.get("client_id") != CLIENT:
            raise Refused("invalid_client", "No such client is known here.")
        given = self._codes.pop(sent.get("code", ""), None)
        if given is None or given.until < self.clock():
            raise Refused("invalid_grant", "The code is unknown, used or older than a minute.")
        if sent.get("redirect_uri") != given.asked.redirect_uri:
            raise Refused("invalid_grant", "The code was given to another address.")
        verifier = sent.get("code_verifier", "")
        if not VERIFIER.fullmatch(verifier):
            raise Refused("invalid_grant", "A verifier is 43 to 128 letters, digits, or any of - . _ ~")
        if not hmac.compare_digest(challenge_of(verifier), given.asked.challenge):
            raise Refused("invalid_grant", "The verifier is not the one whose challenge was sent.")
        return given

    def _id_token(self, given: Given) -> str:
        nonce = {"nonce": given.asked.nonce} if given.asked.nonce else {}
        return self.issuer.token(given.name, aud=CLIENT, preferred_username=given.name, **nonce)

    def _remember(self, response: Response, name: str) -> None:
        until = int(self.clock()) + SESSION_SECONDS
        sealed = jwt.encode({"alg": "HS256"}, {"sub": name, "exp": until}, OctKey.import_key(self.secret))
        response.set_cookie(COOKIE, sealed, max_age=SESSION_SECONDS, httponly=True, samesite="Lax")

    def _known(self, request: Request) -> str | None:
        """Who is signed in, unless the *request* is to ask anew; refused when nobody is and none may be asked."""
        prompt = request.args.get("prompt")
        name = None if prompt == "login" else self.name_of(request)
        if name is None and prompt == "none":
            raise Refused("login_required", "Nobody is signed in.")
        return name

    def name_of(self, request: Request) -> str | None:
        """Whose session the *request* is of."""
        try:
            claims = jwt.decode(
                request.cookies.get(COOKIE, ""), OctKey.import_key(self.secret), algorithms=["HS256"]
            ).claims
        except (JoseError, ValueError):
            return None
        return str(claims["sub"]) if claims["exp"] > self.clock() else None

    def refusal(self, why: str, status: int) -> Response:
        """Say *why* nothing comes of it."""
        page = REFUSED.substitute(title="Not signed in", why=html.escape(why), console=self.console)
        return Response(page, status, mimetype="text/html")


ANSWERS: Mapping[str, Callable[[SignInPage, Request], Response]] = {
    "authorize": SignInPage._authorize,  # noqa: SLF001 - the table of its own routes
    "token": SignInPage._token,  # noqa: SLF001
    "sign-out": SignInPage._sign_out,  # noqa: SLF001
    "discovery": SignInPage._discovery,  # noqa: SLF001
    "keys": SignInPage._keys,  # noqa: SLF001
    "style": SignInPage._style,  # noqa: SLF001
    "icon": SignInPage._icon,  # noqa: SLF001
    "front": SignInPage._front,  # noqa: SLF001
}
ROUTES = Map(
    [
        Rule("/authorize", endpoint="authorize", methods=["GET", "POST"]),
        Rule("/token", endpoint="token", methods=["POST"]),
        Rule("/sign-out", endpoint="sign-out", methods=["GET"]),
        Rule("/.well-known/openid-configuration", endpoint="discovery", methods=["GET"]),
        Rule("/keys", endpoint="keys", methods=["GET"]),
        Rule("/sign-in.css", endpoint="style", methods=["GET"]),
        Rule(f"/{ICON}", endpoint="icon", methods=["GET"]),
        Rule("/", endpoint="front", methods=["GET"]),
    ]
)


def asked_for(query: Mapping[str, str]) -> Asked:
    """What *query* asks for; refused unless it is a code with PKCE."""
    if query.get("response_type") != "code":
        raise Refused("unsupported_response_type", "Only a code is given here.")
    if "openid" not in query.get("scope", "").split():
        raise Refused("invalid_scope", "The scope must hold openid.")
    challenge = query.get("code_challenge", "")
    if query.get("code_challenge_method") != "S256" or not CHALLENGE.fullmatch(challenge):
        raise Refused("invalid_request", "A code needs a challenge by S256.")
    return Asked(query["redirect_uri"], challenge, query.get("state", ""), query.get("nonce", ""))


def challenge_of(verifier: str) -> str:
    """The challenge that goes with *verifier* (RFC 7636)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def cannot_be(name: str) -> str | None:
    """Why nobody can have this *name*, or None when somebody can."""
    if not name:
        return "Type a name."
    if len(name) > LONGEST_NAME or not name.isprintable() or any(letter.isspace() for letter in name):
        return f"A name is up to {LONGEST_NAME} characters without spaces."
    return None


def form(name: str = "", said: str | None = None) -> Response:
    """The page that asks who somebody is, and what was wrong with the *name* before."""
    told = f'<p role="alert" id="said">{html.escape(said)}</p>' if said else ""
    described = ' aria-invalid="true" aria-describedby="said"' if said else ""
    page = PAGE.substitute(said=told, name=html.escape(name, quote=True), described=described)
    return Response(page, 400 if said else 200, mimetype="text/html")


def sent_on(where: str, told: Mapping[str, str]) -> Response:
    """Send the browser on to *where*, with what it is *told* in the address."""
    return Response(status=303, headers={"location": f"{where}?{urlencode(told)}" if told else where})


def told_as_json(told: Mapping[str, object], status: int) -> Response:
    """Answer with *told*."""
    return Response(json.dumps(told), status, mimetype="application/json")
