"""The emulator, as a context manager: on loopback, in a clean environment, gone when its starter is gone."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import httpx

from offline.endpoint import ACCOUNT, HOST, REGION, Endpoint

ROOT = Path(__file__).resolve().parent.parent
ENGINE_PYTHON = ROOT / ".engine" / "bin" / "python"
LEASH = Path(__file__).resolve().parent / "leash.py"
START_SECONDS, STOP_SECONDS = 30, 20
CONCURRENT_CALLS = 10
"""Calls of functions at a time; the gateway answers 429 beyond, as AWS does beyond an account's limit."""


class PortTaken(Exception):
    """Something listens on the port already."""

    def __init__(self, port: int) -> None:
        super().__init__(f"Port {port} is taken: stop what listens there, or take another: PORT={port + 2}")
        self.port = port


class EngineFailed(Exception):
    """The engine did not come up; the message ends with the last it said."""


class Engine:
    """An emulator of AWS with its state in *state_dir*; only with *keep* does that outlive a clean stop.

    A *strict* one verifies signatures, enforces every role's policies and speaks TLS, as AWS does.
    """

    def __init__(
        self, state_dir: Path, *, port: int | None = None, keep: bool = False, strict: bool = False
    ) -> None:
        self.state_dir, self.strict, self._keep = state_dir.resolve(), strict, keep
        self.port = port or free_port()
        self.log = self.state_dir / "engine.log"
        self._scratch = self.state_dir / "tmp"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers."""
        if self.strict:
            certificate = self._scratch / "ministack-tls" / "server.crt"
            return Endpoint(f"https://{HOST}:{self.port}", certificate)
        return Endpoint(f"http://{HOST}:{self.port}")

    @property
    def endpoint_url(self) -> str:
        """Where it answers, as AWS clients take it."""
        return self.endpoint.url

    @property
    def process_group(self) -> int:
        """The group of its process and of all that it started, the functions' too."""
        if self._process is None:
            raise EngineFailed("It does not run.")
        return self._process.pid

    def client(self, service: str) -> Any:
        """Return a boto3 client of *service*."""
        return self.endpoint.client(service)

    def start(self) -> None:
        """Start it, and return when it answers."""
        if is_taken(self.port):
            raise PortTaken(self.port)
        self._clear_scratch()
        with self.log.open("wb") as log:
            self._process = self._launch(log)
        try:
            self._wait_until_it_answers(self._process)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop it and all it started; it saves its state first when it keeps any."""
        process, self._process = self._process, None
        if process is None or process.stdin is None:
            return
        if not self._keep and process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.stdin.close()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _clear_scratch(self) -> None:
        """Have an empty folder for the engine's temporary files; last time's thousands go while we go on."""
        if self._scratch.exists():
            left = Path(tempfile.mkdtemp(prefix="left-", dir=self.state_dir))
            self._scratch.rename(left / "tmp")
        self._scratch.mkdir(parents=True)
        for left in self.state_dir.glob("left-*"):
            threading.Thread(target=shutil.rmtree, args=(left, True), daemon=True).start()

    def wait(self) -> None:
        """Return when it has stopped by itself."""
        if self._process is not None:
            self._process.wait()

    def _launch(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", str(LEASH), str(ENGINE_PYTHON), "-m", "ministack"]
        return subprocess.Popen(
            command,
            cwd=self.state_dir,
            env=self._environment(),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def _environment(self) -> dict[str, str]:
        # All of it: what the engine has in its environment, every function has too.
        kept = "1" if self._keep else "0"
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": HOST,
            "MINISTACK_HOST": HOST,
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "MINISTACK_REGION": REGION,
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "TMPDIR": str(self._scratch),
            "PERSIST_STATE": kept,
            "STATE_DIR": str(self.state_dir / "state"),
            "S3_PERSIST": kept,
            "S3_DATA_DIR": str(self.state_dir / "objects"),
            "LAMBDA_ACCOUNT_CONCURRENCY": str(CONCURRENT_CALLS),
            "LAMBDA_WARM_TTL_SECONDS": "120",
            **({"AUTH": "true", "USE_SSL": "1"} if self.strict else {}),
        }

    def _wait_until_it_answers(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        health = f"{self.endpoint_url}/_ministack/health"
        while process.poll() is None and time.monotonic() < deadline:
            try:
                # Only whether it answers; the certificate may not be there yet.
                httpx.get(health, timeout=2, verify=False, trust_env=False).raise_for_status()  # noqa: S501
            except httpx.HTTPError:
                time.sleep(0.05)
            else:
                return
        said = self.log.read_text(errors="replace").splitlines()[-15:]
        raise EngineFailed("\n".join(["The engine did not come up. It said:", *said]))


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def is_taken(port: int) -> bool:
    """Tell whether something listens on *port* of loopback."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return True
    return False
