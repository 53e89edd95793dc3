"""What peers that run as processes of this machine have in common: a folder, a port, and how they are killed."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from bench.peers.conversation import NoSuchConversation, PeerFailed
from bench.peers.servers import Server
from offline.endpoint import HOST


class ProcessPeer:
    """One that runs in a folder which holds all it keeps; a crash kills all of its processes."""

    patience_s = 6.0
    ages_s = (0.0, 0.2, 0.4, 0.8)
    port: int
    servers: Sequence[Server] = ()

    def made(self, folder: Path) -> Sequence[Server]:
        """Its servers, in the order in which they start."""
        raise NotImplementedError

    @contextmanager
    def running(self) -> Iterator[None]:
        """It runs within the block, with nothing in it, and is gone after it."""
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            self.servers = self.made(Path(place))
            try:
                self.start_again()
                with httpx.Client(base_url=f"http://{HOST}:{self.port}", timeout=20, trust_env=False) as http:
                    self.http = http
                    yield
            finally:
                self.crash()

    def start_again(self) -> None:
        """Start all of it, on what it kept."""
        for server in self.servers:
            server.start()

    def crash(self) -> None:
        """Kill all of it, at once and for good."""
        for server in reversed(self.servers):
            server.kill()

    def pass_time(self) -> None:
        """Nothing: whatever it does by itself, it does in its own time."""

    def processes(self) -> list[int]:
        """All of its processes."""
        return [pid for server in self.servers for pid in server.processes()]

    def told(self, method: str, path: str, **request: Any) -> Any:
        """What it answers, as JSON; a conversation that it does not know is said as such."""
        answer = self.http.request(method, path, **request)
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise NoSuchConversation(path)
        if answer.is_error:
            raise PeerFailed(f"{method} {path} was answered with {answer.status_code}: {answer.text[:200]}")
        return answer.json()
