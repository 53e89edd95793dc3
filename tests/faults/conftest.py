"""Laboratories for breaking things: on moto and, where it matters, on the emulator; pauses cost nothing."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.faults.tally import Tally, Tried, tried
from tests.faults.victims import OURS, THE_SDKS, Victim, victim_of
from tests.support.engines import Engine, on_each_call
from tests.support.faults import Stopwatch
from tests.support.laboratory import Laboratory


def pytest_configure(config: pytest.Config) -> None:
    """Count what is tried."""
    config.pluginmanager.register(Tally(), "faults")
    on_each_call(lambda **_: tried(Tried.REQUESTS))


@pytest.fixture(scope="session")
def clients() -> dict[str, Any]:
    """One healthy pair of clients per engine: making them costs more than most tests."""
    return {}


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
def emulated_lab(ministack_engine: Engine, clients: dict[str, Any]) -> Laboratory:
    """A laboratory on the emulator alone."""
    return _laboratory(ministack_engine, clients)


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
