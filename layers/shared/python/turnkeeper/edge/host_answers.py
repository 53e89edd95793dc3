"""What hosts get: the status object as people see it, and beside it what only whoever drives the task may know."""

import json
from collections.abc import Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Any

from turnkeeper.domain.instants import to_text
from turnkeeper.domain.manifest import Manifest
from turnkeeper.domain.primary import primary_code
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Task, Turn, Usage
from turnkeeper.domain.waits import Resolution, Wait, resolution_object
from turnkeeper.edge import etags
from turnkeeper.edge.answers import Answer, agent_status, answer
from turnkeeper.edge.manifests import not_acted_on
from turnkeeper.service.host_turns import inputs_after


def driven(
    status: int, task: Task, *, memo: str | None = None, resolutions: Iterable[Resolution] | None = None
) -> Answer:
    """*task* as its host may have it; *memo* is what its suspended turn's agent noted, as JSON text.

    *resolutions* are the turn's with their comments, where those were read.
    """
    code = primary_code(task)
    body = {
        "task": status_object(task),
        "agent_status": {"code": code.value, "name": code.name},
        "pending": task.pending,
        "turns": task.turns,
        "usage": _usage(task.usage),
        "waits": [_wait(wait) for wait in task.asks],
        "turn": _turn(task.turn, memo, resolutions) if task.turn else None,
    }
    headers = {"ETag": etags.tag(task.revision), **agent_status(task)}
    return answer(status, json.dumps(body, separators=(",", ":")), headers)


def registered(status: int, manifest: Manifest) -> Answer:
    """*manifest* as the current version of its agent, and what of it changes nothing here."""
    fields = json.loads(manifest.document)
    body = {
        "name": manifest.name,
        "version": manifest.version,
        "manifest": fields,
        "not_acted_on": not_acted_on(fields),
    }
    return answer(status, json.dumps(body, separators=(",", ":")), {"ETag": etags.tag(manifest.version)})


def seen(status: int, child: Task) -> Answer:
    """A *child* as the host of its parent may see it: its status object."""
    body = json.dumps(status_object(child), separators=(",", ":"))
    return answer(status, body, {"ETag": etags.tag(child.revision), **agent_status(child)})


def granted(user: str, provider: str, granted_at: datetime, reached: int) -> Answer:
    """Since when the *user* has authorised the *provider*, and how many tasks waited for that."""
    body = {"user": user, "provider": provider, "granted_at": to_text(granted_at), "tasks": reached}
    return answer(HTTPStatus.OK, json.dumps(body, separators=(",", ":")), {})


def _wait(wait: Wait) -> dict[str, str]:
    shown = {
        "id": wait.id,
        "kind": wait.kind.value,
        "since": to_text(wait.since),
        "deadline": to_text(wait.deadline),
    }
    more = {"provider": wait.provider, "reviewer": wait.reviewer, "child": wait.child}
    return shown | {name: value for name, value in more.items() if value is not None}


def _turn(turn: Turn, memo: str | None, resolutions: Iterable[Resolution] | None) -> dict[str, Any]:
    return {
        "number": turn.number,
        "state": turn.state.value,
        "fence": turn.fence,
        "attempt": turn.attempt,
        "started_at": to_text(turn.started_at),
        "lease_until": to_text(turn.lease_until) if turn.lease_until else None,
        "retry_at": to_text(turn.retry_at) if turn.retry_at else None,
        "outputs": turn.outputs,
        "first_output": turn.kept + 1,
        "inputs_after": inputs_after(turn),
        "memo": json.loads(memo) if memo is not None else None,
        "resolutions": [
            resolution_object(one) for one in (turn.resolutions if resolutions is None else resolutions)
        ],
    }


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt_tokens or 0,
        "completion_tokens": usage.completion_tokens or 0,
        "tool_calls": usage.tool_calls or 0,
    }
