"""A laboratory per test, on each engine."""

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.support.engines import KEYS, REGION, Engine
from tests.support.laboratory import Laboratory


@pytest.fixture
def moto_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS["aws_access_key_id"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEYS["aws_secret_access_key"])
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield Engine("moto", None)


@pytest.fixture
def lab(moto_engine: Engine) -> Laboratory:
    return Laboratory(moto_engine)
