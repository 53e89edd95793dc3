"""Evaluating expressions in a process of their own, which is killed at its deadline.

The library holds the interpreter's lock while it runs, so within our process a slow expression would stop the heartbeat
of its own turn, and a crash would end every request. A time-out, a crash and a lack of memory are all the same to the
caller: the expression cannot be evaluated. Only a process that cannot be started is our own failure, and raises.
"""

import atexit
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any

from turnkeeper.guards.syntax import ExpressionRefused, check

DEADLINE = 0.5
"""Seconds that one expression may take."""
START = 10.0
"""Seconds that the process may take to start."""
_CHILD = Path(__file__).with_name("child.py")

type Values = Mapping[str, Any]
"""What an expression sees, by name: plain JSON."""


@dataclass(frozen=True, slots=True)
class Is:
    """The expression has this value."""

    value: Any


@dataclass(frozen=True, slots=True)
class Asks:
    """The expression has no value before *reviewer* decides."""

    reviewer: str
    subject: str | None = None
    """What that person is shown; None where the expression does not say."""


@dataclass(frozen=True, slots=True)
class Fails:
    """The expression cannot be evaluated (AG-4); *why* is a class of error, and says nothing of any value."""

    why: str


type Outcome = Is | Asks | Fails


@dataclass(frozen=True, slots=True)
class References:
    """The names that an expression uses, other than those that it binds itself."""

    variables: frozenset[str]
    functions: frozenset[str]


class Evaluator:
    """One process for one thread, started at its first use and again after it was lost."""

    def __init__(self, *, deadline: float = DEADLINE) -> None:
        self._deadline = deadline
        self._child: subprocess.Popen[str] | None = None
        self._told: Values | None = None

    def references(self, expression: str) -> References:
        """What *expression* refers to; ExpressionRefused when it is out of bounds or no expression."""
        bound = check(expression)
        self._bury()
        answer = self._ask({"compile": expression})
        if answer is None:
            raise ExpressionRefused("cannot be compiled")
        if "wrong" in answer:
            raise ExpressionRefused(f"is no expression: {_first_line(answer['wrong'])}")
        return References(frozenset(answer["variables"]) - bound, frozenset(answer["functions"]))

    def evaluate(
        self, expression: str, values: Values, *, decided: Mapping[str, bool] | None = None
    ) -> Outcome:
        """What *expression* comes to; *decided* is what reviewers decided. The same *values* are told only once."""
        self._bury()
        question: dict[str, Any] = {"evaluate": expression, "decided": dict(decided or {})}
        if self._told is not values or self._child is None:
            question["values"] = values
        answer = self._ask(question)
        self._told = values if self._child is not None else None
        match answer:
            case {"is": value}:
                return Is(value)
            case {"asks": reviewer, "subject": subject}:
                return Asks(reviewer, subject)
            case {"fails": why}:
                return Fails(why)
            case _:
                return Fails("Killed")

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            _end(self._child)
            self._child = None

    def _bury(self) -> None:
        """Let go of a process that died of something else: that is no answer to what is asked now."""
        if self._child is not None and self._child.poll() is not None:
            self.close()

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to *question*, or None when the process did not live to give one in time."""
        line = json.dumps(question, separators=(",", ":"))
        if self._child is None:
            self._child = _started()
        exchange = Exchange(self._child, self._deadline)
        answer = exchange.answer(line)
        if answer is None or exchange.is_late:
            self.close()
        return answer


@dataclass(slots=True)
class Exchange:
    """One line to *child* and one back, within *seconds*."""

    child: subprocess.Popen[str]
    seconds: float
    began: float = field(default_factory=time.monotonic)
    is_late: bool = False

    def answer(self, line: str | None) -> dict[str, Any] | None:
        """What *child* answers to *line*, or says of its own accord."""
        killer = Timer(self.seconds, self.child.kill)
        killer.daemon = True
        killer.start()
        try:
            said = self._said(line)
        finally:
            killer.cancel()
            # From here on the timer may have struck although an answer came: the child is then not to be trusted.
            self.is_late = time.monotonic() - self.began >= self.seconds
        try:
            answer: dict[str, Any] = json.loads(said)
        except ValueError:
            return None
        return answer

    def _said(self, line: str | None) -> str:
        if self.child.stdin is None or self.child.stdout is None:
            return ""
        try:
            if line is not None:
                self.child.stdin.write(line + "\n")
                self.child.stdin.flush()
            return self.child.stdout.readline()
        except OSError:
            return ""


def _started() -> subprocess.Popen[str]:
    # Nothing of our environment: credentials are none of its business. Only where the interpreter's own library lies.
    needed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-X", "utf8", str(_CHILD), _library_folder()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=needed,
            cwd="/",
            encoding="utf-8",
        )
    except OSError as error:
        raise EvaluatorUnavailable from error
    if Exchange(child, START).answer(None) is None:
        _end(child)
        raise EvaluatorUnavailable
    return child


def _end(child: subprocess.Popen[str]) -> None:
    child.kill()
    # What it was told and never read is still to be written, and cannot be.
    with suppress(OSError), child:
        pass


class EvaluatorUnavailable(Exception):
    """The process that evaluates expressions cannot be started: nothing was evaluated, and nobody is denied for it."""


@cache
def _library_folder() -> str:
    """Where the library lies, found without importing it."""
    spec = importlib.util.find_spec("cel")
    if spec is None or not spec.submodule_search_locations:
        raise EvaluatorUnavailable
    return spec.submodule_search_locations[0]


def _first_line(text: str) -> str:
    """The first line of what the library says, without the source that it repeats."""
    return text.split("\n", 1)[0].rsplit("ERROR: <input>:", 1)[-1][:200]


@cache
def shared() -> Evaluator:
    """The evaluator of this process, kept for every request."""
    evaluator = Evaluator()
    atexit.register(evaluator.close)
    return evaluator
