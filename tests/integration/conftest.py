"""A laboratory per test, on each engine."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.support.counting import Count, Counting, counted
from tests.support.engines import Engine
from tests.support.gateway import ENVIRONMENT, Gateway, forget_settings
from tests.support.laboratory import Clock, Laboratory


@pytest.fixture
def lab(engine: Engine) -> Laboratory:
    return Laboratory(engine)


@pytest.fixture
def counting(engine: Engine) -> Laboratory:
    """A laboratory whose clients count; its agents are known already, as they are after their first use."""
    dynamodb, sqs = Counting(engine.client("dynamodb")), Counting(engine.client("sqs"))
    lab = Laboratory(engine, dynamodb=dynamodb, sqs=sqs)
    for agent in ("echo", "mayfly"):
        lab.create(agent=agent, caller="somebody")
    return lab


@pytest.fixture
def count(counting: Laboratory) -> Count:
    """A tally of what a block calls."""
    return lambda: counted(counting.dynamodb, counting.sqs)


@pytest.fixture
def live_lab(moto_engine: Engine) -> Laboratory:
    """A laboratory on the wall clock, since the functions have no other."""
    return Laboratory(moto_engine, clock=Clock(datetime.now(UTC)))


@pytest.fixture
def api(live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """The functions behind the gateway, on the table and the queue of `live_lab`."""
    places = {"TURNKEEPER_TABLE": live_lab.table, "TURNKEEPER_QUEUE_URL": live_lab.queue_url}
    for name, value in {**ENVIRONMENT, **places}.items():
        monkeypatch.setenv(name, value)
    forget_settings()
    yield Gateway()
    forget_settings()
