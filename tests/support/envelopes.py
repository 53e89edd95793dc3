"""A task's envelope as each of those who may ask is told it, read as a stranger would read it."""

from typing import Any

from tests.support.hosting import Host
from tests.support.reply import Reply
from turnkeeper.asc import envelope


def asked(host: Host, task_id: str, **more: Any) -> Reply:
    """What Alice is told."""
    return host.api.get(f"/v1/tasks/{task_id}/agent-status", **more)


def public(host: Host, task_id: str) -> Any:
    reply = asked(host, task_id)
    assert reply.status == 200, reply.body
    envelope.read(reply.body)
    return reply.json


def developer(host: Host, task_id: str) -> Any:
    """What Alice is told with a developer's token."""
    request = host.api.event("GET", f"/v1/tasks/{task_id}/agent-status")
    request["requestContext"]["authorizer"]["jwt"]["claims"]["cognito:groups"] = "[staff developers]"
    reply = host.api.send(request)
    assert reply.status == 200, reply.body
    envelope.read(reply.body)
    return reply.json


def operator(host: Host, task_id: str) -> Any:
    reply = host.send("GET", f"tasks/{task_id}/agent-status")
    assert reply.status == 200, reply.body
    envelope.read(reply.body)
    return reply.json


def said(told: Any) -> tuple[int, str]:
    """The code and the phase."""
    return told["status"]["code"], told["status"]["phase"]
