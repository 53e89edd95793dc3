"""One deployment for the whole suite, two people and a host there, and the count of clauses."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conformance.clauses import clauses
from tests.conformance.client import Bearer, Client, Signature, connection
from tests.conformance.early import Early, make
from tests.conformance.host import Host
from tests.conformance.inside import inside
from tests.conformance.offline_stack import offline_stack
from tests.conformance.person import Person
from tests.conformance.scoreboard import SUITE, Scoreboard, clauses_of
from tests.conformance.target import NotToldEnough, Target


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run of the suite alone say where it runs, and where its report goes."""
    group = parser.getgroup("conformance")
    group.addoption("--base-url", help="the deployment to drive; without it, one is brought up offline")
    group.addoption("--clause", action="append", help="run the tests of this clause, or profile, alone")
    group.addoption(
        "--inside", action="store_true", help="run the tests beside the code too that name a clause"
    )
    group.addoption("--clauses-report", type=Path, help="where to write the table, clause by clause")


def pytest_configure(config: pytest.Config) -> None:
    """Count clauses, and collect what looks inside where that is asked for."""
    if config.getoption("--inside", default=False):
        config.args += map(str, inside())
    report: Path | None = config.getoption("--clauses-report", None)
    config.pluginmanager.register(Scoreboard(report=report), "clauses")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about none of the clauses that were asked for, and of what looks inside all that names none."""
    asked = set(config.getoption("--clause", None) or ())
    wanted = asked.union(*(clause.parts for clause in clauses() if clause.id in asked))
    looks_inside = config.getoption("--inside", default=False)

    def is_left_out(item: pytest.Item) -> bool:
        about = set(clauses_of(item))
        if wanted and wanted.isdisjoint(about):
            return True
        return looks_inside and not about and item.path.parent != SUITE

    left_out = list(filter(is_left_out, items))
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not is_left_out(item)]


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
def developer(target: Target) -> Iterator[Person]:
    """The owner again, as a developer."""
    if target.developer_token is None:
        pytest.skip("DEVELOPER_TOKEN is not set")
    with connection(target, Bearer(target.developer_token)) as http:
        yield Person(http)


@pytest.fixture(scope="package")
def auditor(target: Target) -> Iterator[Host]:
    if target.auditor is None:
        pytest.skip("AUDITOR_ACCESS_KEY_ID and AUDITOR_SECRET_ACCESS_KEY are not set")
    with connection(target, Signature(target.auditor, target.region)) as http:
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
