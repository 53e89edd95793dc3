"""Somebody's Lambda functions, as far as one call of botocore's client shows them."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from botocore.exceptions import ClientError, IncompleteReadError, ReadTimeoutError

from tests.support.callbook import note

ENDPOINT = "https://lambda.test"

type Run = Callable[[dict[str, Any]], object]
"""What a function makes of its event: what it answers, as JSON."""
type Invoke = Callable[..., Function]
"""Has an agent be a function, on such terms."""


class Answer:
    """A payload that can be read, or breaks while it is."""

    def __init__(self, content: bytes, error: Exception | None = None) -> None:
        self._content, self._error = io.BytesIO(content), error

    def read(self) -> bytes:
        """What was answered."""
        if self._error is not None:
            raise self._error
        return self._content.read()


@dataclass(slots=True)
class Function:
    """A botocore client of Lambda for which there is one function, *run*; what is not JSON goes as it is."""

    run: Run
    events: list[dict[str, Any]] = field(default_factory=list)
    """What it was asked, in order."""

    def invoke(
        self,
        *,
        FunctionName: str,  # noqa: N803 - as botocore has them
        InvocationType: str,  # noqa: N803
        Payload: bytes,  # noqa: N803
    ) -> dict[str, Any]:
        """The answer, in botocore's shape; an exception of botocore's is raised as it would be."""
        assert FunctionName.startswith("arn:aws:lambda:")
        assert InvocationType == "RequestResponse"
        note("lambda:InvokeFunction", "function")
        event: dict[str, Any] = json.loads(Payload)
        self.events.append(event)
        said = self.run(event)
        if isinstance(said, dict) and "FunctionError" in said:
            return {"StatusCode": 200, **said}
        content = said if isinstance(said, bytes | Answer) else json.dumps(said).encode()
        return {
            "StatusCode": 200,
            "ExecutedVersion": "$LATEST",
            "Payload": content if isinstance(content, Answer) else Answer(content),
        }


def raised(kind: str, message: str = "it failed") -> dict[str, Any]:
    """The answer for a function that ended badly."""
    return {
        "FunctionError": "Unhandled",
        "Payload": Answer(json.dumps({"errorType": kind, "errorMessage": message}).encode()),
    }


def timed_out_without_a_name() -> dict[str, Any]:
    """The answer for a function that ran out of time, as Lambda gave it in its first years."""
    message = (
        "2026-11-30T13:44:13.000Z c6af9ac6-7b61-11e6-9a41-93e8deadbeef Task timed out after 3.00 seconds"
    )
    return {"FunctionError": "Unhandled", "Payload": Answer(json.dumps({"errorMessage": message}).encode())}


def refusal(code: str, status: int) -> ClientError:
    """An answer that says no, as botocore raises it."""
    told: Any = {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "Invoke")


def no_answer() -> Exception:
    """Nothing came back in time."""
    return ReadTimeoutError(endpoint_url=ENDPOINT)


def half_an_answer() -> Answer:
    """It began to come back, and broke off."""
    return Answer(b"", IncompleteReadError(actual_bytes=3, expected_bytes=15))


def raising(error: Exception) -> Run:
    """A call that ends so."""

    def run(_: object) -> object:
        raise error

    return run


def one_after_the_other(*runs: Run) -> Run:
    """A function that does something else each time."""
    left = list(runs)

    def run(event: dict[str, Any]) -> object:
        return left.pop(0)(event)

    return run


def answers(event: dict[str, Any]) -> object:
    """What a function says that only counts its attempts."""
    return {"text": f"attempt {event['attempt']}"}
