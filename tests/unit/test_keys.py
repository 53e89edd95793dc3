"""Idempotency keys: whose they are, what for, and until when."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.specimens import DAY, NOW, SECOND, queued
from turnkeeper.domain.errors import KeyReused
from turnkeeper.store.keys import Claim, claim


def claim_of(key: str = "k", body: str = "{}", now: Any = NOW, lasts: timedelta = DAY) -> Claim:
    return claim(key, caller="alice", route="inputs", task_id="t", body=body, now=now, lasts=lasts)


@given(
    st.lists(st.text(max_size=4), min_size=4, max_size=4),
    st.lists(st.text(max_size=4), min_size=4, max_size=4),
)
def test_a_key_is_its_callers_for_one_route_and_one_task(one: list[str], other: list[str]) -> None:
    scopes = [
        claim(key, caller=caller, route=route, task_id=task_id, body="{}", now=NOW, lasts=DAY).scope
        for caller, route, task_id, key in (one, other)
    ]

    assert (scopes[0] == scopes[1]) is (one == other)


def test_a_key_is_stored_as_a_hash_and_so_is_its_body() -> None:
    stored = claim_of("secret-key", body='"secret body"').item(task=queued(), received_at=NOW)

    assert "secret" not in str(stored)


def test_a_key_that_was_never_used_made_nothing() -> None:
    assert claim_of().made(None) is None


def test_a_key_says_what_it_made_until_its_time_is_over() -> None:
    task = queued()
    stored = claim_of().item(task=task, received_at=NOW)

    last = claim_of(now=NOW + DAY - SECOND).made(stored)

    assert last
    assert (last.task_id, last.log_number, last.received_at) == (task.id, task.log_number, NOW)
    assert claim_of(now=NOW + DAY).made(stored) is None


def test_a_key_with_another_body_is_refused_until_its_time_is_over() -> None:
    stored = claim_of(body='"one"').item(task=queued(), received_at=NOW)

    with pytest.raises(KeyReused):
        claim_of(body='"other"').made(stored)
    assert claim_of(body='"other"', now=NOW + DAY).made(stored) is None


def test_a_create_without_input_remembers_no_receipt() -> None:
    stored = {
        name: value
        for name, value in claim_of().item(task=queued(), received_at=None).items()
        if value is not None
    }

    made = claim_of().made(stored)

    assert made
    assert made.received_at is None
