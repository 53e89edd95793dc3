"""An agent that is somebody's Lambda function: asked once, with the turn's fence in the payload.

The function may answer with `{"text": "…"}`, which is said last, or with nothing; what it says along the way it sends
through the hosts' API under the fence.
"""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from botocore.config import Config
from botocore.exceptions import IncompleteReadError
from botocore.session import Session

from turnkeeper.agents.protocol import NotAsked, OutcomeUnknown, Say, Steps, TurnView
from turnkeeper.domain.waits import resolution_object
from turnkeeper.faults import FAILED_CALLS, MAY_BE_DONE, fault_of

KILLED = frozenset({"Sandbox.Timedout", "Runtime.ExitError", "Runtime.OutOfMemory"})
"""How Lambda names the end of a function that did not end by itself."""
TIMED_OUT = "Task timed out after"
"""What it says where it names none."""
LARGEST_INPUTS = 4_000_000
"""A payload has at most 6 MB; more input than this is left out, and read through the hosts' API."""


class Lambda(Protocol):
    """The call of botocore's client that is used here, and no other."""

    def invoke(  # noqa: D102 - AWS documents it
        self,
        *,
        FunctionName: str,  # noqa: N803 - AWS's names
        InvocationType: str,  # noqa: N803
        Payload: bytes,  # noqa: N803
    ) -> dict[str, Any]: ...


class FunctionFailed(Exception):
    """The function raised, or answered with something that is no answer."""


@dataclass(frozen=True, slots=True)
class Invoked:
    """The Lambda function that takes an agent's turns."""

    client: Lambda
    function: str

    def run(self, turn: TurnView) -> Steps:
        """Ask the function and say what it answers.

        `OutcomeUnknown` when it did not answer or was killed, `NotAsked` when it never got the question.
        """
        yield from ()
        try:
            answer = self.client.invoke(
                FunctionName=self.function, InvocationType="RequestResponse", Payload=payload(turn)
            )
            said = answer["Payload"].read()
        except (*FAILED_CALLS, IncompleteReadError) as error:
            if fault_of(error) in MAY_BE_DONE:
                raise OutcomeUnknown from error
            raise NotAsked from error
        if "FunctionError" in answer:
            if _was_killed(said):
                raise OutcomeUnknown("the function was killed")
            raise FunctionFailed("the function raised; its own log says what")
        return _last(said)


def invoked(function: str, *, session: Session, answers_within: timedelta) -> Invoked:
    """The Lambda function of this name or ARN, asked once: a repeat is not the network's to decide."""
    config = Config(
        connect_timeout=2,
        read_timeout=answers_within.total_seconds(),
        retries={"mode": "standard", "total_max_attempts": 1},
    )
    client: Any = session.create_client("lambda", config=config)
    return Invoked(client, function)


def payload(turn: TurnView) -> bytes:
    """What the function gets: the turn, its fence, and its inputs unless they are too many to send."""
    inputs = json.dumps(turn.inputs, separators=(",", ":"))
    facts = {
        "task": turn.task_id,
        "agent": turn.agent,
        "responsible_user": turn.responsible_user,
        "turn": turn.number,
        "attempt": turn.attempt,
        "fence": turn.fence,
        "first_output": turn.first_output,
        "memo": turn.memo,
        "resolutions": [resolution_object(one) for one in turn.resolutions],
        "inputs": json.loads(inputs) if len(inputs) <= LARGEST_INPUTS else None,
    }
    return json.dumps(facts, separators=(",", ":")).encode()


def _was_killed(said: bytes) -> bool:
    """The function did not fail by itself: it ran out of time or memory, or its process ended."""
    match json.loads(said):
        case {"errorType": str(kind)} if kind in KILLED:
            return True
        case {"errorMessage": str(message), **more}:
            return TIMED_OUT in message and "errorType" not in more
        case _:
            return False


def _last(said: bytes) -> Say | None:
    match json.loads(said or b"null"):
        case None:
            return None
        case {"text": str(text)}:
            return Say(text)
        case _:
            raise FunctionFailed('the function must answer {"text": "..."} or nothing')
