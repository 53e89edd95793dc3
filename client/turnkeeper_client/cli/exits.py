"""Exit codes: a script learns from the number what became of its command (BND-EXIT).

Ten times the first digit of the agent status code, 0 for a success, 10 for what still goes on; 61 alone says that
nobody knows, and that it must not be repeated blindly.
"""

from turnkeeper_client.errors import AnswerLost, NotUnderstood, Refused, TurnkeeperError, Unsendable

SUCCESS = 0
WRONG_USE = 2
"""The command was not understood, as everywhere on Unix."""
NOT_FINISHED = 10
NEEDS_SOMEBODY = 30
REFUSED = 40
NOT_NOW = 50
FAULT = 60
UNKNOWN = 61
UNVERIFIED = 70
RESULT_STATE_UNKNOWN = 6005
THROTTLED = 429
OUT_OF_REACH = frozenset({THROTTLED, 502, 503, 504})
FIRST_FAULT = 500


def of_code(code: int, *, terminal: bool = True) -> int:
    """The exit code for an agent status code, registered or not; a success that goes on is not one yet."""
    if code == RESULT_STATE_UNKNOWN:
        return UNKNOWN
    match code // 1000:
        case 2:
            return SUCCESS if terminal else NOT_FINISHED
        case 8:
            return SUCCESS
        case digit:
            return digit * 10


def of_error(error: TurnkeeperError) -> int:
    """The exit code for what came in place of an answer."""
    match error:
        case Refused(code=int() as code):
            return of_code(code)
        case Refused(status=status):
            return _of_status(status)
        case AnswerLost():
            return UNKNOWN
        case NotUnderstood():
            return FAULT
        case Unsendable():
            return WRONG_USE
        case _:
            return NOT_NOW


def _of_status(status: int) -> int:
    """The exit code for what the gateway itself refused."""
    if status in OUT_OF_REACH:
        return NOT_NOW
    return FAULT if status >= FIRST_FAULT else REFUSED
