"""What an agent gets and what it gives back.

An agent is a generator: it yields what it says along the way (each is committed before the next is asked for), and
returns what it says last, which is written together with the turn's end. To wait for something outside it yields a
`Pause` and is started again, with its memo and the resolutions, when nothing is left to wait for.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from turnkeeper.domain.needs import Need
from turnkeeper.domain.waits import Resolution

__all__ = [
    "Agent",
    "Delegate",
    "Message",
    "Need",
    "NotAsked",
    "OutcomeUnknown",
    "Pause",
    "Say",
    "Step",
    "Steps",
    "TurnView",
    "texts",
]

type Message = Mapping[str, Any]
"""One entry of the conversation, as the messages list shows it (IO-1)."""


@dataclass(frozen=True, slots=True)
class Say:
    """One output: a text of at most 100,000 bytes (CP-2)."""

    text: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Suspend the turn until every need (1 to 16, of different ids) is resolved; *memo* comes back then.

    A memo is at most 32 KB of JSON; all ids, providers, reviewers and children together are at most 1,024 bytes.
    """

    needs: tuple[Need, ...]
    memo: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegate:
    """Give *agent* a task of its own, with *text* as its first input; the yield answers the child task's id.

    *call* names the delegation within the turn: the same call makes one child, however often the turn is tried.
    """

    call: str
    agent: str
    text: str


type Step = Say | Pause | Delegate

type Steps = Generator[Step, Any, Say | None]
"""What an agent yields, one step at a time, and what it says last; a `Delegate` is answered, the others are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """One turn as its agent sees it."""

    task_id: str
    agent: str
    responsible_user: str
    number: int
    attempt: int
    fence: int
    """Under which the turn may be written; whoever writes elsewhere on its behalf needs it."""
    first_output: int
    """The number of the first output of this attempt."""
    inputs: tuple[Message, ...]
    """The inputs that this turn committed, in order."""
    conversation: Callable[[], Iterator[Message]]
    """The whole committed conversation, read as it is iterated."""
    child: Callable[[str], Iterator[Message]]
    """The conversation of a child task of this one, by its id, read as it is iterated."""
    memo: Any = None
    resolutions: tuple[Resolution, ...] = ()


class OutcomeUnknown(Exception):
    """Nobody can tell whether the agent acted: it was asked and did not answer (RET-4)."""


class NotAsked(Exception):
    """The agent could not be asked now, and so did nothing: it is asked again later, and no attempt is spent."""


class Agent(Protocol):
    """Something that can take a turn."""

    def run(self, turn: TurnView) -> Steps:
        """Take the turn; an exception ends the attempt, and the task's terms say whether there is another."""
        ...


def texts(message: Message) -> Iterator[str]:
    """The text parts of one entry."""
    for part in message["message"]:
        if "text" in part:
            yield part["text"]
