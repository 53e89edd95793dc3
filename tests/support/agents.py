"""Agents for tests: any function as one, and one that has much to say."""

from collections.abc import Callable, Generator

from turnkeeper.agents.protocol import Say, Step, TurnView

type Run = Callable[[TurnView], Generator[Step, None, Say | None]]


class Of:
    """An agent that is one function."""

    def __init__(self, run: Run) -> None:
        self.run = run


class Talkative:
    """Says three things, whatever it is told."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        yield Say(f"{turn.number}a")
        yield Say(f"{turn.number}b")
        return Say(f"{turn.number}c")
