"""An HTTP session that answers at once with what DynamoDB would: the SDK does all of its work, and no network any."""

import json
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.awsrequest import AWSResponse

from tests.support.projection import projected


class CannedSession:
    """What takes the place of a client's HTTP session: every request finds *item*."""

    def __init__(self, item: Mapping[str, Any]) -> None:
        self._item = item
        self._answers: dict[bytes, tuple[bytes, Any]] = {}

    def send(self, request: Any) -> AWSResponse:
        """The answer to what was asked: the item, or the part of it that the request names."""
        if request.body not in self._answers:
            part = projected(self._item, json.loads(request.body))
            body = json.dumps({"Item": part}, separators=(",", ":")).encode()
            self._answers[request.body] = body, _headers(body)
        body, headers = self._answers[request.body]
        return AWSResponse(request.url, 200, headers, _Raw(body))


def _headers(body: bytes) -> Any:
    return {
        "Server": "Server",
        "Date": "Mon, 30 Nov 2026 12:00:00 GMT",
        "Content-Type": "application/x-amz-json-1.0",
        "Content-Length": str(len(body)),
        "Connection": "keep-alive",
        "x-amzn-RequestId": "A2N5DNHCPHFGCUNUO1F4F24UCRVV4KQNSO5AEMVJF66Q9ASUAAJG",
        "x-amz-crc32": str(zlib.crc32(body)),
    }


class _Raw:
    """A body as urllib3 hands it out."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def stream(self) -> Iterator[bytes]:
        yield self._body


def answering(client: Any, item: Mapping[str, Any]) -> Any:
    """*client*, whose every request from now on finds *item*."""
    # The one place below the SDK and above the network; botocore has no public name for it.
    client._endpoint.http_session = CannedSession(item)  # noqa: SLF001
    return client
