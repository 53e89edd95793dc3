"""a2a-sdk: a task is a conversation that waits for input between turns; over HTTP+JSON, its SQL store on SQLite."""

import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers import installing
from bench.peers.conversation import Line, Poll, Role
from bench.peers.floor import APPS
from bench.peers.process_peers import ProcessPeer
from bench.peers.servers import Server
from offline.endpoint import HOST
from offline.engine import free_port

BUSY = {"TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"}
VERSION = {"A2A-Version": "1.0"}


class A2A(ProcessPeer):
    """The server as the SDK's samples build it, with `DatabaseTaskStore`."""

    name = "a2a-sdk"
    how = (
        "its own server with `DatabaseTaskStore` on SQLite; a conversation is one task that asks for input between "
        "turns, sent with `returnImmediately`, polled with `historyLength=0` and, as `whole`, without"
    )
    command = "python a2a_server.py PORT DATABASE"

    def made(self, folder: Path) -> Sequence[Server]:
        """One process, and its database."""
        self.port, python = free_port(), str(installing.environment("a2a"))
        command = [python, str(APPS / "a2a_server.py"), str(self.port), str(folder / "tasks.db")]
        return [
            Server(command, folder=folder, health=f"http://{HOST}:{self.port}/.well-known/agent-card.json")
        ]

    def versions(self) -> Mapping[str, str]:
        """Of what it is made."""
        return {name: installing.version("a2a", name) for name in ("a2a-sdk", "sqlalchemy", "uvicorn")}

    def create(self, text: str) -> str:
        """Begin a task."""
        task: str = self.told("POST", "/message:send", json=_message(text), headers=VERSION)["task"]["id"]
        return task

    def send(self, conversation: str, text: str) -> int:
        """Send another message to the task."""
        sent = self.http.post("/message:send", json=_message(text, conversation), headers=VERSION)
        return sent.status_code

    def is_busy(self, conversation: str) -> bool:
        """Whether it is submitted or works."""
        return self._task(conversation, historyLength="0")["status"]["state"] in BUSY

    def is_completed(self, conversation: str) -> bool:
        """Whether the task has ended."""
        return bool(self._task(conversation, historyLength="0")["status"]["state"] == "TASK_STATE_COMPLETED")

    def lines(self, conversation: str) -> Sequence[Line]:
        """Its history, and the message of its status, which is not in there yet."""
        task = self._task(conversation)
        last = task["status"].get("message")
        return [
            Line(
                Role.PERSON if message["role"] == "ROLE_USER" else Role.AGENT,
                "".join(part.get("text", "") for part in message["parts"]),
            )
            for message in [*task.get("history", []), *([last] if last else [])]
        ]

    def filled(self, messages: int) -> str:
        """Turn after turn, without a pause."""
        conversation = self.create("0 hello")
        while self.is_busy(conversation):
            time.sleep(0.01)
        for number in range(1, messages // 2):
            self._come_to_rest(conversation, f"0 message {number}")
        return conversation

    def polls(self, conversation: str) -> Sequence[Poll]:
        """Its status alone, and all of it."""
        path = f"/tasks/{conversation}"
        return [
            Poll("GET /tasks/{id}?historyLength=0", self.port, f"{path}?historyLength=0", VERSION),
            Poll("whole: GET /tasks/{id}", self.port, path, VERSION),
        ]

    def _task(self, conversation: str, **query: str) -> Any:
        return self.told("GET", f"/tasks/{conversation}", params=query, headers=VERSION)

    def _come_to_rest(self, conversation: str, text: str) -> None:
        """Without `returnImmediately` the answer comes when the turn is over."""
        waits = _message(text, conversation)
        waits["configuration"]["returnImmediately"] = False
        self.told("POST", "/message:send", json=waits, headers=VERSION)


def _message(text: str, task: str | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {
        "messageId": uuid.uuid4().hex,
        "role": "ROLE_USER",
        "parts": [{"text": text}],
        **({"taskId": task} if task else {}),
    }
    return {"message": message, "configuration": {"returnImmediately": True}}
