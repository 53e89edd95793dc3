"""The engines that tests run on: moto in this process, and one emulator for the whole session."""

from collections.abc import Iterator

import pytest

from offline.engine import Engine as Emulator
from tests.support import callbook
from tests.support.engines import KEYS, REGION, Engine, on_moto

LAST = "test_permissions.py"
"""It asks what all the others did."""


def pytest_configure() -> None:
    """Hear of every call of AWS."""
    callbook.listen()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Have those who ask what the others did come last."""
    items.sort(key=lambda item: item.path.name == LAST)


@pytest.fixture(scope="session")
def ministack_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Emulator(tmp_path_factory.mktemp("ministack")) as emulator:
        yield Engine("ministack", emulator.endpoint_url)


@pytest.fixture
def moto_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["aws_secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with on_moto() as engine:
        yield engine


@pytest.fixture(params=["moto", "ministack"])
def engine(request: pytest.FixtureRequest) -> Engine:
    found: Engine = request.getfixturevalue(f"{request.param}_engine")
    return found
