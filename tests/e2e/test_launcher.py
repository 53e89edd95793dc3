"""`make up` as somebody at a keyboard has it: tells how to begin, keeps what was made, and is gone when stopped."""

import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from infra import ROOT
from offline.engine import free_port, is_taken
from tests.support.consoles import sign_in
from tests.support.deployed import eventually, processes_of
from tests.support.ports import two_free_ports

HELLO = {"agent": "echo", "input": {"message": [{"mimeType": "text/plain", "text": "hello"}]}}
COMES_UP_AGAIN_SECONDS = 20


class Launcher:
    """The command behind `make up`, and what it printed."""

    def __init__(self, port: int, state: Path, *flags: str) -> None:
        self.command = [sys.executable, "-m", "offline", "--port", str(port), "--state", str(state), *flags]
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

    @property
    def console(self) -> str:
        self.until("Ctrl-C stops it")
        found = re.search(r"Look at it at (\S+)", self.printed)
        assert found
        return found[1]

    def token(self, name: str) -> str:
        printed = self.run("token", name)
        assert len(printed.split()) == 1, "nothing but the token"
        return printed.strip()

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self.command, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
        return done.stdout

    def http(self, name: str) -> httpx.Client:
        certificate = re.search(r"export CURL_CA_BUNDLE=\S+ AWS_CA_BUNDLE=(\S+)", self.printed)
        trust = ssl.create_default_context(cafile=certificate[1]) if certificate else True
        headers = {"authorization": f"Bearer {self.token(name)}"}
        return httpx.Client(base_url=f"{self.base_url}/", headers=headers, verify=trust, timeout=30)

    def engine_group(self) -> int:
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (leash,) = [int(child) for child in children if processes_of(int(child))]
        return leash

    def stop(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        code = self.process.wait(30)
        self._reader.join(5)
        return code


class Place:
    """A port and a state of its own, for one launcher at a time: the one that runs there, or a new one."""

    def __init__(self, state: Path, *flags: str) -> None:
        self._where: tuple[int, Path, *tuple[str, ...]] = (two_free_ports(), state, *flags)
        self._last: Launcher | None = None

    def running(self) -> Launcher:
        if self._last is None or self._last.process.poll() is not None:
            self._last = Launcher(*self._where)
        assert self._last.base_url
        return self._last

    def another(self) -> Launcher:
        return Launcher(*self._where)

    def leave(self) -> None:
        if self._last is not None and self._last.process.poll() is None:
            # Nothing is to be kept any more, so nothing need be saved.
            os.killpg(self._last.engine_group(), signal.SIGKILL)
            self._last.stop(signal.SIGTERM)
        eventually(lambda: not is_taken(self._where[0]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    found = Place(tmp_path_factory.mktemp("state"))
    yield found
    found.leave()


@pytest.fixture(scope="module")
def strict_place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    if shutil.which("openssl") is None:
        pytest.fail("the engine makes its certificate with openssl; install it")
    found = Place(tmp_path_factory.mktemp("strict"), "--auth")
    yield found
    found.leave()


@pytest.fixture(params=["place", "strict_place"])
def launcher(request: pytest.FixtureRequest) -> Launcher:
    """One that is left running, without and with everything enforced."""
    found: Place = request.getfixturevalue(request.param)
    return found.running()


@pytest.mark.timeout(300)
def test_what_was_made_is_there_again_after_a_stop_and_soon(place: Place) -> None:
    first = place.running()
    with first.http("alice") as alice:
        task = alice.post("v1/tasks", json=HELLO).json()["id"]
    keys = first.run("host-keys", "demo")
    made_meanwhile = first.run("host-keys", "acme")
    assert first.stop(signal.SIGINT) == 0, first.printed

    # On a machine that others keep busy, a second is not a second of ours.
    crowded = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    began = time.monotonic()
    second = place.running()
    took = time.monotonic() - began
    with second.http("alice") as alice:
        polled = alice.get(f"v1/tasks/{task}")

    assert second.base_url == first.base_url
    assert (polled.status_code, polled.json()["id"]) == (200, task)
    assert second.run("host-keys", "demo") == keys
    # What only a deployment can give a host, the next one gives to every host there is.
    assert "QUEUE_URL" not in made_meanwhile
    assert "export QUEUE_URL" in second.run("host-keys", "acme")
    assert took < COMES_UP_AGAIN_SECONDS * crowded


@pytest.mark.timeout(300)
def test_it_tells_how_to_begin(launcher: Launcher) -> None:
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

    assert f"export BASE_URL={launcher.base_url}" in typed
    assert typed.count("curl") == 3
    assert '"phase":"processing"' in done.stderr.replace(" ", "")
    assert "200" in done.stdout.splitlines()[0]
    assert '"text":"hello"' in done.stdout.replace(" ", "")


@pytest.mark.timeout(300)
def test_the_host_of_the_docs_takes_turns_with_the_keys_that_it_prints(launcher: Launcher) -> None:
    keys = launcher.run("host-keys", "demo")
    host = subprocess.Popen(
        ["/bin/sh", "-euc", f'{keys}\nexec "$0" docs/examples/host.py', sys.executable],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )
    with host, launcher.http("alice") as alice:
        assert host.stdout is not None
        assert "waits for wake-ups" in host.stdout.readline()
        made = alice.post("v1/tasks", json={**HELLO, "agent": "reverse"}).json()
        task = f"v1/tasks/{made['id']}"
        eventually(lambda: alice.get(task).json()["status"]["phase"] == "idle")
        entries = alice.get(f"{task}/messages").json()["messages"]
        host.terminate()

    assert "docs/hosts.md" in launcher.printed
    assert [entry["message"][0]["text"] for entry in entries] == ["hello", "Let me think …", "olleh"]


@pytest.mark.timeout(300)
def test_whoever_signs_in_at_the_console_has_their_tasks_there(launcher: Launcher) -> None:
    with launcher.http("alice") as alice:
        made = alice.post("v1/tasks", json=HELLO).json()["id"]
    bearer = {"authorization": f"Bearer {sign_in(launcher.console, 'alice')}"}
    with httpx.Client(base_url=launcher.console) as console:
        page = console.get("/")
        seen = console.get("/v1/tasks", headers=bearer)
        unsigned = console.get("/v1/tasks")
        missing = console.get("/v1/tasks/nothing", headers=bearer)

    assert "<html" in page.text
    assert made in [task["id"] for task in seen.json()["tasks"]]
    assert unsigned.status_code == 401
    # The API's own 404, and not the page.
    assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json")


def test_a_port_that_is_taken_is_said_so_with_what_to_do(place: Place) -> None:
    first = place.running()

    second = place.another()
    code = second.process.wait(30)
    second.until("is taken")

    assert code == 1
    assert "PORT=" in second.printed
    assert "Traceback" not in second.printed
    assert first.process.poll() is None


def test_a_name_that_no_host_can_have_is_said_so(place: Place) -> None:
    done = subprocess.run(
        [*place.running().command, "host-keys", "Acme!"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "small letters" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_engine_goes_with_a_launcher_that_is_killed(place: Place) -> None:
    launcher = place.running()
    with launcher.http("alice") as alice:
        alice.get("v1/tasks").raise_for_status()
    group = launcher.engine_group()
    # The leash, the engine, and at least one function's worker.
    assert len(processes_of(group)) >= 3

    launcher.stop(signal.SIGKILL)

    eventually(lambda: not processes_of(group), within=20)


@pytest.mark.parametrize("wanted", ["token", "host-keys"])
@pytest.mark.parametrize("flags", [(), ("--auth",)])
def test_nobody_is_made_where_nothing_runs(tmp_path: Path, flags: tuple[str, ...], wanted: str) -> None:
    command = [sys.executable, "-m", "offline", "--port", str(free_port()), "--state", str(tmp_path), *flags]

    done = subprocess.run([*command, wanted, "alice"], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (1, "")
    assert "make up" in done.stderr
    assert "Traceback" not in done.stderr
