"""Agents that answer with what they were told, for demos and for trying a deployment."""

import time
from collections.abc import Callable, Iterator

from turnkeeper.agents.protocol import Message, Say, Steps, TurnView

EXCERPT_BYTES = 1_000


class Echo:
    """Answers every input of its turn with an excerpt of it, at most 1,000 bytes in all."""

    def run(self, turn: TurnView) -> Steps:
        """Say the excerpt, last and at once."""
        yield from ()
        return Say(answer(turn))


class SlowEcho:
    """Like `Echo`, but takes a moment and says so first, so that input can meet a busy task."""

    def __init__(self, pause_s: float = 2.0, sleep: Callable[[float], None] = time.sleep) -> None:
        self.pause_s, self.sleep = pause_s, sleep

    def run(self, turn: TurnView) -> Steps:
        """Say that it thinks, pause, and say the excerpt."""
        yield Say(f"Thinking about {len(turn.inputs)} input(s) …")
        self.sleep(self.pause_s)
        return Say(answer(turn))


def answer(turn: TurnView) -> str:
    """An excerpt of what the inputs say, a file by its name."""
    return excerpt("\n".join(told for message in turn.inputs for told in _told(message)))


def _told(message: Message) -> Iterator[str]:
    for part in message["message"]:
        yield part["text"] if "text" in part else part["file"]


def excerpt(text: str) -> str:
    """The beginning of *text*, cut between characters; a cut shows."""
    if len(text.encode()) <= EXCERPT_BYTES:
        return text
    return text.encode()[: EXCERPT_BYTES - len("…".encode())].decode(errors="ignore") + "…"
