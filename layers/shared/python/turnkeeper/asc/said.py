"""What every report has, ours (`Report`) or another's (`Envelope`), for those who need no more than that."""

from typing import Protocol

from turnkeeper.asc.registry import class_of
from turnkeeper.asc.retry import Contract
from turnkeeper.asc.vocabulary import Kind

_FAILURES = frozenset({"request_or_policy", "transient_failure", "fatal_or_indeterminate"})


class SaidStatus(Protocol):
    """The status of a report, ours or another's."""

    @property
    def code(self) -> int:
        """The number."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def kind(self) -> Kind:
        """Outcome, condition or event."""

    @property
    def scope(self) -> str:
        """What it speaks of."""

    @property
    def terminal(self) -> bool:
        """Whether that has ended."""


class Said(Protocol):
    """A child's report: a `Report` of ours or an `Envelope` that came."""

    @property
    def status(self) -> SaidStatus:
        """What happened."""

    @property
    def retry(self) -> Contract | None:
        """What is promised about repeating it."""


def has_failed(status: SaidStatus, *, withheld: bool = False) -> bool:
    """The scope has ended without what was wanted: 4xxx to 6xxx, or 7xxx for which the output was *withheld*.

    Interruption is not failure (INV-5), neither is a cancellation, and doubts about an output that was given are
    doubts. An extension is none by itself.
    """
    if not status.terminal or status.kind is not Kind.STATUS:
        return False
    named = class_of(status.code)
    return named in _FAILURES or (withheld and named == "quality_or_verification")
