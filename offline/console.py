"""The console on this machine: its files, its sign-in page and the API of what is deployed, on one port of loopback.

127.0.0.1 is the console and localhost the sign-in page: two origins, as on AWS, so that the page's policy is held to
what it will be held to there. Any other name is refused, whoever resolves it to this machine.
"""

import base64
import json
import os
import secrets
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import Any

import httpx
from botocore.credentials import Credentials
from joserfc.jwk import RSAKey
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.utils import send_from_directory
from werkzeug.wrappers import Request, Response

from infra import ROOT
from infra.page import ASKED_FOR_ANEW, CONFIG, FILES, INDEX, NEVER_KEPT, NOT_SERVED, config, headers
from offline import hosts
from offline.consent import AT, Consent
from offline.deployment import Deployment, declared
from offline.endpoint import HOST
from offline.engine import Engine, PortTaken, is_taken
from offline.issuer import Issuer
from offline.signin import SignInPage
from offline.signing import Signed
from offline.users import token

KEPT_AS = "sign-in.json"
SIGN_IN_HOST = "localhost"
API = "/v1/"
LARGEST_BODY = 10 * 1024 * 1024
"""What the gateway takes."""

PATIENCE = httpx.Timeout(35, connect=3)
"""A little more than the gateway waits for a function."""

