"""The two that are no peers: the floor, a bare server, and our handlers on that same server without a network behind.

For the handlers DynamoDB's answer lies ready (`bench.canned`): a real item each, of a real conversation of that length.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.peers import installing
from bench.peers.conversation import Poll
from bench.peers.servers import Server
from offline.endpoint import HOST
from offline.engine import Engine as Emulator
from offline.engine import free_port
from tests.support.engines import Engine
from tests.support.fresh import environment
from tests.support.gateway import event
from tests.support.laboratory import ALICE, Laboratory

APPS = Path(__file__).resolve().parent / "apps"


@contextmanager
def bare() -> Iterator[Poll]:
    """A poll that nothing can be faster than: uvicorn and starlette, and one small JSON object."""
    port = free_port()
    python = str(installing.environment("floor"))
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            [python, str(APPS / "bare.py"), str(port)], folder=Path(folder), health=f"http://{HOST}:{port}/"
        )
        server.start()
        try:
            yield Poll("bare", port, "/")
        finally:
            server.kill()


def versions() -> Mapping[str, str]:
    """What the floor is made of."""
    return {name: installing.version("floor", name) for name in ("uvicorn", "starlette")}


@dataclass
class Handlers:
    """The function of the poll, called for each request by the bare server, one after another as Lambda does."""

    name = "Turnkeeper (the handler alone)"
    how = (
        "the function of the poll on the server of the floor; DynamoDB's answer lies ready, without a network"
    )
    server: Server | None = None
    port: int = 0
    tasks: dict[int, str] = field(default_factory=dict)

    @contextmanager
    def running(self, sizes: tuple[int, ...]) -> Iterator[None]:
        """It runs within the block, and answers for a conversation of each of *sizes* messages."""
        python = str(installing.environment("floor"))
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            items = self._items(folder, sizes)
            request = event("GET", "/v1/tasks/x", person=ALICE)
            (folder / "told.json").write_text(json.dumps({"event": request, "items": items}))
            self.port = free_port()
            self.server = Server(
                [python, str(APPS / "handlers.py"), str(self.port), str(folder / "told.json")],
                folder=folder,
                health=f"http://{HOST}:{self.port}/health",
                environment=environment(),
            )
            self.server.start()
            try:
                yield
            finally:
                self.server.kill()

    def _items(self, folder: Path, sizes: tuple[int, ...]) -> dict[str, Any]:
        with Emulator(folder / "engine") as emulator:
            lab = Laboratory(Engine("ministack", emulator.endpoint_url))
            items = {}
            for size in sizes:
                task_id = lab.create("hello").task.id
                for number in range(size - 2):
                    lab.send(task_id, f"message {number}")
                lab.work(most=size * 2)
                self.tasks[size] = task_id
                items[task_id] = lab.raw(task_id)
        return items

    def poll(self, size: int) -> Poll:
        """The poll of the conversation of *size* messages."""
        return Poll("GET /v1/tasks/{id}", self.port, f"/v1/tasks/{self.tasks[size]}")

    def processes(self) -> Sequence[int]:
        """The one that answers."""
        return self.server.processes() if self.server else ()
