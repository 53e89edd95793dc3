"""LangGraph's local server: a thread is a conversation, an input is a run; over the HTTP API that its SDK speaks."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.peers import installing
from bench.peers.conversation import Line, Poll, Role
from bench.peers.floor import APPS
from bench.peers.process_peers import ProcessPeer
from bench.peers.servers import PROXIED, Server
from offline.endpoint import HOST
from offline.engine import free_port

QUIET = PROXIED | {
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGCHAIN_TRACING_V2": "false",
}


class LangGraph(ProcessPeer):
    """`langgraph dev`, without reload and browser; it keeps what it has in files every ten seconds."""

    name = "LangGraph (dev)"
    how = (
        "`langgraph dev`, which its makers mean for development; a conversation is a thread, inputs are runs with "
        '`multitask_strategy: "enqueue"` and `durability: "sync"`, polled by the run and, as `whole`, by the thread'
    )
    command = "langgraph dev --no-browser --no-reload --n-jobs-per-worker 10 --host 127.0.0.1 --port PORT"

    def __init__(self) -> None:
        self.run_of: dict[str, str] = {}

    def made(self, folder: Path) -> Sequence[Server]:
        """One process, and the graph beside what it keeps."""
        self.port, python = free_port(), installing.environment("langgraph")
        shutil.copy(APPS / "graph.py", folder)
        graphs = {"dependencies": ["."], "graphs": {"echo": "./graph.py:graph"}}
        (folder / "langgraph.json").write_text(json.dumps(graphs))
        command = [str(python.parent / "langgraph"), *self.command.split()[1:-1], str(self.port)]
        return [Server(command, folder=folder, health=f"http://{HOST}:{self.port}/ok", environment=QUIET)]

    def versions(self) -> Mapping[str, str]:
        """Of what it is made."""
        names = ("langgraph", "langgraph-api", "langgraph-runtime-inmem", "langgraph-cli")
        return {name: installing.version("langgraph", name) for name in names}

    def create(self, text: str) -> str:
        """Begin a thread, and its first run."""
        thread: str = self.told("POST", "/threads", json={})["thread_id"]
        self.run_of[thread] = self.told("POST", f"/threads/{thread}/runs", json=_run(text))["run_id"]
        return thread

    def send(self, conversation: str, text: str) -> int:
        """Another run, which waits for those before it."""
        sent = self.http.post(f"/threads/{conversation}/runs", json=_run(text))
        if sent.is_success:
            self.run_of[conversation] = sent.json()["run_id"]
        return sent.status_code

    def is_busy(self, conversation: str) -> bool:
        """Whether the thread is, by its own word."""
        return bool(self._thread(conversation)["status"] == "busy")

    def lines(self, conversation: str) -> Sequence[Line]:
        """The messages of its state."""
        values = self._thread(conversation).get("values") or {}
        return [
            Line(Role.PERSON if message["type"] == "human" else Role.AGENT, message["content"])
            for message in values.get("messages", [])
        ]

    def filled(self, messages: int) -> str:
        """One turn, and the rest as one change of the state, for which it has a route."""
        thread = self.create("0 hello")
        self.http.get(f"/threads/{thread}/runs/{self.run_of[thread]}/join").raise_for_status()
        if more := [
            {"role": role, "content": f"{words} 0 message {number}"}
            for number in range(1, messages // 2)
            for role, words in (("user", ""), ("ai", "echo"))
        ]:
            self.told("POST", f"/threads/{thread}/state", json={"values": {"messages": more}})
        return thread

    def polls(self, conversation: str) -> Sequence[Poll]:
        """The run, which grows with its input alone, and the thread, which holds all."""
        run = f"/threads/{conversation}/runs/{self.run_of[conversation]}"
        return [
            Poll("GET /threads/{id}/runs/{run}", self.port, run),
            Poll("whole: GET /threads/{id}", self.port, f"/threads/{conversation}"),
        ]

    def _thread(self, conversation: str) -> Any:
        return self.told("GET", f"/threads/{conversation}")


def _run(text: str) -> dict[str, Any]:
    return {
        "assistant_id": "echo",
        "input": {"messages": [{"role": "user", "content": text}]},
        "multitask_strategy": "enqueue",
        "durability": "sync",
    }
