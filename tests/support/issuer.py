"""An OIDC issuer on loopback of which the tests hold the key, for a deployment that trusts another than its pool."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from joserfc import jwt
from joserfc.jwk import RSAKey

AUDIENCE, HUMAN_CLAIM = "turnkeeper-tests", "preferred_username"
HOUR = 3600


@dataclass(frozen=True)
class Issuer:
    """Who says who somebody is."""

    url: str
    key: RSAKey

    @property
    def settings(self) -> dict[str, str]:
        """What a deployment is told so that it trusts this issuer."""
        return {"oidc_issuer": self.url, "oidc_audience": AUDIENCE, "human_claim": HUMAN_CLAIM}

    def token(self, subject: str, **claims: str | int) -> str:
        """A token of *subject*; without more *claims* it is a machine's."""
        now = int(time.time())
        told = {"iss": self.url, "aud": AUDIENCE, "sub": subject, "iat": now, "exp": now + HOUR, **claims}
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, told, self.key)


@contextmanager
def issuer() -> Iterator[Issuer]:
    """Run one while the block runs."""
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

    with ThreadingHTTPServer(("127.0.0.1", 0), Discovery) as server:
        url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield Issuer(url, key)
        finally:
            server.shutdown()
