"""One deployment for all of the end-to-end tests: the CDK CLI deploys the very stack onto an engine of its own."""

from collections.abc import Iterator

import pytest

from offline.deployment import deploy
from offline.engine import Engine
from tests.support.deployed import SHORT, Deployed


@pytest.fixture(scope="session")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    with Engine(tmp_path_factory.mktemp("engine")) as engine:
        yield Deployed(engine, deploy(engine, context=SHORT))
