"""A deployment for when none is named: the stack on an engine of this machine, with settings that make nobody wait.

The one file of the suite that knows the product, and only how to bring it up.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from offline import hosts
from offline.deployment import deploy
from offline.endpoint import REGION
from offline.engine import Engine
from offline.users import token
from tests.conformance.target import Keys, Target

HOST = "conformance"
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
        host = hosts.make_host(engine.endpoint, HOST)
        declared = {"external_hosts": json.dumps(hosts.declaration([host]))}
        deployment = deploy(engine, context=QUICK | declared)
        hosts.let_in(deployment, host)
        keys = hosts.keys_of(engine.endpoint, host)
        yield Target(
            base_url=deployment.base_url,
            region=REGION,
            owner_token=token(deployment, "owner"),
            other_token=token(deployment, "other"),
            keys=Keys(keys.access_key_id, keys.secret_access_key),
        )
