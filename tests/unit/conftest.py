"""Properties are tried with the same examples each time; `--hypothesis-profile=explore` looks for others."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from turnkeeper.guards.evaluator import Evaluator

settings.register_profile("ours", deadline=None, derandomize=True, print_blob=True)
settings.register_profile(
    "explore",
    deadline=None,
    max_examples=2_000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ours")


@pytest.fixture(scope="session")
def evaluator() -> Iterator[Evaluator]:
    held = Evaluator()
    yield held
    held.close()
