"""Hosts of agents, as they speak to their API: each a role that signs, with a queue of its own."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.gateway import Gateway, Signer
from tests.support.laboratory import Laboratory
from tests.support.reply import Reply
from turnkeeper.service import host_turns
from turnkeeper.service.host_turns import Asked

ACME = Signer("acme", "AROAACMEEXAMPLE123456")
RIVAL = Signer("rival", "AROARIVALEXAMPLE12345")
REMADE = replace(ACME, role_id="AROAREMADEEXAMPLE1234")
"""A role under the name of `ACME`'s, made after that was deleted."""
FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:my-agent"

AGENT = "helper"


def text(said: str) -> dict[str, Any]:
    """A message of one text."""
    return {"message": [{"mimeType": "text/plain", "text": said}]}


def manifest(
    name: str = AGENT, *, limits: Mapping[str, object] | None = None, **ours: object
) -> dict[str, Any]:
    """A manifest of an agent that an external host runs, unless *ours* says otherwise."""
    bounds = {} if limits is None else {"limits": limits}
    return {
        "kind": "commonagents.info/v1/agent",
        "name": name,
        "description": "Helps.",
        "turnkeeper": {"runs": "external", **ours},
        **bounds,
    }


def report(code: int = 2000, name: str = "SUCCESS", **more: Any) -> dict[str, Any]:
    """A report of a tool that was called; *more* stands beside its status, and `scope` and the like in it."""
    own = {"kind": "status", "scope": "tool_call", "terminal": True}
    status = {"code": code, "name": name, **{each: more.pop(each, usual) for each, usual in own.items()}}
    return {"spec_version": "0.1.0", "status": status, "occurred_at": "2026-11-30T12:00:00Z", **more}


@dataclass(slots=True)
class Host:
    """One host: what it asks, and what lies in its queue."""

    api: Gateway
    lab: Laboratory
    signer: Signer
    queue_url: str

    def send(
        self, method: str, path: str, body: object = None, *, key: str | None = None, **request: Any
    ) -> Reply:
        """The reply to a signed request; *path* begins after `/v1/host/`."""
        headers = {"Idempotency-Key": key} if key is not None else {}
        made = self.api.event(
            method, f"/v1/host/{path}", signer=self.signer, body=body, headers=headers, **request
        )
        return self.api.send(made)

    def register(self, name: str = AGENT, **terms: Any) -> Reply:
        return self.send("PUT", f"agents/{name}", manifest(name, **terms))

    def task(self, *inputs: str, agent: str = AGENT) -> str:
        """A task that Alice began with one of the agents there are."""
        body = {"agent": agent, **({"input": text(inputs[0])} if inputs else {})}
        task_id: str = self.api.post("/v1/tasks", body).json["id"]
        for more in inputs[1:]:
            self.tell(task_id, more)
        return task_id

    def tell(self, task_id: str, said: str) -> None:
        """Alice sends one more input."""
        assert self.api.post(f"/v1/tasks/{task_id}/inputs", text(said)).status == 202

    def read(self, task_id: str) -> Any:
        reply = self.send("GET", f"tasks/{task_id}")
        assert reply.status == 200
        return reply.json

    def ending(self, task_id: str) -> tuple[str | None, int]:
        """Why the task ended, if it did, and its code."""
        shown = self.read(task_id)
        return shown["task"]["status"]["terminal_reason"], shown["agent_status"]["code"]

    def messages(self, task_id: str, **query: str) -> Any:
        reply = self.send("GET", f"tasks/{task_id}/messages", query=query)
        assert reply.status == 200
        return reply.json

    def ask(self, task_id: str, what: str, body: object = None, *, key: str | None = None) -> Reply:
        return self.send("POST", f"tasks/{task_id}/{what}", body, key=key)

    def start(self, task_id: str, *, key: str | None = None) -> Any:
        """The turn that it began, with its fence."""
        reply = self.ask(task_id, "turns", key=key)
        assert reply.status == 201, reply.body
        return reply.json["turn"]

    def running(self, *inputs: str) -> tuple[str, int]:
        """A task with a turn that runs, and its fence."""
        task_id = self.task(*(inputs or ("hi",)))
        return task_id, self.start(task_id)["fence"]

    def say(self, task_id: str, fence: int, number: int, said: str, **more: object) -> Reply:
        return self.ask(task_id, "outputs", {"fence": fence, "number": number, **text(said), **more})

    def finish(self, task_id: str, fence: int, said: str | None = None, **more: object) -> Reply:
        return self.ask(task_id, "finish", {"fence": fence, **(text(said) if said else {}), **more})

    def report(self, task_id: str, fence: int, said: object, **more: object) -> Reply:
        return self.ask(task_id, "reports", {"fence": fence, "report": said, **more})

    def sweep_after(self, **by: float) -> None:
        """Let so much time pass, from now on the functions' clock, and sweep."""
        clock = self.lab.clock
        clock.now = max(clock.now, datetime.now(UTC)) + timedelta(**by)
        self.lab.sweep()

    def wake_ups(self) -> list[Any]:
        """The wake-ups in its queue; each is seen once."""
        return bodies(self.lab, self.queue_url)


@dataclass(slots=True)
class Hosts:
    """Two hosts with a queue each; only they and the deployment have agents."""

    acme: Host
    rival: Host
    everybody: dict[str, str] = field(default_factory=dict)
    """The queue of each, by its principal."""


def make_hosts(api: Gateway, lab: Laboratory, queues: Mapping[str, str]) -> Hosts:
    """The hosts of *queues*, which their principals own."""
    acme, rival = (Host(api, lab, signer, queues[signer.principal]) for signer in (ACME, RIVAL))
    return Hosts(acme, rival, dict(queues))


def bodies(lab: Laboratory, queue_url: str) -> list[Any]:
    """What the messages say that are visible in a queue; taken, so that the next look does not see them."""
    found: list[Any] = []
    while received := lab.sqs.receive_message(QueueUrl=queue_url, MaxNumberOfMessages=10).get("Messages"):
        for message in received:
            found.append(json.loads(message["Body"]))
            lab.sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
    return found


def begun_before(lab: Laboratory, task_id: str, *, minutes: float) -> None:
    """Have the task's turn been started that long ago."""
    now, lab.clock.now = lab.clock.now, lab.clock.forward(minutes=-minutes)
    task = lab.stored(task_id)
    asked = Asked(principal=task.terms.owner, task_id=task_id, body="", key=None)
    host_turns.start(lab.runtime, asked)
    lab.clock.now = now
