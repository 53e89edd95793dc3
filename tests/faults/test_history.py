"""The checker itself: it takes what can have happened, and refuses every kind of history that cannot."""

import random
from dataclasses import replace

import pytest

from tests.faults.history import BEGINNING, Seen, wrong


def write(who: str, began: int, ended: int | None, replaced: str, value: str, *, end: bool = False) -> Seen:
    return Seen(who=who, began=began, ended=ended, value=value, replaced=replaced, is_end=end)


def read(who: str, began: int, ended: int, value: str) -> Seen:
    return Seen(who=who, began=began, ended=ended, value=value)


A = write("alice", 0, 10, BEGINNING, "a")
B = write("bob", 20, 30, "a", "b")
C = write("carol", 25, 45, "b", "c")

RIGHT = {
    "nothing but a beginning": ([A], "a"),
    "one after the other": ([A, B, C], "c"),
    "in whatever order they are told": ([C, A, B], "c"),
    "a reader sees the old value while a write is under way": ([A, B, read("reader", 21, 29, "a")], "b"),
    "a reader sees the new value while a write is under way": ([A, B, read("reader", 21, 22, "b")], "b"),
    "readers who overlap see both": ([A, B, read("one", 21, 28, "b"), read("two", 22, 29, "a")], "b"),
    "a write whose answer was lost was done": ([A, replace(B, ended=None), read("reader", 90, 91, "b")], "b"),
    "a write whose answer was lost was not done": (
        [A, replace(B, ended=None), read("reader", 90, 91, "a")],
        "a",
    ),
    "a lost write that another overtook": (
        [A, replace(B, ended=None), write("carol", 40, 50, "a", "c")],
        "c",
    ),
    "an end that is the last": ([A, replace(B, is_end=True), read("reader", 40, 50, "b")], "b"),
}
WRONG = {
    "a lost update": ([A, B, write("carol", 22, 33, "a", "c")], "c"),
    "a lost update that nobody saw happen": ([A, B, write("carol", 40, 50, "a", "c")], "b"),
    "a stale read": ([A, B, read("reader", 40, 50, "a")], "b"),
    "a read of what is not written yet": ([A, B, read("reader", 12, 15, "b")], "b"),
    "a read of what nobody wrote": ([A, read("reader", 12, 15, "x")], "a"),
    "two readers, the later of whom sees less": (
        [A, B, read("one", 21, 22, "b"), read("two", 23, 24, "a")],
        "b",
    ),
    "a split chain": ([A, write("bob", 20, 30, "x", "b")], "b"),
    "a chain that is cut off": ([A, B, C], "b"),
    "an acknowledged write that is gone": ([A, B], "a"),
    "writes in the wrong order": ([A, write("bob", 20, 30, "c", "b"), write("carol", 40, 50, "a", "c")], "b"),
    "the same value twice": ([A, B, write("carol", 40, 50, "b", "a")], "a"),
    "two who wrote the same": ([A, B, write("carol", 40, 50, "a", "b")], "b"),
    "an ended task that was reopened": ([A, replace(B, is_end=True), write("carol", 40, 50, "b", "c")], "c"),
    "an end that was seen and is gone": (
        [A, B, replace(read("reader", 31, 39, "b"), is_end=True), write("carol", 40, 50, "b", "c")],
        "c",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_can_have_happened_is_taken(name: str) -> None:
    history, latest = RIGHT[name]

    assert list(wrong(history, latest=latest)) == []


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_have_happened_is_refused(name: str) -> None:
    history, latest = WRONG[name]

    assert list(wrong(history, latest=latest))


def lived(rng: random.Random) -> tuple[list[Seen], str]:
    """A history that happened: calls under way for a while, each done at one instant in between, in that order."""
    history, value = [write("creator", 0, 1, BEGINNING, "v0")], "v0"
    for number, at in enumerate(range(10, 400, 10), start=1):
        began, ended = at - rng.randrange(0, 40), at + rng.randrange(1, 40)
        who, began = f"call {number}", max(began, 2)
        if rng.random() < 0.5:
            history.append(read(who, began, ended, value))
        else:
            history.append(write(who, began, ended, value, f"v{number}"))
            value = f"v{number}"
    rng.shuffle(history)
    return history, value


@pytest.mark.parametrize("seed", range(40))
def test_a_history_that_happened_is_taken_and_refused_once_it_is_falsified(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - the same each time
    history, latest = lived(rng)
    assert list(wrong(history, latest=latest)) == []

    replaced = [call for call in history if call.is_write and call.value != latest and call.replaced]
    victim = rng.choice(replaced)
    doubled = replace(victim, who="twin", value="twin")
    late = Seen(who="late reader", began=1_000, ended=1_001, value=victim.value)
    without = [call for call in history if call is not victim]

    for falsified in ([*history, doubled], [*history, late], without):
        assert list(wrong(falsified, latest=latest))
