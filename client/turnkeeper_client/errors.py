"""Why something did not happen, one class per kind: a refusal with all it says, or that nobody answered."""

from turnkeeper_client.problems import Place, Problem, Retry


class TurnkeeperError(Exception):
    """Something that was asked of Turnkeeper did not happen, or nobody knows whether it did."""


class Unreachable(TurnkeeperError):
    """The server cannot be reached; nothing was sent, so nothing has happened."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The server cannot be reached: {reason}")
        self.reason = reason


class AnswerLost(TurnkeeperError):
    """The request was sent and no answer came: it may have been done, or not. Look before you repeat it."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"No answer came, and the request may have been carried out: {reason}")
        self.reason = reason


class Unsendable(TurnkeeperError):
    """The request cannot be written, so nothing was sent: a token, a key or a name has what HTTP does not take."""

    def __init__(self, what: str, problem: str) -> None:
        super().__init__(f"Nothing was sent: {what} {problem}.")
        self.what, self.problem = what, problem


class NotUnderstood(TurnkeeperError):
    """What came back is not what the API promises: another server, or a proxy, answered."""

    def __init__(self, at: str, problem: str) -> None:
        super().__init__(f"The answer is not one of Turnkeeper's: {at} {problem}")
        self.at, self.problem = at, problem


class Refused(TurnkeeperError):
    """The request was refused; a kind that this client does not know is this very class."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(_words(problem))
        self.problem = problem

    @property
    def status(self) -> int:
        """The status of HTTP."""
        return self.problem.status

    @property
    def code(self) -> int | None:
        """The agent status code; None where the gateway itself refused."""
        return self.problem.code

    @property
    def name(self) -> str | None:
        """The name that belongs to the code."""
        return self.problem.name

    @property
    def places(self) -> tuple[Place, ...]:
        """What is wrong, and where."""
        return self.problem.places

    @property
    def retry(self) -> Retry:
        """What is promised about sending the same again."""
        return self.problem.retry


class Malformed(Refused):
    """The request cannot be read: JSON, a cursor, a limit, a key (400)."""


class Invalid(Refused):
    """The request can be read and says something wrong; `places` names each (422)."""


class TooLarge(Refused):
    """The input is too large; send it as a file (413)."""


class NotSignedIn(Refused):
    """There is no token, or it has expired (401)."""


class NotAllowed(Refused):
    """The token or the signature is not one for this (403)."""


class NotFound(Refused):
    """There is no such thing for you (404)."""


class WrongState(Refused):
    """What it is about has ended, or is not so far yet (409, ASC-4001)."""


class Conflict(Refused):
    """The key came before with another body, or the turn is somebody else's by now (409, ASC-4005)."""


class Throttled(Refused):
    """Too many requests, even after some patience (429)."""


class Unavailable(Refused):
    """The service cannot do it now (502, 503, 504), even after some patience."""


class OutcomeUnknown(Refused):
    """Nobody knows whether it was done (ASC-6005). Look before you repeat it."""


class ServerFault(Refused):
    """A fault of the deployment's own (500); whoever runs it finds it by `problem.correlation_id`."""


BY_CODE: dict[int, type[Refused]] = {6005: OutcomeUnknown}
BY_BOTH: dict[tuple[int, int], type[Refused]] = {(409, 4005): Conflict}
BY_STATUS: dict[int, type[Refused]] = {
    400: Malformed,
    401: NotSignedIn,
    403: NotAllowed,
    404: NotFound,
    409: WrongState,
    413: TooLarge,
    422: Invalid,
    429: Throttled,
    500: ServerFault,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def refusal(problem: Problem) -> Refused:
    """*problem* as the error of its kind: by what its code says, then by its HTTP status."""
    kind = BY_STATUS.get(problem.status, Refused)
    if problem.code is not None:
        kind = BY_CODE.get(problem.code) or BY_BOTH.get((problem.status, problem.code)) or kind
    return kind(problem)


def _words(problem: Problem) -> str:
    label = f" (ASC-{problem.code})" if problem.code is not None else f" (HTTP {problem.status})"
    places = [f"{place.at}: {place.problem}" for place in problem.places]
    # A detail that is the only place needs saying once.
    return "\n  ".join([f"{problem.detail}{label}", *(one for one in places if one != problem.detail)])
