"""A deployment for when none is named: the stack on an engine of this machine, with settings that make nobody wait.

The one file of the suite that knows the product, and only how to bring it up.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offline import hosts
from offline.deployment import Deployment, deploy
from offline.endpoint import REGION
from offline.engine import Engine
from offline.users import token
from tests.conformance.target import Keys, Target

HOST, AUDITOR, OWNER, DEVELOPERS = "conformance", "auditor", "owner", "developers"
QUICK = {
    "lease_seconds": "6",
    "heartbeat_seconds": "2",
    "wake_grace_seconds": "5",
    "wake_grace_max_seconds": "20",
}


@contextmanager
def offline_stack(folder: Path) -> Iterator[Target]:
    """Run one with its state in *folder* while the block runs."""
    with Engine(folder) as engine:
        host, auditor = hosts.make_host(engine.endpoint, HOST), hosts.make_host(engine.endpoint, AUDITOR)
        declared = {
            "external_hosts": json.dumps(hosts.declaration([host])),
            "auditors": auditor.principal,
            "developer_claim": f"cognito:groups={DEVELOPERS}",
        }
        deployment = deploy(engine, context=QUICK | declared)
        yield Target(
            base_url=deployment.base_url,
            region=REGION,
            owner_token=token(deployment, OWNER),
            other_token=token(deployment, "other"),
            keys=_let_in(deployment, host),
            developer_token=_token_of_a_developer(deployment),
            auditor=_let_in(deployment, auditor),
        )


def _let_in(deployment: Deployment, host: hosts.Host) -> Keys:
    """The keys of *host*, who may call the hosts' API from now on."""
    hosts.let_in(deployment, host)
    keys = hosts.keys_of(deployment.endpoint, host)
    return Keys(keys.access_key_id, keys.secret_access_key)


def _token_of_a_developer(deployment: Deployment) -> str:
    """Another token of the owner's, who is a developer from now on; the ones they have say nothing of that."""
    cognito, pool = deployment.client("cognito-idp"), deployment.outputs["UserPoolId"]
    cognito.create_group(UserPoolId=pool, GroupName=DEVELOPERS)
    cognito.admin_add_user_to_group(UserPoolId=pool, Username=OWNER, GroupName=DEVELOPERS)
    return token(deployment, OWNER)
