"""Signing in at a console without a browser: the code flow with PKCE, as its page does it."""

import secrets
from urllib.parse import parse_qs, urlsplit

import httpx

from offline.signin import challenge_of


def sign_in(console: str, name: str) -> str:
    """The access token that somebody called *name* gets who signs in at *console*."""
    verifier = secrets.token_urlsafe(32)
    with httpx.Client(timeout=60) as browser:
        told = browser.get(f"{console}/config.json").json()
        asked = {
            "response_type": "code",
            "client_id": told["client_id"],
            "redirect_uri": told["redirect_uri"],
            "scope": told["scope"],
            "state": "some",
            "nonce": "some",
            "code_challenge": challenge_of(verifier),
            "code_challenge_method": "S256",
        }
        page = told["authorization_endpoint"]
        origin = "{0.scheme}://{0.netloc}".format(urlsplit(page))
        back = browser.post(page, params=asked, data={"name": name}, headers={"origin": origin})
        (code,) = parse_qs(urlsplit(back.headers["location"]).query)["code"]
        given = browser.post(
            told["token_endpoint"],
            data={
                "grant_type": "authorization_code",
                "code": code,
                "client_id": told["client_id"],
                "redirect_uri": told["redirect_uri"],
                "code_verifier": verifier,
            },
        )
    return str(given.raise_for_status().json()["access_token"])
