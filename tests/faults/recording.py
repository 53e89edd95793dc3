"""What a run came through: the transitions that it committed, and the functions of the product that it called."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from turnkeeper.domain.rules import Transition
from turnkeeper.store.commit import commit


@dataclass(slots=True)
class Recording:
    """What was seen on this thread."""

    committed: set[Transition] = field(default_factory=set)
    called: set[tuple[str, str]] = field(default_factory=set)
    """The module and the name of each function of a use case."""

    def see(self, frame: FrameType, event: str, _argument: object) -> None:
        """Hear of a call."""
        if event != "call":
            return
        if frame.f_code is commit.__code__:
            self.committed.add(frame.f_locals["change"].transition)
        module = frame.f_globals.get("__name__", "")
        if module.startswith("turnkeeper.service."):
            self.called.add((module, frame.f_code.co_qualname))


@contextmanager
def recording() -> Iterator[Recording]:
    """Record what the block calls."""
    seen, before = Recording(), sys.getprofile()
    sys.setprofile(seen.see)
    try:
        yield seen
    finally:
        sys.setprofile(before)
