"""The people's API as plans, one for each thing that a person can do.

Each raises a `Refused` of its kind; what may be repeated was repeated by then. Whatever sends something has an
Idempotency-Key, a fresh one unless the caller brings one along.
"""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from turnkeeper_client.errors import NotUnderstood
from turnkeeper_client.plans import Answer, Plan, ask, get, send
from turnkeeper_client.results import (
    Agents,
    AgentStatus,
    Calls,
    Journal,
    Messages,
    OfferedAgent,
    Polled,
    Review,
    Reviews,
    Said,
    Sent,
    Task,
    Tasks,
    message_of,
)
from turnkeeper_client.shapes import answered_by, instant

NOT_MODIFIED = 304


def new_key() -> str:
    """A key that nobody has used before."""
    return secrets.token_urlsafe(18)


def create(
    agent: str,
    says: Said | None = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    key: str | None = None,
) -> Plan[Sent]:
    """A new task of *agent*, with a first input if something is said; *parameters* are the agent's own.

    Raises `Invalid` where the agent is not there, or wants other parameters; `TooLarge` past 256 KiB.
    """
    body: dict[str, Any] = {"agent": agent}
    if says is not None or parameters:
        body["input"] = _input(says, parameters)
    return (yield from _sent("tasks", body=body, key=key))


def say(
    task_id: str, says: Said, *, parameters: Mapping[str, Any] | None = None, key: str | None = None
) -> Plan[Sent]:
    """The task after one more input, at any time before it has ended.

    Raises `NotFound`, `WrongState` when it has ended, `Invalid` with each place, `TooLarge`.
    """
    return (yield from _sent("tasks", task_id, "inputs", body=_input(says, parameters), key=key))


def poll(task_id: str, etag: str | None = None) -> Plan[Polled]:
    """A look at a task; its `task` is None when it is still as it was under the *etag* of an earlier look."""
    known = {} if etag is None else {"If-None-Match": etag}
    answer = yield from ask(get("tasks", task_id, headers=known))
    after = answer.headers.get("poll-after")
    return Polled(
        task=None if answer.status == NOT_MODIFIED else answered_by(Task, answer),
        etag=_header(answer, "etag"),
        poll_after_s=None if after is None else _seconds(after),
    )


def task(task_id: str) -> Plan[Task]:
    """The task as it is now. Raises `NotFound` when it is another's, too."""
    return answered_by(Task, (yield from ask(get("tasks", task_id))))


def messages(task_id: str, *, after: str | None = None, limit: int | None = None) -> Plan[Messages]:
    """A page of the conversation, after the cursor `next` of an earlier page.

    Raises `Malformed` for a cursor that is none.
    """
    answer = yield from ask(get("tasks", task_id, "messages", query={"after": after, "limit": limit}))
    return answered_by(Messages, answer, etag=answer.headers.get("etag"))


def tasks(
    *,
    phase: str | None = None,
    agent: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Plan[Tasks]:
    """A page of my tasks, newest first; go on with its `next` until that is None."""
    query = {"phase": phase, "agent": agent, "limit": limit, "cursor": cursor}
    return answered_by(Tasks, (yield from ask(get("tasks", query=query))))


def notifications(*, limit: int | None = None, cursor: str | None = None) -> Plan[Calls]:
    """A page of what waits for me over all of my tasks, the longest first."""
    answer = yield from ask(get("notifications", query={"limit": limit, "cursor": cursor}))
    return answered_by(Calls, answer)


def reviews(*, limit: int | None = None, cursor: str | None = None) -> Plan[Reviews]:
    """A page of what waits for my decision."""
    return answered_by(Reviews, (yield from ask(get("reviews", query={"limit": limit, "cursor": cursor}))))


def decide(review_id: str, decision: str, *, comment: str | None = None) -> Plan[Review]:
    """The review with my *decision*: `approve` or `deny`. The same again is the same review.

    Raises `WrongState` when it was decided otherwise or is waited for no longer, `NotFound` when it is not mine.
    """
    body = {"decision": decision} | ({} if comment is None else {"comment": comment})
    answer = yield from ask(send("POST", "reviews", review_id, body=body, repeatable=True))
    return answered_by(Review, answer)


def agents(*, limit: int | None = None, cursor: str | None = None) -> Plan[Agents]:
    """A page of the agents that I can start, by name; go on with its `next` until that is None."""
    return answered_by(Agents, (yield from ask(get("agents", query={"limit": limit, "cursor": cursor}))))


def agent(name: str) -> Plan[OfferedAgent]:
    """One agent, with what its inputs may carry. Raises `NotFound` when there is none of this name."""
    return answered_by(OfferedAgent, (yield from ask(get("agents", name))))


def agent_status(task_id: str) -> Plan[AgentStatus]:
    """Where the task stands, as an envelope of Agent Status Codes."""
    return envelope((yield from ask(get("tasks", task_id, "agent-status"))))


def journal(task_id: str, *, after: str | None = None, limit: int | None = None) -> Plan[Journal]:
    """A page of what happened to a task of mine, after the cursor `next` of an earlier page.

    Raises `NotFound` unless my token has the claim of developers, `Malformed` for a cursor that is none.
    """
    answer = yield from ask(get("tasks", task_id, "journal", query={"after": after, "limit": limit}))
    return answered_by(Journal, answer)


def envelope(answer: Answer) -> AgentStatus:
    """The envelope that *answer* is."""
    try:
        said = answer.json()
        status = said["status"]
    except (ValueError, TypeError, KeyError):
        raise NotUnderstood("the envelope", "has no status") from None
    return AgentStatus.of(status, raw=said)


def _sent(*names: str, body: Mapping[str, Any], key: str | None) -> Plan[Sent]:
    used = key or new_key()
    answer = yield from ask(send("POST", *names, body=body, key=used))
    received = answer.headers.get("received-at")
    return Sent(
        task=answered_by(Task, answer), received_at=None if received is None else _instant(received), key=used
    )


def _input(says: Said | None, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    message = {} if says is None else {"message": message_of(says)}
    return {**(parameters or {}), **message}


def _header(answer: Answer, name: str) -> str:
    if name not in answer.headers:
        raise NotUnderstood(f"the header {name}", "is missing")
    return answer.headers[name]


def _instant(said: str) -> datetime:
    try:
        return instant(said)
    except ValueError:
        raise NotUnderstood("the header received-at", f"is {said!r}") from None


def _seconds(said: str) -> float:
    if not (said.isascii() and said.isdigit()):
        raise NotUnderstood("the header poll-after", f"is {said!r}")
    return float(said)