OURS_ALONE = frozenset(
    {
        "connection",
        "content-encoding",
        "content-length",
        "date",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers of one connection, which are not handed on to the next; and who answers, and when, our server says."""


@dataclass(frozen=True)
class Front:
    """Everything that a browser finds on the port."""

    port: int
    deployment: Deployment
    sign_in: SignInPage
    consent: Consent
    api: httpx.Client

    @property
    def origin(self) -> str:
        """Where the console is."""
        return origin_at(self.port)

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        """One request."""
        request = Request(environ)
        request.max_content_length = LARGEST_BODY
        try:
            response = self._answer(request)
        except HTTPException as error:
            response = Response(f"{error.description}\n", error.code, mimetype="text/plain")
        return response(environ, start)

    def _answer(self, request: Request) -> Response:
        name = request.headers.get("host", "")
        if name == f"{SIGN_IN_HOST}:{self.port}":
            asked = self.consent if request.path.startswith(AT) else self.sign_in
            return asked.answer(request)
        if name != f"{HOST}:{self.port}":
            return Response(f"The console is at {self.origin}/\n", 421, mimetype="text/plain")
        response = self._of_the_api(request) if request.path.startswith(API) else self._file(request)
        response.headers.update(headers(connect=(self.sign_in.origin, self.deployment.endpoint_url)))
        return response

    def _file(self, request: Request) -> Response:
        if request.method not in {"GET", "HEAD"}:
            return Response(status=405, headers={"allow": "GET, HEAD"})
        path = request.path.lstrip("/")
        if path == CONFIG:
            told = json.dumps(
                config(self.sign_in.sign_in, origin=self.origin, providers=self.consent.providers)
            )
            return Response(told, mimetype="application/json", headers={"cache-control": NEVER_KEPT})
        # An address without a suffix is a place within the page, which finds it by itself.
        if "." not in path.rpartition("/")[2]:
            path = INDEX
        if any(PurePosixPath(path).match(name) for name in NOT_SERVED):
            return Response(status=404)
        response = send_from_directory(ROOT / FILES, path, request.environ)
        # Of an answer without a body nobody closes the file.
        if request.method == "HEAD" or response.status_code == HTTPStatus.NOT_MODIFIED:
            response.close()
        response.headers["cache-control"] = ASKED_FOR_ANEW
        return response

    def _of_the_api(self, request: Request) -> Response:
        """What the API answers, or that it does not."""
        asked = request.environ["REQUEST_URI"]
        if ".." in request.path.split("/"):
            return Response(status=404)
        try:
            answer = self.api.request(
                request.method,
                f"{self.deployment.base_url}{asked}",
                # As it came: a header's bytes stand as Latin-1 here, and are any that HTTP can carry.
                headers=[
                    (name.encode("latin-1"), value.encode("latin-1"))
                    for name, value in request.headers
                    if handed_on(name)
                ],
                content=request.get_data(),
            )
        except (httpx.InvalidURL, httpx.LocalProtocolError):
            return Response("The request holds what HTTP cannot carry on.\n", 400, mimetype="text/plain")
        except httpx.TimeoutException:
            return away(504, "The API did not answer in time.")
        except httpx.RequestError:
            return away(503, "The API is not there.")
        handed = [(name, value) for name, value in answer.headers.multi_items() if handed_on(name)]
        return Response(answer.content, answer.status_code, headers=handed)


def handed_on(header: str) -> bool:
    """Tell whether *header* is about more than one connection."""
    return header.lower() not in OURS_ALONE


def away(status: int, why: str) -> Response:
    """Say that the API is away."""
    told = json.dumps({"type": "about:blank", "title": why, "status": status})
    return Response(
        told,
        status,
        mimetype="application/problem+json",
        headers={"cache-control": NEVER_KEPT, "retry-after": "1"},
    )


class Silent(WSGIRequestHandler):
    """Serves, and logs nothing: a line would hold the code of a sign-in."""

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - as it is called
        """Say nothing."""


def origin_at(port: int) -> str:
    """Where the console is that is served on *port*."""
    return f"http://{HOST}:{port}"


def origins_besides(origin: str) -> dict[str, str]:
    """The setting that lets pages of *origin* send files, besides whoever may by cdk.json."""
    return {"cors_origins": ",".join([*declared("cors_origins"), origin])}


@contextmanager
def console(engine: Engine, deployment: Deployment, *, port: int, issuer: Issuer | None) -> Iterator[str]:
    """Serve the console of *deployment* on *port* while the block runs; its address.

    *issuer* is whom the deployment trusts; None when that is its pool.
    """
    origin = f"http://{SIGN_IN_HOST}:{port}"
    secret, key = kept_in(engine.state_dir)
    page = SignInPage(
        console=origin_at(port),
        origin=origin,
        issuer=issuer or Issuer(origin, key),
        secret=secret,
        token_of=issuer.person if issuer else lambda name: token(deployment, name),
    )
    certificate = deployment.endpoint.certificate
    trust = ssl.create_default_context(cafile=certificate) if certificate else True
    if is_taken(port):
        raise PortTaken(port)
    with httpx.Client(verify=trust, timeout=PATIENCE, trust_env=False) as api:

        def grant(name: str, provider: str) -> None:
            told = {"user": subject_of(page.token_of(name)), "provider": provider}
            signed = Signed(steward(deployment))
            api.post(f"{deployment.base_url}/v1/host/grants", json=told, auth=signed).raise_for_status()

        front = Front(port, deployment, page, Consent(page, grant), api)
        server = make_server(HOST, port, front, threaded=True, request_handler=Silent)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield front.origin
        finally:
            server.shutdown()
            server.server_close()


def subject_of(token: str) -> str:
    """Whose *token* it is, as the API knows them; it is one that we were just given."""
    payload = token.split(".")[1]
    claims: Mapping[str, str] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims["sub"]


def steward(deployment: Deployment) -> Credentials:
    """What the host of the built-in agents signs with."""
    keys = hosts.keys_of(deployment.endpoint, hosts.make_host(deployment.endpoint, hosts.STEWARD))
    return Credentials(keys.access_key_id, keys.secret_access_key)


def kept_in(folder: Path) -> tuple[bytes, RSAKey]:
    """What seals sessions, and what signs ID tokens: made once, and kept in *folder*, where only its owner reads it."""
    file = folder / KEPT_AS
    try:
        kept: Mapping[str, Any] = json.loads(file.read_text())
    except FileNotFoundError:
        key = RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)
        kept = {"secret": secrets.token_urlsafe(32), "key": key.as_dict(private=True)}
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as written:
            written.write(json.dumps(kept))
    return kept["secret"].encode(), RSAKey.import_key(kept["key"])
