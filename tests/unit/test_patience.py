"""How long the store keeps trying: growing pauses, never past the deadline."""

from collections.abc import Callable

from turnkeeper.store.patience import FIRST_PAUSE, LONGEST_PAUSE, Patience


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def patience(seconds: float, time: Time) -> Patience:
    clock: Callable[[], float] = time
    return Patience(seconds=seconds, clock=clock, sleep=time.sleep)


def test_it_pauses_until_the_deadline_and_never_past_it() -> None:
    time = Time()
    ours = patience(10, time)
    while ours.pause():
        assert time.now < 10

    assert sum(time.slept) < 10
    assert len(time.slept) > 10


def test_its_pauses_grow_to_a_bound() -> None:
    time = Time()
    ours = patience(1_000, time)
    while ours.pause():
        pass

    assert max(time.slept[:1]) <= FIRST_PAUSE
    assert max(time.slept[:4]) <= FIRST_PAUSE * 8
    assert LONGEST_PAUSE / 2 < max(time.slept) <= LONGEST_PAUSE


def test_none_at_all_does_not_pause() -> None:
    time = Time()

    assert not patience(0, time).pause()
    assert time.slept == []


def test_it_is_over_at_its_deadline() -> None:
    time = Time()
    ours = patience(10, time)

    assert not ours.is_over
    time.sleep(10)
    assert ours.is_over
