"""An OIDC issuer on loopback: who people are where the engine enforces authorisation and checks no Cognito token.

Whoever has the file that it keeps its key in can write tokens, as `make token` does.
"""

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from joserfc import jwt
from joserfc.jwk import RSAKey

from offline.endpoint import HOST

AUDIENCE, HUMAN_CLAIM = "turnkeeper-offline", "preferred_username"
KEPT_AS = "issuer.json"
HOUR = 3600


@dataclass(frozen=True)
class Issuer:
    """Who says who somebody is."""

    url: str
    key: RSAKey

    @classmethod
    def kept_in(cls, folder: Path) -> Self:
        """The one that last ran with what it keeps in *folder*; raises FileNotFoundError when none did."""
        kept = json.loads((folder / KEPT_AS).read_text())
        return cls(kept["url"], RSAKey.import_key(kept["key"]))

    @property
    def settings(self) -> dict[str, str]:
        """What a deployment is told so that it trusts this issuer."""
        return {"oidc_issuer": self.url, "oidc_audience": AUDIENCE, "human_claim": HUMAN_CLAIM}

    def person(self, name: str) -> str:
        """A token of the human *name*."""
        return self.token(f"{name}-sub", **{HUMAN_CLAIM: name})

    def token(self, subject: str, **claims: str | int) -> str:
        """A token of *subject*; without more *claims* it is a machine's."""
        now = int(time.time())
        told = {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + HOUR, **claims}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, told, self.key)


@contextmanager
def issuer(folder: Path) -> Iterator[Issuer]:
    """Run one while the block runs, with the key that it keeps in *folder*."""
    try:
        key = Issuer.kept_in(folder).key
    except FileNotFoundError:
        key = RSAKey.generate_key(2048, parameters={"use": "sig", "alg": "RS256"}, auto_kid=True)

    class Discovery(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers = {
                "/.well-known/openid-configuration": {"issuer": url, "jwks_uri": f"{url}/keys"},
                "/keys": {"keys": [key.as_dict(private=False)]},
            }
            body = json.dumps(answers.get(self.path, {})).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer((HOST, 0), Discovery) as server:
        url = f"http://{HOST}:{server.server_port}"
        keep(folder, url, key)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Issuer(url, key)
        finally:
            server.shutdown()


def keep(folder: Path, url: str, key: RSAKey) -> None:
    """Write *key* where only its owner reads it."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = json.dumps({"url": url, "key": key.as_dict(private=True)})
    with os.fdopen(os.open(folder / KEPT_AS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(kept)
