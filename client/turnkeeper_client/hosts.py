"""The hosts' API as plans. All may be repeated: each says the same twice by its nature, or has a key.

Each raises a `Refused` of its kind. On a turn, `Conflict`, `WrongState` and `NotFound` say that it is not yours, or not
any more: stop, and write nothing.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from turnkeeper_client.files import get_from, put_at
from turnkeeper_client.host_results import Agent, Driven, Granted
from turnkeeper_client.people import envelope, new_key
from turnkeeper_client.plans import Plan, Request, ask, get, path, send
from turnkeeper_client.results import AgentStatus, Download, File, Messages, Said, Task, message_of
from turnkeeper_client.shapes import answered_by

SUCCESS, FATAL_ERROR = 2000, 6000

type Usage = Mapping[str, int]
"""What was used since the last report: `prompt_tokens`, `completion_tokens`, `tool_calls`."""


def register(name: str, manifest: Mapping[str, Any] | str) -> Plan[Agent]:
    """The agent *name* with its current *manifest*, a text being YAML; the same again changes nothing.

    Raises `Invalid` with each place, `NotFound` when the name is another's.
    """
    if isinstance(manifest, str):
        request = Request(
            method="PUT",
            path=path("host", "agents", name),
            headers={"Content-Type": "application/yaml"},
            content=manifest.encode(),
            is_repeatable=True,
        )
    else:
        request = send("PUT", "host", "agents", name, body=manifest, repeatable=True)
    return answered_by(Agent, (yield from ask(request)))


def agent(name: str) -> Plan[Agent]:
    """My agent *name*."""
    return answered_by(Agent, (yield from ask(get("host", "agents", name))))


def task(task_id: str) -> Plan[Driven]:
    """A task of my agents, with its turn."""
    return answered_by(Driven, (yield from ask(get("host", "tasks", task_id))))


def messages(
    task_id: str, *, child: str | None = None, after: str | None = None, limit: int | None = None
) -> Plan[Messages]:
    """A page of the conversation of a task, or of its *child*, as a model may see it."""
    where = _where(task_id, child)
    answer = yield from ask(get(*where, "messages", query={"after": after, "limit": limit}))
    return answered_by(Messages, answer, etag=answer.headers.get("etag"))


def agent_status(task_id: str) -> Plan[AgentStatus]:
    """Where a task stands, as its operator may see it."""
    return envelope((yield from ask(get("host", "tasks", task_id, "agent-status"))))


def start(task_id: str, *, key: str | None = None) -> Plan[Driven]:
    """The task with its turn, begun, tried again or resumed; `WrongState` when there is none to start."""
    return (yield from _driven(task_id, "turns", {}, key))


def heartbeat(
    task_id: str, fence: int, *, usage: Usage | None = None, key: str | None = None
) -> Plan[Driven]:
    """The task with the lease of its turn renewed."""
    return (yield from _driven(task_id, "heartbeat", _given(fence=fence, usage=usage), key))


def emit(
    task_id: str, fence: int, number: int, says: Said, *, usage: Usage | None = None, key: str | None = None
) -> Plan[Driven]:
    """The task with one more output of its turn; one whose *number* was there before is not written again."""
    body = _given(fence=fence, number=number, message=message_of(says), usage=usage)
    return (yield from _driven(task_id, "outputs", body, key))


def finish(
    task_id: str, fence: int, says: Said | None = None, *, usage: Usage | None = None, key: str | None = None
) -> Plan[Driven]:
    """The task after its turn, with what is said last in the same write."""
    message = None if says is None else message_of(says)
    return (yield from _driven(task_id, "finish", _given(fence=fence, message=message, usage=usage), key))


def fail(task_id: str, fence: int, *, key: str | None = None) -> Plan[Driven]:
    """The task after a failed attempt; if there is another, it begins at the turn's `retry_at`."""
    return (yield from _driven(task_id, "fail", {"fence": fence}, key))


def wait(
    task_id: str,
    fence: int,
    waits: Iterable[Mapping[str, Any]],
    *,
    memo: Any = None,
    usage: Usage | None = None,
    key: str | None = None,
) -> Plan[Driven]:
    """The task with its turn suspended on *waits*; the *memo* comes back when it goes on."""
    body = _given(fence=fence, waits=list(waits), memo=memo, usage=usage)
    return (yield from _driven(task_id, "wait", body, key))


