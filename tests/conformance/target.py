"""Which deployment is driven, and as whom: two people, and a host whose principal may register `external` agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

VARIABLES = {
    "OWNER_TOKEN": "an access token of a person",
    "OTHER_TOKEN": "an access token of another person",
    "AWS_ACCESS_KEY_ID": "the key of a host that the deployment declares in external_hosts",
    "AWS_SECRET_ACCESS_KEY": "its secret",
    "AWS_REGION": "the region of the deployment",
}
"""What a run against a deployment needs to be told.

AWS_SESSION_TOKEN too, where the keys are a session's, and AWS_CA_BUNDLE where nobody knows who signed its certificate.
DEVELOPER_TOKEN, another token of the owner's with the deployment's developer_claim, and AUDITOR_ACCESS_KEY_ID with
AUDITOR_SECRET_ACCESS_KEY, the keys of one of its auditors, let those be asked too; without, their tests are skipped.
"""


class NotToldEnough(Exception):
    """The environment lacks what a run against a deployment needs."""


@dataclass(frozen=True)
class Keys:
    """What a host signs with."""

    access_key_id: str
    secret_access_key: str
    session_token: str | None = None


@dataclass(frozen=True)
class Target:
    """A deployment, and who may do what there."""

    base_url: str
    """Without `/v1`, as the output `BaseUrl` has it."""
    region: str
    owner_token: str
    other_token: str
    keys: Keys
    certificate: str | None = None
    """A file with whom to trust instead of the usual authorities."""
    developer_token: str | None = None
    """Of the owner, as a developer."""
    auditor: Keys | None = None

    @classmethod
    def told(cls, base_url: str, environment: Mapping[str, str]) -> Self:
        """The deployment at *base_url*, with what *environment* says."""
        if missing := [f"{name} ({what})" for name, what in VARIABLES.items() if not environment.get(name)]:
            raise NotToldEnough(f"To run against {base_url}, set " + "; ".join(missing))
        return cls(
            base_url=base_url.rstrip("/"),
            region=environment["AWS_REGION"],
            owner_token=environment["OWNER_TOKEN"],
            other_token=environment["OTHER_TOKEN"],
            keys=Keys(
                environment["AWS_ACCESS_KEY_ID"],
                environment["AWS_SECRET_ACCESS_KEY"],
                environment.get("AWS_SESSION_TOKEN"),
            ),
            certificate=environment.get("AWS_CA_BUNDLE"),
            developer_token=environment.get("DEVELOPER_TOKEN"),
            auditor=_auditor(environment),
        )


def _auditor(environment: Mapping[str, str]) -> Keys | None:
    key, secret = environment.get("AUDITOR_ACCESS_KEY_ID"), environment.get("AUDITOR_SECRET_ACCESS_KEY")
    return Keys(key, secret, environment.get("AUDITOR_SESSION_TOKEN")) if key and secret else None
