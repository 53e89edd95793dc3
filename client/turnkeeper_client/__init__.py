"""A typed client of Turnkeeper, the task API for AI agents.

with Client(base_url, token) as client:
    sent = client.create("echo", "Hello!")
    print(client.settled(sent.task.id).entries[-1].text)
"""

from turnkeeper_client.clients import AsyncClient, Client
from turnkeeper_client.errors import (
    AnswerLost,
    Conflict,
    Invalid,
    Malformed,
    NotAllowed,
    NotFound,
    NotSignedIn,
    NotUnderstood,
    OutcomeUnknown,
    Refused,
    ServerFault,
    Throttled,
    TooLarge,
    TurnkeeperError,
    Unavailable,
    Unreachable,
    Unsendable,
    WrongState,
)
from turnkeeper_client.results import Entry, File, Phase, Task, Update
from turnkeeper_client.retrying import Patience

__all__ = [
    "AnswerLost",
    "AsyncClient",
    "Client",
    "Conflict",
    "Entry",
    "File",
    "Invalid",
    "Malformed",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "NotUnderstood",
    "OutcomeUnknown",
    "Patience",
    "Phase",
    "Refused",
    "ServerFault",
    "Task",
    "Throttled",
    "TooLarge",
    "TurnkeeperError",
    "Unavailable",
    "Unreachable",
    "Unsendable",
    "Update",
    "WrongState",
]
