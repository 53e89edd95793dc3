"""An exception without its words: its class, AWS's code for it, and where in the code it passed.

What an exception says may be anybody's: an input, an argument of a tool, a user's name (SEC-5). Where it
passed is ours.
"""

from collections.abc import Iterator
from traceback import extract_tb
from typing import Any

_LONGEST_CHAIN = 8
_PLACES = 8
"""How many of an exception's innermost places a line of the log names."""


def causes(error: BaseException | None) -> list[dict[str, Any]]:
    """*error* and what led to it, outermost first, each as facts."""
    return [_facts(one) for one in _chain(error)]


def line(error: BaseException | None) -> str:
    """The same in one line, for a log that shows its message and nothing else."""
    return " <- ".join(
        f"{fact['error']}{_code(fact['aws_code'])} at {', '.join(fact['trace'][-_PLACES:])}"
        for fact in causes(error)
    )


def _code(aws_code: str | None) -> str:
    return f" ({aws_code})" if aws_code else ""


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(_LONGEST_CHAIN):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _facts(error: BaseException) -> dict[str, Any]:
    response = getattr(error, "response", None)
    aws_code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    trace = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in extract_tb(error.__traceback__)]
    return {"error": type(error).__name__, "aws_code": aws_code, "trace": trace}
