"""A peer's process: on loopback, in a clean environment, on a leash, and gone with its whole group when it must be.

Its environment holds nothing of ours and tells it to send nothing anywhere. Where the peer knows proxies (`PROXIED`),
what it may send nonetheless goes to a port of this machine where nobody listens.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import httpx

from bench.peers.conversation import PeerFailed
from offline.engine import LEASH
from tests.support.deployed import processes_of

START_SECONDS = 60
NOWHERE = "http://127.0.0.1:9"
CLEAN = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "DO_NOT_TRACK": "1"}
PROXIED = {
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "http_proxy": NOWHERE,
    "https_proxy": NOWHERE,
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
}


class Server:
    """One command that runs in *folder*, which holds all it keeps, and answers at *health*."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        folder: Path,
        health: str,
        environment: Mapping[str, str] = PROXIED,
        ready: Callable[[httpx.Response], bool] = lambda _: True,
    ) -> None:
        self.command, self.folder, self.health = command, folder, health
        self.environment = {**CLEAN, "HOME": str(folder), "TMPDIR": str(folder), **environment}
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and return when it answers."""
        self.launch()
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise

    def launch(self) -> None:
        """Start it, and do not wait."""
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(LEASH), *self.command],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Return when it answers."""
        deadline = time.monotonic() + START_SECONDS
        while self._process and self._process.poll() is None and time.monotonic() < deadline:
            try:
                if self._ready(httpx.get(self.health, timeout=2, trust_env=False)):
                    return
            except httpx.HTTPError:
                pass
            time.sleep(0.05)
        log = (self.folder / "log").read_text(errors="replace").replace(str(self.folder), "")
        said = log.partition("Fatal Python error")[
            0
        ].splitlines()  # the leash's own, which ends with its command
        raise PeerFailed("\n".join(["it did not come up, and said at last:", *said[-8:]]))

    def kill(self) -> None:
        """Kill it and all that it started, at once and for good; nothing where it does not run."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        if process.stdin is not None:
            process.stdin.close()
        process.wait()

    def processes(self) -> list[int]:
        """Its process, and those that it started."""
        return processes_of(self._process.pid) if self._process else []
