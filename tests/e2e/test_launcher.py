"""`make up` as somebody at a keyboard has it: it tells how to begin, keeps what was made, and is gone when stopped."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from infra import ROOT
from offline.engine import free_port, is_taken
from tests.support.deployed import eventually, processes_of

HELLO = {"agent": "echo", "input": {"message": [{"mimeType": "text/plain", "text": "hello"}]}}
COMES_UP_AGAIN_SECONDS = 20


class Launcher:
    """The command behind `make up`, and what it printed."""

    def __init__(self, port: int, state: Path) -> None:
        self.command = [sys.executable, "-m", "offline", "--port", str(port), "--state", str(state)]
        # In the background, where a shell has its programs ignore Ctrl-C.
        in_background = ["/bin/sh", "-c", 'trap "" INT; exec "$@"', "sh", *self.command, "up"]
        self.process = subprocess.Popen(
            in_background, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.printed = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            for line in stdout:
                self.printed += line

    def until(self, text: str) -> None:
        eventually(lambda: text in self.printed or self.process.poll() is not None, within=60)
        assert text in self.printed, self.printed

    @property
    def base_url(self) -> str:
        self.until("Ctrl-C stops it")
        found = re.search(r"export BASE_URL=(\S+)", self.printed)
        assert found
        return found[1]

    def token(self, name: str) -> str:
        done = subprocess.run(
            [*self.command, "token", name], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert len(done.stdout.split()) == 1, "nothing but the token"
        return done.stdout.strip()

    def engine_group(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (leash,) = [int(child) for child in children if processes_of(int(child))]
        return leash

    def stop(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        code = self.process.wait(30)
        self._reader.join(5)
        return code


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """One port and one state for all, since only the first launch on them takes long."""
    return free_port(), tmp_path_factory.mktemp("state")


@pytest.fixture
def launched(place: tuple[int, Path]) -> Iterator[Callable[[], Launcher]]:
    """Launch, again and again; all are gone in the end."""
    port, state = place
    launchers: list[Launcher] = []

    def launch() -> Launcher:
        launchers.append(Launcher(port, state))
        return launchers[-1]

    yield launch
    for launcher in launchers:
        if launcher.process.poll() is None:
            launcher.stop(signal.SIGTERM)
    eventually(lambda: not is_taken(port), within=20)


@pytest.mark.timeout(300)
def test_what_was_made_is_there_again_after_a_stop_and_soon(launched: Callable[[], Launcher]) -> None:
    first = launched()
    base_url = first.base_url
    authorization = {"authorization": f"Bearer {first.token('alice')}"}
    task = httpx.post(f"{base_url}/v1/tasks", json=HELLO, headers=authorization, timeout=30).json()["id"]
    assert first.stop(signal.SIGINT) == 0, first.printed

    # On a machine that others keep busy, a second is not a second of ours.
    crowded = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    began = time.monotonic()
    second = launched()
    again = second.base_url
    took = time.monotonic() - began
    polled = httpx.get(f"{again}/v1/tasks/{task}", headers=authorization, timeout=30)

    assert again == base_url
    assert (polled.status_code, polled.json()["id"]) == (200, task)
    assert took < COMES_UP_AGAIN_SECONDS * crowded
    assert second.stop(signal.SIGTERM) == 0, second.printed


def test_it_tells_how_to_begin(launched: Callable[[], Launcher]) -> None:
    launcher = launched()
    base_url = launcher.base_url
    begin = launcher.printed.partition("In another terminal")[2].partition("Ctrl-C")[0]
    typed = "\n".join(line for line in begin.splitlines()[1:] if "make -s token" not in line)

    done = subprocess.run(
        ["/bin/sh", "-eu", "-c", typed],
        env={"PATH": os.environ["PATH"], "TOKEN": launcher.token("alice")},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert f"export BASE_URL={base_url}" in typed
    assert typed.count("curl") == 3
    assert '"phase":"processing"' in done.stderr.replace(" ", "")
    assert "200" in done.stdout.splitlines()[0]
    assert '"text":"hello"' in done.stdout.replace(" ", "")


def test_a_port_that_is_taken_is_said_so_with_what_to_do(launched: Callable[[], Launcher]) -> None:
    first = launched()
    assert first.base_url

    second = launched()
    code = second.process.wait(30)
    second.until("is taken")

    assert code == 1
    assert "PORT=" in second.printed
    assert "Traceback" not in second.printed
    assert first.process.poll() is None


def test_the_engine_goes_with_a_launcher_that_is_killed(launched: Callable[[], Launcher]) -> None:
    launcher = launched()
    authorization = {"authorization": f"Bearer {launcher.token('alice')}"} if launcher.base_url else {}
    httpx.get(f"{launcher.base_url}/v1/tasks", headers=authorization, timeout=30).raise_for_status()
    group = launcher.engine_group()
    # The leash, the engine, and at least one function's worker.
    assert len(processes_of(group)) >= 3

    launcher.stop(signal.SIGKILL)

    eventually(lambda: not processes_of(group), within=20)


def test_no_token_is_made_where_nothing_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "offline", "--port", str(free_port()), "--state", str(tmp_path)]

    done = subprocess.run([*command, "token", "alice"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert "make up" in done.stderr
    assert "Traceback" not in done.stderr
