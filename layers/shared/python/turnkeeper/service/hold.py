"""A worker's hold on a turn: it writes under the turn's fence, and renews lease and message while the agent thinks.

Renewals and the agent's writes take turns at one lock, so that a worker never races itself.
"""

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import Self

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import StaleFence, TaskIsTerminal
from turnkeeper.domain.task import Task, Turn
from turnkeeper.domain.transitions import Change
from turnkeeper.service.change import Decide, apply
from turnkeeper.service.runtime import Runtime

ACTOR = "worker"
AFTER_LEASE = timedelta(seconds=5)

log = logging.getLogger(__name__)

type Hide = Callable[[timedelta], None]
"""Keeps the wake-up that brought the worker here from others, for so long from now."""


class Hold:
    """The turn of *task*, as long as nobody took it over; entering starts the renewals, leaving ends them."""

    def __init__(self, runtime: Runtime, task: Task, turn: Turn, hide: Hide) -> None:
        self.runtime, self.task, self.hide = runtime, task, hide
        self.fence = turn.fence
        self.was_lost = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_over, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def write(self, decide: Decide) -> Change:
        """Apply a transition to the turn; `StaleFence` or `TaskIsTerminal` when it is not ours any more."""
        with self._lock:
            return self._write(decide)

    def renew(self) -> None:
        """Renew lease and message once; what fails is tried again at the next heartbeat."""

        def decide(current: Task, now: datetime) -> Change:
            return transitions.heartbeat(current, fence=self.fence, now=now, pace=self.runtime.pace)

        with self._lock:
            try:
                if self._write(decide).is_change:
                    self.hide(self.runtime.pace.lease + AFTER_LEASE)
            except (StaleFence, TaskIsTerminal):
                self.was_lost = True
                self._over.set()
            except Exception as error:  # noqa: BLE001 - the next heartbeat tries again; the lease tells the rest
                log.warning("heartbeat failed (%s)", type(error).__name__)

    def _write(self, decide: Decide) -> Change:
        if self.was_lost:
            raise StaleFence(self.fence)
        change = apply(self.runtime, self.task, decide, actor=ACTOR)
        self.task = change.after
        return change

    def _renew_until_over(self) -> None:
        while not self._over.wait(self.runtime.heartbeat.total_seconds()):
            self.renew()
