"""The ways in which a run is cut at one of its calls."""

from dataclasses import dataclass

from tests.support.faults import (
    ANY,
    ERROR_AFTER,
    ERROR_BEFORE,
    LOST,
    NOT_SENT,
    THROTTLED,
    Fault,
    Faults,
)


@dataclass(frozen=True, slots=True)
class Way:
    """What the *nth* of all calls meets: a *fault*, once or from then on, or without one the end of its process."""

    name: str
    fault: Fault | None = None
    for_good: bool = False
    sent: bool = False

    def cut(self, faults: Faults, nth: int) -> None:
        """Have the run be cut so at its *nth* call, counted from now."""
        if self.fault is None:
            faults.die_at(ANY, nth, sent=self.sent)
        else:
            faults.inject(self.fault, ANY, nth=nth, times=None if self.for_good else 1)

    @property
    def is_death(self) -> bool:
        """Its process is gone."""
        return self.fault is None

    def __str__(self) -> str:
        return self.name


FAULTS = (NOT_SENT, LOST, THROTTLED, ERROR_AFTER, ERROR_BEFORE)
WAYS = (
    Way("process gone before it is sent"),
    Way("process gone after it was done", sent=True),
    *(Way(f"{fault} from then on", fault, for_good=True) for fault in FAULTS),
    *(Way(f"{fault} once", fault) for fault in FAULTS),
)
