"""How soon somebody looks at a task again, by the deployment's numbers."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The deployment's numbers that decide when somebody looks again."""

    lease: timedelta
    wake_grace: timedelta
    wake_grace_max: timedelta
    retention: timedelta

    def grace(self, looks: int) -> timedelta:
        """How long to wait for a wake-up before looking again: doubles with each fruitless look."""
        return min(self.wake_grace * (1 << min(looks, 16)), self.wake_grace_max)
