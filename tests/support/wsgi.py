"""The functions as a WSGI application, for tools that speak HTTP: people are Alice, and hosts sign as one host."""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from tests.support.gateway import Gateway, Signer

type Started = Callable[[str, list[tuple[str, str]]], object]


@dataclass(slots=True)
class Front:
    """Whatever is sent reaches the function of its route, as the gateway would hand it on."""

    api: Gateway
    host: Signer
    requests: int = 0

    def __call__(self, environ: dict[str, Any], start: Started) -> Iterable[bytes]:
        """One request."""
        self.requests += 1
        path = "/" + environ["REQUEST_URI"].partition("?")[0].lstrip("/")
        sent = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        headers = {
            name.removeprefix("HTTP_").replace("_", "-").lower(): value
            for name, value in environ.items()
            if name.startswith("HTTP_") or (name == "CONTENT_TYPE" and value)
        }
        request = self.api.event(
            environ["REQUEST_METHOD"],
            path,
            signer=self.host if path.startswith("/v1/host/") else None,
            query=environ["QUERY_STRING"],
            headers=headers,
        )
        if sent:
            request |= _body(sent)
        reply = self.api.send(request)
        start(f"{reply.status} {HTTPStatus(reply.status).phrase}", list(reply.headers.items()))
        return [reply.body.encode()]


def _body(sent: bytes) -> dict[str, Any]:
    try:
        return {"body": sent.decode()}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(sent).decode(), "isBase64Encoded": True}
