"""A host's signature on what it asks of the hosts' API."""

from collections.abc import Generator
from typing import Any

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from offline.endpoint import REGION

NEVER_SIGNED = frozenset({"accept-encoding", "connection", "user-agent"})


class Signed(httpx.Auth):
    """Signs each request as the gateway wants it signed."""

    requires_request_body = True

    def __init__(self, credentials: Credentials) -> None:
        self._signer: Any = SigV4Auth(credentials, "execute-api", REGION)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Yield the request, signed."""
        headers = {name: value for name, value in request.headers.items() if name not in NEVER_SIGNED}
        to_sign: Any = AWSRequest(request.method, str(request.url), data=request.content, headers=headers)
        self._signer.add_auth(to_sign)
        request.headers.update(dict(to_sign.headers.items()))
        yield request
