"""What a browser is told of the console: where to sign in, and what the page may do; on AWS and offline alike.

Needs nothing of the CDK, since the offline stack serves the very same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

FILES = "console"
"""The folder of the console's files, which go out as they are."""

NOT_SERVED = ("*.md",)
"""What lies beside them for whoever works on them."""

CONFIG, INDEX = "config.json", "index.html"
SIGNED_IN, SIGNED_OUT = "/signed-in", "/signed-out"
"""Where people come back to; both are the page itself."""

SCOPE = "openid"

NEVER_KEPT, ASKED_FOR_ANEW = "no-store", "no-cache"
"""How long a browser keeps the configuration, and a file: that one only until somebody says it has changed."""

POLICY, TRANSPORT = "content-security-policy", "strict-transport-security"
REFERRER, SNIFFING, FRAMES = "referrer-policy", "x-content-type-options", "x-frame-options"

YEAR_SECONDS = 31_536_000

NOTHING_OF_THE_DEVICE = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), midi=(), "
    "payment=(), usb=()"
)


@dataclass(frozen=True, kw_only=True)
class SignIn:
    """Who signs people in, and as what client of theirs the console comes."""

    issuer: str
    client_id: str
    authorization_endpoint: str
    token_endpoint: str
    end_session_endpoint: str | None
    scope: str = SCOPE


def config(
    sign_in: SignIn, *, origin: str, providers: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str | Mapping[str, str] | None]:
    """What the page reads first, when it is served at *origin*; *providers* are where people authorise each."""
    return {
        "providers": dict(providers),
        "issuer": sign_in.issuer,
        "client_id": sign_in.client_id,
        "authorization_endpoint": sign_in.authorization_endpoint,
        "token_endpoint": sign_in.token_endpoint,
        "end_session_endpoint": sign_in.end_session_endpoint,
        "scope": sign_in.scope,
        "redirect_uri": f"{origin}{SIGNED_IN}",
        "post_logout_redirect_uri": f"{origin}{SIGNED_OUT}",
    }


def policy(*, connect: Sequence[str]) -> str:
    """The content security policy of a page that talks to itself and the origins *connect*, and holds its own alone."""
    told: Mapping[str, Sequence[str]] = {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "manifest-src": ["'self'"],
        "connect-src": ["'self'", *connect],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
    return "; ".join(" ".join((name, *sources)) for name, sources in told.items())


def headers(*, connect: Sequence[str]) -> dict[str, str]:
    """Every header that says what the page may do."""
    return {
        POLICY: policy(connect=connect),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": NOTHING_OF_THE_DEVICE,
        REFERRER: "no-referrer",
        TRANSPORT: f"max-age={YEAR_SECONDS}; includeSubDomains",
        SNIFFING: "nosniff",
        FRAMES: "DENY",
    }
