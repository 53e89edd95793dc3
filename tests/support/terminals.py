"""Terminals as somebody has them who follows a page: shells that keep what was exported, and what runs in them."""

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from infra import ROOT

OURS = (
    "TURNKEEPER_",
    "AWS_",
    "BASE_URL",
    "QUEUE_URL",
    "TOKEN",
    "VIRTUAL_ENV",
    "PYTEST_",
    "COLUMNS",
    "MAKE",
    "MFLAGS",
)
"""What a new terminal has nothing of."""
PATIENCE_S = 60.0


class Terminal:
    """A shell that begins in Turnkeeper's folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        self._process = subprocess.Popen(
            ["/bin/bash", "--noprofile", "--norc"],
            cwd=ROOT,
            env={**inherited, "COLUMNS": "120", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._printed = ""
        self._runs = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._type("trap : INT")

    def run(self, commands: str) -> str:
        """What *commands* print until they are done."""
        self.start(commands)
        return self.until_prompt()

    def start(self, commands: str) -> None:
        """Begin *commands*, and do not wait for them."""
        self._printed = ""
        self._runs += 1
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False, encoding="utf-8") as script:
            script.write(commands)
        self._type(f"source {script.name} </dev/null; rm -f {script.name}; echo '{self._prompt}'")

    def until(self, pattern: "re.Pattern[str]") -> "re.Match[str]":
        """The first match of *pattern* in what is printed."""
        deadline = time.monotonic() + PATIENCE_S
        while (found := pattern.search(self._printed)) is None:
            assert time.monotonic() < deadline, (
                f"not within {PATIENCE_S} s: {pattern.pattern}\n{self._printed}"
            )
            assert self._process.poll() is None, self._printed
            time.sleep(0.02)
        return found

    def until_prompt(self) -> str:
        """What was printed until the shell awaits another command."""
        self.until(re.compile(rf"^{self._prompt}$", re.MULTILINE))
        return self._printed.partition(f"{self._prompt}\n")[0]

    def interrupt(self) -> str:
        """Press Ctrl-C; what was printed until the shell was back."""
        os.killpg(self._process.pid, signal.SIGINT)
        return self.until_prompt()

    def close(self) -> None:
        """End it, and whatever runs in it."""
        for pid in descendants(self._process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(5)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()

    @property
    def folder(self) -> Path:
        """Where it stands."""
        return Path(self.run("pwd").strip())

    @property
    def _prompt(self) -> str:
        return f"-- done {self._runs} --"

    def _type(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._printed += line


def descendants(pid: int) -> list[int]:
    """The process *pid* and all below it; the last first, so that none is left to start another."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    except OSError:
        children = []
    return [below for child in children for below in descendants(int(child))] + [pid]
