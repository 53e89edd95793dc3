"""HTTP as the suite speaks it: one request, asked again while the gateway has no capacity, and never more than that."""

import ssl
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.conformance.target import Keys, Target

type Json = dict[str, Any]

NEVER_SIGNED = frozenset({"accept-encoding", "connection", "user-agent"})
PATIENCE_SECONDS = 30
TRIES, PAUSE_SECONDS = 150, 0.1


class Bearer(httpx.Auth):
    """Sends a person's access token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        request.headers["authorization"] = f"Bearer {self._token}"
        yield request


class Signature(httpx.Auth):
    """Signs each request as a host (SigV4)."""

    requires_request_body = True

    def __init__(self, keys: Keys, region: str) -> None:
        credentials = Credentials(keys.access_key_id, keys.secret_access_key, keys.session_token)
        self._signer: Any = SigV4Auth(credentials, "execute-api", region)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        headers = {name: value for name, value in request.headers.items() if name not in NEVER_SIGNED}
        to_sign: Any = AWSRequest(request.method, str(request.url), data=request.content, headers=headers)
        self._signer.add_auth(to_sign)
        request.headers.update(dict(to_sign.headers.items()))
        yield request


@dataclass(frozen=True)
class Client:
    """Whoever *http* speaks for."""

    http: httpx.Client

    def ask(
        self, method: str, path: str, body: object = None, *, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """The answer to *body*, which is sent as JSON unless it is text.

        One that only says that there is too much going on is asked for again.
        """
        content, sent = (body, None) if isinstance(body, str) else (None, body)
        for _ in range(TRIES):
            answer = self.http.request(method, f"v1/{path}", content=content, json=sent, headers=headers)
            if answer.status_code != httpx.codes.TOO_MANY_REQUESTS:
                break
            time.sleep(PAUSE_SECONDS)
        return answer


def connection(target: Target, auth: httpx.Auth | None) -> httpx.Client:
    """A connection to *target* for whoever *auth* says."""
    trust = ssl.create_default_context(cafile=target.certificate) if target.certificate else True
    return httpx.Client(base_url=f"{target.base_url}/", auth=auth, verify=trust, timeout=PATIENCE_SECONDS)


def answered(answer: httpx.Response, status: int) -> Json:
    """The object that *answer* is, which must have *status*."""
    assert answer.status_code == status, f"{answer.request.url}: {answer.status_code} {answer.text}"
    body: Json = answer.json()
    return body


def text_part(text: str) -> Json:
    """A content part with *text*."""
    return {"mimeType": "text/plain", "text": text}


def said(text: str) -> Json:
    """An input or an output that says *text*."""
    return {"message": [text_part(text)]}
