"""Starting a task: the agent's terms are copied into it, and it is its creator's for good (TS-3)."""

import json
import secrets
from dataclasses import replace
from datetime import datetime

from turnkeeper.domain import transitions
from turnkeeper.domain.errors import InvalidInput, Place, StoreIsBusy
from turnkeeper.domain.manifest import Manifest
from turnkeeper.domain.transitions import Birth
from turnkeeper.service import catalogue, metering, rules
from turnkeeper.service.accepted import Accepted, replayed
from turnkeeper.service.change import woken
from turnkeeper.service.files import pinned
from turnkeeper.service.runtime import Runtime
from turnkeeper.store.commit import KeyTaken, Moved, commit
from turnkeeper.store.keys import Claim, claim

ROUTE = "create"


def create(runtime: Runtime, *, caller: str, agent: str, content: str | None, key: str | None) -> Accepted:
    """A new task of *caller* with *agent*, and its first input if *content* is given.

    Raises `InvalidInput` for an agent that is not there, or parameters that are not its own. A *key* that came before
    answers the task it made then.
    """
    for _ in range(2):
        now = runtime.clock()
        claimed = (
            _claim(runtime, caller, agent, content=content, key=key, now=now) if key is not None else None
        )
        found = catalogue.look_up(runtime, agent, beside=claimed.key if claimed else None)
        if claimed and (made := claimed.made(found.beside)):
            return replayed(runtime, made, None)
        if (manifest := found.manifest) is None:
            raise InvalidInput([Place("agent", "there is no agent of this name")])
        first = content
        if content is not None:
            first = rules.normalised(rules.of_manifest(manifest), content, at=("input",))
        catalogue.keep(runtime, found)
        try:
            return _create(runtime, caller, manifest, content=first, claimed=claimed, now=now)
        except KeyTaken:
            continue
    raise StoreIsBusy


def _create(
    runtime: Runtime,
    caller: str,
    manifest: Manifest,
    *,
    content: str | None,
    claimed: Claim | None,
    now: datetime,
) -> Accepted:
    birth = Birth(
        id=secrets.token_hex(16),
        agent=manifest.name,
        agent_version=manifest.version,
        terms=manifest.terms,
        responsible_user=caller,
    )
    change = transitions.create(birth, content=content, now=now, pace=runtime.pace)
    change = pinned(runtime, change, at=("input",))
    try:
        written = commit(
            runtime.table,
            change,
            actor="responsible_user",
            at=now,
            claim=claimed,
            patience=runtime.table.patience(),
        )
    except Moved as taken:  # 128 random bits met a task that is there: try again with others
        raise StoreIsBusy from taken
    change = replace(change, after=written)
    runtime.meter(metering.written(change))
    made = woken(runtime, change)
    return Accepted(made.after, made.input.received_at if made.input else None)


def _claim(
    runtime: Runtime, caller: str, agent: str, *, content: str | None, key: str, now: datetime
) -> Claim:
    body = f'{{"agent":{json.dumps(agent)},"input":{content or "null"}}}'
    return claim(key, caller=caller, route=ROUTE, task_id="", body=body, now=now, lasts=runtime.idempotency)
