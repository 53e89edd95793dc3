"""How long to keep trying: growing pauses with full jitter, until a deadline (10 s as a rule)."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

SECONDS = 10.0
CHANCE = random.SystemRandom()
"""Of the kernel: processes that are restored from one snapshot must not pause alike."""

FIRST_PAUSE = 0.02
LONGEST_PAUSE = 1.0
AMONG_WRITERS = 0.25
"""The longest pause of one who was overtaken: the table is well, and who comes back late is overtaken again."""


@dataclass(slots=True)
class Patience:
    """One caller's patience: it starts when it is made, and is spent by pausing."""

    seconds: float = SECONDS
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    pauses: int = 0
    ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.ends_at = self.clock() + self.seconds

    @property
    def is_over(self) -> bool:
        """The deadline has passed."""
        return self.clock() >= self.ends_at

    def once_more(self, seconds: float) -> Self:
        """A little more of it, on the same clock; 0 seconds are enough for one try."""
        return type(self)(seconds=seconds, clock=self.clock, sleep=self.sleep)

    def pause(self, longest: float = LONGEST_PAUSE) -> bool:
        """Wait a little, longer each time; False, without waiting, when the deadline would pass."""
        wait = CHANCE.uniform(0, min(FIRST_PAUSE * 2 ** min(self.pauses, 10), longest))
        if self.clock() + wait >= self.ends_at:
            return False
        self.pauses += 1
        self.sleep(wait)
        return True
