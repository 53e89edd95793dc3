"""Instants as text: six digits and `Z`, in the order of time, and never twice the same in one task."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.specimens import NOW
from turnkeeper.domain.instants import MICROSECOND, after, from_text, to_text

instants = st.datetimes(timezones=st.just(UTC))


@pytest.mark.clause("TS-4", "TS-8a", "TN-5")
@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (datetime(2026, 11, 30, 13, 44, 13, tzinfo=UTC), "2026-11-30T13:44:13.000000Z"),
        (datetime(2026, 1, 2, 3, 4, 5, 60, tzinfo=UTC), "2026-01-02T03:04:05.000060Z"),
        (datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "2025-12-31T23:00:00.000000Z"),
    ],
)
def test_an_instant_is_shown_in_utc_with_six_digits(instant: datetime, text: str) -> None:
    assert to_text(instant) == text


@given(instants)
def test_an_instant_comes_back_from_its_text(instant: datetime) -> None:
    assert from_text(to_text(instant)) == instant
    assert from_text(to_text(instant)).utcoffset() == timedelta(0)


@given(instants, instants)
def test_texts_are_in_the_order_of_their_instants(one: datetime, other: datetime) -> None:
    assert (to_text(one) < to_text(other)) is (one < other)


@given(instants)
def test_a_text_has_always_the_same_length(instant: datetime) -> None:
    assert len(to_text(instant)) == len("2026-11-30T13:44:13.000000Z")


@given(st.lists(st.timedeltas(timedelta(seconds=-2), timedelta(seconds=2)), max_size=20))
def test_times_given_out_only_grow_whatever_the_clocks_say(skews: list[timedelta]) -> None:
    last: datetime | None = None
    for skew in skews:
        given_out = after(NOW + skew, last)
        assert given_out >= NOW + skew
        assert last is None or given_out > last
        last = given_out


def test_a_clock_that_is_right_is_believed() -> None:
    assert after(NOW, None) == NOW
    assert after(NOW + MICROSECOND, NOW) == NOW + MICROSECOND
    assert after(NOW, NOW) == NOW + MICROSECOND
