"""Why a status is refused: where it is wrong and what is wrong with it, in words that need no stack trace."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

type Rule[Thing] = tuple[str, str, Callable[[Thing], bool]]
"""Where it is, what is wrong with it, and whether it is."""


@dataclass(frozen=True, slots=True)
class Place:
    """One thing that is wrong, and where: *at* is a path such as `causes[0].status.code`."""

    at: str
    problem: str

    def __str__(self) -> str:
        return f"{self.at} {self.problem}"


class StatusRefused(ValueError):
    """A status that says something Agent Status Codes do not allow."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"{at} {problem}")
        self.at, self.problem = at, problem


class PairMismatch(StatusRefused):
    """A registered code with another's name, or the reverse: somebody altered it (REG-2)."""

    def __init__(self, code: int, name: str) -> None:
        super().__init__("status", f"says {code} and {name}, which do not belong together")
        self.code, self.name = code, name


class EnvelopeRefused(Exception):
    """What came is not an envelope; *places* says where and why."""

    def __init__(self, *places: Place) -> None:
        super().__init__("; ".join(str(place) for place in places))
        self.places = places


class IntegrityError(EnvelopeRefused):
    """The envelope contradicts itself or the registry, so none of it can be believed (REG-2)."""


class NoAuthority(Exception):
    """Nobody gave *issuer* the right to report on *scope* (SEC-4)."""

    def __init__(self, issuer: str | None, scope: str) -> None:
        super().__init__(f"{issuer or 'A report without an issuer'} may not report on {scope}.")
        self.issuer, self.scope = issuer, scope


def hold[Thing](thing: Thing, rules: Iterable[Rule[Thing]]) -> None:
    """*thing* breaks none of *rules*, or StatusRefused names the first that it breaks."""
    for at, problem, broken in rules:
        if broken(thing):
            raise StatusRefused(at, problem)
