"""Who asks, a human or a host: known by what the gateway's authorizer verified, and by nothing else."""

from collections.abc import Collection, Mapping
from typing import Any

from turnkeeper.domain.errors import NotAHost, NotAHuman
from turnkeeper.domain.standing import DEPLOYMENT


def human(event: Mapping[str, Any], *, claim: str) -> str:
    """The `sub` of the human whose access token came with *event*; *claim* is the one that only humans have.

    A machine's token (client credentials) has no such claim, or names the client itself as its subject.
    """
    claims = _claims(event)
    person = claims.get("sub")
    is_access_token = claims.get("token_use", "access") == "access"
    if not (person and claims.get(claim) and is_access_token) or person == claims.get("client_id"):
        raise NotAHuman
    return person


def has_claim(event: Mapping[str, Any], wanted: str | None) -> bool:
    """The token that came with *event* has the claim *wanted*: `name` is true, or `name=word` has that word.

    The gateway writes a list as `[one two]`.
    """
    name, _, word = (wanted or "").partition("=")
    said = _claims(event).get(name, "")
    return bool(name) and (word or "true") in said.strip("[]").replace(",", " ").split()


def principal(event: Mapping[str, Any]) -> str:
    """The IAM principal that signed *event*: account and stable id of the role or user, never a session.

    A role's id outlives its sessions and names no other role that is made under the same name later.
    """
    found: Any = event.get("requestContext")
    for step in ("authorizer", "iam"):
        found = found.get(step) if isinstance(found, Mapping) else None
    signer = found if isinstance(found, Mapping) else {}
    account, user_id = signer.get("accountId"), signer.get("userId")
    unique_id = user_id.partition(":")[0] if isinstance(user_id, str) else ""
    if not (isinstance(account, str) and account and unique_id):
        raise NotAHost
    return f"{account}/{unique_id}"


def host(event: Mapping[str, Any], *, deployment_hosts: Collection[str]) -> str:
    """The owner of the agents that the signer of *event* hosts: itself, or the deployment, if it may act as that."""
    signer = principal(event)
    return DEPLOYMENT if signer in deployment_hosts else signer


def _claims(event: Mapping[str, Any]) -> dict[str, str]:
    """The verified claims that say something, as the gateway passes them: all strings."""
    found: Any = event.get("requestContext")
    for step in ("authorizer", "jwt", "claims"):
        found = found.get(step) if isinstance(found, Mapping) else None
    sent = found if isinstance(found, Mapping) else {}
    return {name: value for name, value in sent.items() if isinstance(value, str) and value.strip()}
