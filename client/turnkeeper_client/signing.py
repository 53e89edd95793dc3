"""A host's signature (SigV4, by botocore) on what it asks; needs the extra `hosts`."""

from collections.abc import Generator
from typing import Any

import httpx
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest

from turnkeeper_client.connections import MayTakeLong

NEVER_SIGNED = frozenset({"accept-encoding", "connection", "user-agent"})
"""What a connection may change on the way."""


class NoCredentials(Exception):
    """Nobody said who the host is."""

    def __init__(self) -> None:
        super().__init__(
            "There are no AWS credentials, or no region; hosts sign with those of their principal, "
            "for instance AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION."
        )


class Signature(MayTakeLong):
    """Signs each request with what *session* (boto3's, or botocore's) has by then: keys of a role are renewed."""

    requires_request_body = True

    def __init__(self, session: Any, region: str | None = None) -> None:
        self._session = session
        self._region = region or getattr(session, "region_name", None) or _configured_region(session)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response]:
        """Yield the request, signed."""
        credentials = self._session.get_credentials()
        if credentials is None or self._region is None:
            raise NoCredentials
        headers = {name: value for name, value in request.headers.items() if name not in NEVER_SIGNED}
        to_sign: Any = AWSRequest(request.method, str(request.url), data=request.content, headers=headers)
        signer: Any = SigV4Auth(credentials.get_frozen_credentials(), "execute-api", self._region)
        signer.add_auth(to_sign)
        request.headers.update(dict(to_sign.headers.items()))
        yield request


def _configured_region(session: Any) -> str | None:
    region: str | None = (
        session.get_config_variable("region") if hasattr(session, "get_config_variable") else None
    )
    return region
