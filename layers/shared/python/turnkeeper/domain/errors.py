"""What can be refused, one class per fact. Facts are attributes; HTTP knows nothing of them here."""

from collections.abc import Sequence
from dataclasses import dataclass


class TaskError(Exception):
    """Something that was asked cannot be done; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the request something is wrong (a path such as `message[0].text`), and how to mend it."""

    at: str
    problem: str


def _named(places: Sequence[Place]) -> str:
    return "; ".join(f"{place.at}: {place.problem}" for place in places)


class MalformedRequest(TaskError):
    """The request cannot be read at all: JSON, a cursor, a limit, a header."""

    def __init__(self, at: str, problem: str, *more: Place) -> None:
        self.places: Sequence[Place] = (Place(at, problem), *more)
        super().__init__(_named(self.places))


class InvalidInput(TaskError):
    """The request can be read but does not say something acceptable; every wrong place is named."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = tuple(places)
        super().__init__(_named(self.places))


class InputTooLarge(TaskError):
    """The input is larger than the store takes; larger content travels by reference (CP-5)."""

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(
            f"The input is {size} bytes; at most {limit} are taken, counted as compact JSON. Send it in several inputs."
        )
        self.size, self.limit = size, limit


class TaskNotFound(TaskError):
    """There is no such task for this caller; it may be another's, which nobody is told (SEC-2)."""

    def __init__(self) -> None:
        super().__init__("There is no such task.")


class NotAHuman(TaskError):
    """The token is valid but names no human, and people's routes are for people."""

    def __init__(self) -> None:
        super().__init__("This token names no human; sign in as a user and send the access token.")


class NotAHost(TaskError):
    """The request carries no IAM principal, and hosts' routes are for those."""

    def __init__(self) -> None:
        super().__init__("This request names no IAM principal; sign it with the keys of a role or a user.")


class TaskIsTerminal(TaskError):
    """The task has ended; nothing can change it any more (TS-5c)."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The task has ended ({reason}); start a new one.")
        self.reason = reason


class InputsArePending(TaskError):
    """Completing would drop inputs that were accepted (IN-1c)."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} accepted inputs still wait; let a turn take them, or discard them.")
        self.count = count


class UnitsNotReached(TaskError):
    """A success would hide units that the goal needs and that were not reached (REG-6, MOD-4)."""

    def __init__(self, count: int) -> None:
        super().__init__(
            f"{count} requested units were not reached; complete with PARTIAL_SUCCESS (2002), or report on them again."
        )
        self.count = count


class KeyReused(TaskError):
    """The Idempotency-Key was used before with another body."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key came before with another body; use a new key.")


class StaleFence(TaskError):
    """The turn belongs to somebody else by now, or has ended; this worker may not write."""

    def __init__(self, fence: int) -> None:
        super().__init__(f"The turn is no longer held under fence {fence}; stop, and write nothing more.")
        self.fence = fence


class TurnNotRunnable(TaskError):
    """There is nothing to start here now: no pending input, or a turn that runs or waits."""

    def __init__(self) -> None:
        super().__init__("The task has no turn to start now.")


class NothingLeftToRun(TaskError):
    """Taking the task up did all there was to do: what waited was refused, held or said, and no turn is left to run."""

    def __init__(self) -> None:
        super().__init__(
            "The task was taken up, and no turn of it is left to run now; read it to see what came of it."
        )


class WaitNotFound(TaskError):
    """The wait was resolved before, or never existed."""

    def __init__(self) -> None:
        super().__init__("There is no such wait on this task.")


class WaitIsOver(TaskError):
    """The wait was resolved before, with another verdict, which stands."""

    def __init__(self, verdict: str) -> None:
        super().__init__(f"The wait was resolved before ({verdict}), and stays so.")
        self.verdict = verdict


class ReviewIsOver(TaskError):
    """The review was decided otherwise, or is waited for no longer: it took too long, or its turn ended."""

    def __init__(self, *, decided: bool) -> None:
        what = (
            "was decided before, otherwise or with another comment"
            if decided
            else "is not waited for any longer"
        )
        super().__init__(f"The review {what}; there is nothing left to decide.")
        self.decided = decided


class CallReused(TaskError):
    """The turn made a child by this call before, of another agent or with another input."""

    def __init__(self) -> None:
        super().__init__(
            "This call came before in this turn with another body; give the new one a name of its own."
        )


class StoreIsBusy(TaskError):
    """Too many writers at once: no write got through before the deadline, and nothing was stored."""

    def __init__(self) -> None:
        super().__init__("The task is being changed by others; nothing was stored. Send the request again.")


class StoreIsUnavailable(TaskError):
    """The store or the network did not answer; nothing was stored."""

    def __init__(self) -> None:
        super().__init__("The store did not answer; nothing was stored. Send the request again.")


class GuardrailsUnavailable(TaskError):
    """What evaluates the guardrails cannot be started: nothing was judged, so nothing goes on, or is denied."""

    def __init__(self) -> None:
        super().__init__(
            "The guardrails cannot be evaluated now; nothing was stored. Send the request again."
        )


class CommitUnknown(TaskError):
    """A write may or may not have happened, and the journal could not be read to find out (RET-4)."""

    def __init__(self) -> None:
        super().__init__(
            "It is unknown whether this was stored. Repeat it with the same Idempotency-Key, or read the task first."
        )
