"""Laboratories for breaking things: on moto and, where it matters, on an emulator of its own; pauses cost nothing."""

from collections.abc import Iterator
from typing import Any

import pytest
from moto import mock_aws

from offline.engine import Engine as Emulator
from tests.faults.victims import OURS, THE_SDKS, Victim, victim_of
from tests.support.engines import KEYS, REGION, Engine
from tests.support.faults import Stopwatch
from tests.support.laboratory import Laboratory


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of an emulator that lives as long as the tests."""
    with Emulator(tmp_path_factory.mktemp("emulator")) as running:
        yield running.endpoint_url


@pytest.fixture(scope="session")
def clients() -> dict[str, Any]:
    """One healthy pair of clients per engine: making them costs more than most tests."""
    return {}


@pytest.fixture
def moto_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["aws_secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield Engine("moto", None)


@pytest.fixture(params=["moto", "ministack"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn."""
    if request.param == "moto":
        found: Engine = request.getfixturevalue("moto_engine")
        return found
    return Engine("ministack", request.getfixturevalue("emulator"))


def _laboratory(engine: Engine, clients: dict[str, Any]) -> Laboratory:
    if engine.name not in clients:
        clients[engine.name] = engine.client("dynamodb"), engine.client("sqs")
    dynamodb, sqs = clients[engine.name]
    return Laboratory(engine, dynamodb=dynamodb, sqs=sqs)


@pytest.fixture
def lab(engine: Engine, clients: dict[str, Any]) -> Laboratory:
    """A laboratory on each engine in turn."""
    return _laboratory(engine, clients)


@pytest.fixture
def moto_lab(moto_engine: Engine, clients: dict[str, Any]) -> Laboratory:
    """A laboratory on moto alone."""
    return _laboratory(moto_engine, clients)


@pytest.fixture
def stopwatch(monkeypatch: pytest.MonkeyPatch) -> Stopwatch:
    """The time that pauses and time-outs take: the SDK's pauses between its attempts pass on it too."""
    watch = Stopwatch()

    class Time:
        sleep = staticmethod(watch.sleep)

    monkeypatch.setattr("botocore.endpoint.time", Time)
    return watch


@pytest.fixture
def emulated_lab(emulator: str, clients: dict[str, Any]) -> Laboratory:
    """A laboratory on the emulator alone."""
    return _laboratory(Engine("ministack", emulator), clients)


def _victim(request: pytest.FixtureRequest, stopwatch: Stopwatch, *, attempts: int) -> Iterator[Victim]:
    (name,) = {"lab", "moto_lab", "emulated_lab"} & set(request.fixturenames)
    with victim_of(request.getfixturevalue(name), stopwatch, attempts=attempts) as spoiled:
        yield spoiled


@pytest.fixture
def victim(request: pytest.FixtureRequest, stopwatch: Stopwatch) -> Iterator[Victim]:
    """Another process on the test's laboratory, whose calls the test may spoil; its SDK tries once, as shipped."""
    yield from _victim(request, stopwatch, attempts=OURS)


@pytest.fixture
def trusting(request: pytest.FixtureRequest, stopwatch: Stopwatch) -> Iterator[Victim]:
    """A victim whose SDK tries three times before the product hears of it."""
    yield from _victim(request, stopwatch, attempts=THE_SDKS)
