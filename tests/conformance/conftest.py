"""One deployment for the whole suite, two people and a host there, and the count of clauses."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.client import Bearer, Client, Signature, connection
from tests.conformance.early import Early, make
from tests.conformance.host import Host
from tests.conformance.offline_stack import offline_stack
from tests.conformance.person import Person
from tests.conformance.scoreboard import Scoreboard, clauses_of
from tests.conformance.target import NotToldEnough, Target


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run of the suite alone say where it runs, and where its report goes."""
    group = parser.getgroup("conformance")
    group.addoption("--base-url", help="the deployment to drive; without it, one is brought up offline")
    group.addoption("--clause", action="append", help="run the tests of this clause alone, such as TS-5c")
    group.addoption("--clauses-report", type=Path, help="where to write the table, clause by clause")


def pytest_configure(config: pytest.Config) -> None:
    """Count clauses."""
    report: Path | None = config.getoption("--clauses-report", None)
    config.pluginmanager.register(Scoreboard(report=report), "clauses")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about none of the clauses that were asked for."""
    if not (wanted := set(config.getoption("--clause", None) or ())):
        return
    left_out = [item for item in items if wanted.isdisjoint(clauses_of(item))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="package")
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    if base_url := request.config.getoption("--base-url", None):
        try:
            yield Target.told(base_url, os.environ)
        except NotToldEnough as missing:
            pytest.exit(str(missing), returncode=pytest.ExitCode.USAGE_ERROR)
        return
    with offline_stack(tmp_path_factory.mktemp("conformance")) as brought_up:
        yield brought_up


@pytest.fixture(scope="package")
def owner(target: Target) -> Iterator[Person]:
    with connection(target, Bearer(target.owner_token)) as http:
        yield Person(http)


@pytest.fixture(scope="package")
def other(target: Target) -> Iterator[Person]:
    """Somebody else: a stranger to the owner's tasks, or a reviewer."""
    with connection(target, Bearer(target.other_token)) as http:
        yield Person(http)


@pytest.fixture(scope="package")
def host(target: Target) -> Iterator[Host]:
    with connection(target, Signature(target.keys, target.region)) as http:
        yield Host(http)


@pytest.fixture(scope="package")
def nobody(target: Target) -> Iterator[Client]:
    with connection(target, None) as http:
        yield Client(http)


@pytest.fixture(scope="package")
def agent(host: Host) -> str:
    """An agent of the host's with nothing special about it."""
    return host.agent()


@pytest.fixture(scope="package")
def owner_id(owner: Person, agent: str) -> str:
    """What the deployment calls the owner."""
    return str(owner.task(owner.create(agent))["responsible_user"])


@pytest.fixture(scope="package")
def other_id(other: Person, agent: str) -> str:
    """What the deployment calls the other person."""
    return str(other.task(other.create(agent))["responsible_user"])


@pytest.fixture(scope="package", autouse=True)
def early(owner: Person, host: Host) -> Early:
    """Tasks that are made before the first test."""
    return make(owner, host)


@pytest.fixture
def idle(owner: Person, agent: str) -> str:
    """A task that was never told anything."""
    return owner.create(agent)


@pytest.fixture
def queued(owner: Person, agent: str) -> str:
    """A task whose first input waits for a turn."""
    return owner.create(agent, "first")
