"""What a wait looks like: a line per step, and a spinner with the last word where somebody watches."""

import time
from typing import Protocol

from rich.console import Console
from rich.markup import escape
from rich.status import Status

WIDTH = 90


class Progress(Protocol):
    """Hears of each step as it begins, and of what the tools say in between."""

    def step(self, title: str) -> None:
        """Begin a step."""

    def say(self, line: str) -> None:
        """Pass on a line that a tool said."""


class Silent:
    """Shows nothing."""

    def step(self, title: str) -> None:
        """Show nothing of the step."""

    def say(self, line: str) -> None:
        """Show nothing of the line."""


SILENT = Silent()


class Shown:
    """Shows each step with the time since the start, and under it the last line."""

    def __init__(self, console: Console, status: Status) -> None:
        self._console, self._status = console, status
        self._began = time.monotonic()
        self._title = ""

    def step(self, title: str) -> None:
        """Show that a step begins."""
        self._title = title
        self._console.print(f"[dim]{time.monotonic() - self._began:5.1f} s[/dim]  {escape(title)}")
        self._status.update(escape(title))

    def say(self, line: str) -> None:
        """Show the line beside the spinner."""
        self._status.update(f"{escape(self._title)}  [dim]{escape(line[:WIDTH])}[/dim]")
