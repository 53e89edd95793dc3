"""Delegation: a turn gives another agent a task of its own, once per call, and reads what became of it."""

import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import (
    CallReused,
    InvalidInput,
    Place,
    StaleFence,
    StoreIsUnavailable,
    TaskNotFound,
)
from turnkeeper.domain.manifest import Manifest
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Birth, Change, Wake
from turnkeeper.service import catalogue, rules
from turnkeeper.service.catalogue import Found
from turnkeeper.service.change import Decide, expire
from turnkeeper.service.files import pinned
from turnkeeper.service.owned import check_id
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import tasks
from turnkeeper.store.items import child_key
from turnkeeper.store.keys import body_hash

TRIES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The one call of this *name* in a turn: which agent is asked, and its first input as the store keeps it."""

    name: str
    fence: int
    agent: str
    content: str | None

    @property
    def body(self) -> str:
        """What makes the same name another call."""
        return f'{{"agent":{json.dumps(self.agent)},"input":{self.content or "null"}}}'


class _Again(Exception):
    """The turn made another child meanwhile, perhaps by this very call."""


def delegate(
    runtime: Runtime, call: Call, *, read: Callable[[], Task], write: Callable[[Task, Decide], object]
) -> Task:
    """The child that *call* made, now or before, of the task that *read* gives and *write* changes.

    Raises `InvalidInput` for an agent that takes no tasks from this one, or past the limits, `CallReused`, and what
    *write* raises.
    """
    for _ in range(TRIES):
        parent = read()
        if parent.turn is None or parent.turn.fence != call.fence:
            raise StaleFence(call.fence)
        made = runtime.table.get(child_key(parent.id, parent.turn.number, call.name))
        if made is not None:
            if made["body_hash"] != body_hash(call.body):
                raise CallReused
            return _read(runtime, made["child"])
        found, manifest = _found(runtime, parent, call.agent)
        birth, content = _birth(manifest, parent), call.content
        if content is not None:
            content = rules.normalised(rules.of_manifest(manifest), content, at=("input",))
        catalogue.keep(runtime, found)
        try:
            write(parent, _decide(runtime, call, parent, birth, content))
        except _Again:
            continue
        child = _read(runtime, birth.id)
        if call.content is not None and runtime.queue is not None:
            runtime.queue.send(child, Wake.TASK)
        return child
    raise StoreIsUnavailable


def child_of(runtime: Runtime, parent: Task, child_id: str) -> Task:
    """The child as it is now, if it is one of *parent*'s; past its announced end, the end is written first."""
    check_id(child_id)
    child = tasks.read(runtime.table, child_id)
    if child is None or child.is_gone(runtime.clock()) or child.parent != parent.id:
        raise TaskNotFound
    return expire(runtime, child, actor="reader")


def _decide(runtime: Runtime, call: Call, parent: Task, birth: Birth, content: str | None) -> Decide:
    def decide(current: Task, now: datetime) -> Change:
        if current.turn and parent.turn and current.turn.children != parent.turn.children:
            raise _Again
        change = transitions.delegate(
            current,
            fence=call.fence,
            call=call.name,
            body=call.body,
            birth=birth,
            content=content,
            now=now,
            pace=runtime.pace,
        )
        if change.delegation is None:
            return change
        child = pinned(runtime, change.delegation.child, at=("input",))
        return replace(change, delegation=replace(change.delegation, child=child))

    return decide


def _found(runtime: Runtime, parent: Task, agent: str) -> tuple[Found, Manifest]:
    found = catalogue.look_up(runtime, agent)
    if found.manifest is None or parent.agent not in found.manifest.delegates_from:
        problem = f"there is no agent of this name that takes tasks from {parent.agent}"
        raise InvalidInput([Place("agent", problem)])
    return found, found.manifest


def _birth(manifest: Manifest, parent: Task) -> Birth:
    return Birth(
        id=secrets.token_hex(16),
        agent=manifest.name,
        agent_version=manifest.version,
        terms=manifest.terms,
        responsible_user=parent.responsible_user,
    )


def _read(runtime: Runtime, child_id: str) -> Task:
    child = tasks.read(runtime.table, child_id)
    if child is None or child.is_gone(runtime.clock()):
        raise TaskNotFound
    return child