def resolve(task_id: str, fence: int, wait_id: str, verdict: str, *, key: str | None = None) -> Plan[Driven]:
    """The task with a wait of the kind `host` over: `done` or `denied`."""
    body = {"fence": fence, "wait": wait_id, "verdict": verdict}
    return (yield from _driven(task_id, "resolve", body, key))


def delegate(task_id: str, fence: int, call: str, agent: str, says: Said | None = None) -> Plan[Task]:
    """The child that this *call* of the turn made, once."""
    first = None if says is None else {"message": message_of(says)}
    body = _given(fence=fence, call=call, agent=agent, input=first)
    answer = yield from ask(send("POST", "host", "tasks", task_id, "children", body=body, repeatable=True))
    return answered_by(Task, answer)


def child(task_id: str, child_id: str) -> Plan[Task]:
    """A child of a task of mine."""
    return answered_by(Task, (yield from ask(get(*_where(task_id, child_id)))))


def report(
    task_id: str,
    fence: int,
    envelope: Mapping[str, Any],
    *,
    unit: str | None = None,
    requested: bool = False,
    key: str | None = None,
) -> Plan[Driven]:
    """The task with what somebody else, or a part of the work, came to."""
    body = _given(fence=fence, report=envelope, unit=unit, requested=requested)
    return (yield from _driven(task_id, "reports", body, key))


def grant(user: str, provider: str, *, granted_at: datetime | None = None) -> Plan[Granted]:
    """A person's authorisation of a *provider*, recorded."""
    at = None if granted_at is None else granted_at.isoformat()
    body = _given(user=user, provider=provider, granted_at=at)
    return answered_by(Granted, (yield from ask(send("POST", "host", "grants", body=body, repeatable=True))))


def interrupt(task_id: str, *, key: str | None = None) -> Plan[Driven]:
    """The task with its turn and waits ended, without output."""
    return (yield from _driven(task_id, "interrupt", {}, key))


def complete(
    task_id: str,
    outcome: int = SUCCESS,
    *,
    discard_pending: bool = False,
    key: str | None = None,
    **declared: Any,
) -> Plan[Driven]:
    """The task, ended well; *declared*: `message`, `retry` and the like. `WrongState` while inputs wait."""
    body = {"outcome": outcome, "discard_pending": discard_pending, **declared}
    return (yield from _driven(task_id, "complete", body, key))


def error(
    task_id: str, outcome: int = FATAL_ERROR, *, key: str | None = None, **declared: Any
) -> Plan[Driven]:
    """The task, ended for an error of that code."""
    return (yield from _driven(task_id, "error", {"outcome": outcome, **declared}, key))


def restrict(task_id: str, *, key: str | None = None, **declared: Any) -> Plan[Driven]:
    """The task, locked."""
    return (yield from _driven(task_id, "restrict", declared, key))


def reconcile(
    task_id: str,
    answer: str,
    *,
    says: Said | None = None,
    outcome: int | None = None,
    key: str | None = None,
) -> Plan[Driven]:
    """The task after word on its lost turn: `repeat`, `done` with what is to tell, or `failed` with an *outcome*."""
    message = None if says is None else message_of(says)
    return (
        yield from _driven(task_id, "reconcile", _given(answer=answer, message=message, outcome=outcome), key)
    )


def upload(task_id: str, content: bytes, *, name: str, mime_type: str, key: str | None = None) -> Plan[File]:
    """A file that an output may name."""
    return (yield from put_at(("host", "tasks", task_id), content, name=name, mime_type=mime_type, key=key))


def download(
    task_id: str, file: str | File, *, child: str | None = None, at: str | None = None
) -> Plan[Download]:
    """A file that the conversation of a task, or of its *child*, names."""
    return (yield from get_from(_where(task_id, child), file, at=at))


def _driven(task_id: str, what: str, body: Mapping[str, Any], key: str | None) -> Plan[Driven]:
    answer = yield from ask(send("POST", "host", "tasks", task_id, what, body=body, key=key or new_key()))
    return answered_by(Driven, answer)


def _where(task_id: str, child: str | None) -> tuple[str, ...]:
    mine = ("host", "tasks", task_id)
    return mine if child is None else (*mine, "children", child)


def _given(**named: Any) -> dict[str, Any]:
    return {name: value for name, value in named.items() if value is not None}
