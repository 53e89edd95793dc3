"""Two deployments for all of the end-to-end tests: the CDK CLI deploys the very stack onto an engine of its own.

On one, everything comes as `make up` has it; on the other, the engine verifies every signature and enforces every role.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from offline import hosts
from offline.deployment import deploy
from offline.engine import Engine
from offline.issuer import Issuer, issuer
from tests.support.deployed import SHORT, Deployed
from tests.support.hosts import (
    HostClient,
    declaration,
    make_function,
    make_role,
    role_at,
    tell_function,
    user_at,
)

SHORTER = SHORT | {"lease_seconds": "4", "heartbeat_seconds": "1", "sweep_enabled": "false"}
"""Settings for tests that kill: a lease is over soon, and nothing sweeps but the test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run of the rehearsal tell all of it."""
    parser.addoption("--rehearse-all", action="store_true", help="the long form of the rehearsal, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the long form to those who ask for it."""
    if config.getoption("--rehearse-all", default=False):
        return
    left_out = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@dataclass(frozen=True)
class Authorised:
    """A deployment where nobody gets further than AWS would let them, and who is known to it."""

    deployed: Deployed
    issuer: Issuer
    acme: HostClient
    """A user."""
    globex: HostClient
    """A session of a role."""
    function: str
    """The ARN of a Lambda function that runs as Globex."""


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with Engine(tmp_path_factory.mktemp("engine")) as engine:
        yield Deployed(engine, deploy(engine, context=SHORT))


@pytest.fixture(scope="session")
def authorised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authorised]:
    if shutil.which("openssl") is None:
        pytest.fail("the engine makes its certificate with openssl; install it")
    with (
        Engine(tmp_path_factory.mktemp("authorised"), strict=True) as engine,
        issuer(engine.state_dir) as trusted,
    ):
        acme, globex = hosts.make_host(engine.endpoint, "acme"), make_role(engine.endpoint, "globex")
        function = make_function(engine.endpoint, "answers", role=globex.arn)
        context = SHORTER | trusted.settings | declaration([acme, globex]) | {"host_functions": function}
        deployed = Deployed(engine, deploy(engine, context=context))
        as_globex = role_at(deployed, globex, session="one")
        tell_function(function, as_globex)
        yield Authorised(deployed, trusted, user_at(deployed, acme), as_globex, function)


@pytest.fixture(scope="session")
def authorised_deployment(authorised: Authorised) -> Deployed:
    return authorised.deployed


@pytest.fixture(scope="session")
def acme(authorised: Authorised) -> HostClient:
    return authorised.acme


@pytest.fixture(scope="session")
def globex(authorised: Authorised) -> HostClient:
    return authorised.globex
