"""S3's rules for keys, and for how long a signed URL may last."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.limits.refusal import refuse_unless

LONGEST_KEY = 1024
LONGEST_URL_S = 7 * 24 * 3600
"""Seconds for which the fourth signature is good at most."""
LONGEST_METADATA = 2 * 1024


def check(_operation: str, request: Mapping[str, Any]) -> None:
    """Raise `AwsWouldRefuse` for what S3 does not take; a URL is checked as it is signed."""
    if "Key" in request:
        size = len(request["Key"].encode())
        refuse_unless(0 < size <= LONGEST_KEY, f"a key has 1 to {LONGEST_KEY} bytes; this has {size}")
    metadata = request.get("Metadata", {})
    size = sum(len(name.encode()) + len(value.encode()) for name, value in metadata.items())
    refuse_unless(size <= LONGEST_METADATA, f"metadata is at most {LONGEST_METADATA} bytes; this is {size}")


def bound_urls(class_attributes: dict[str, Any], event_name: str, **_kwargs: Any) -> None:
    """Have clients of S3, whose class is being made, check for how long their URLs last."""
    if not event_name.endswith(".s3"):
        return
    sign: Callable[..., str] = class_attributes["generate_presigned_url"]

    def bounded(self: Any, *positional: Any, ExpiresIn: int = 3600, **rest: Any) -> str:  # noqa: N803 - botocore's name
        refuse_unless(
            0 < ExpiresIn <= LONGEST_URL_S, f"a URL lasts 1 to {LONGEST_URL_S} seconds, not {ExpiresIn}"
        )
        return sign(self, *positional, ExpiresIn=ExpiresIn, **rest)

    class_attributes["generate_presigned_url"] = bounded
