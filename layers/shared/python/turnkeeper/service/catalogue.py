"""Which agents there are: those in the table, and the built-in ones, put there at their first use."""

from collections.abc import Mapping
from dataclasses import dataclass

from turnkeeper.agents import builtin
from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable, TaskNotFound
from turnkeeper.domain.manifest import NAME, Manifest, parse
from turnkeeper.service.cursors import read_name, write_name
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents
from turnkeeper.store.parts import Attributes


@dataclass(frozen=True, slots=True)
class Found:
    """What there is: the agent, whether the table has it as it is now, and what lies beside it."""

    manifest: Manifest | None
    is_kept: bool
    beside: Attributes | None


@dataclass(frozen=True, slots=True)
class Agents:
    """A page of what people can start, by name; no *next* when there is no more."""

    manifests: tuple[Manifest, ...]
    next: str | None


def look_up(runtime: Runtime, name: str, *, beside: Attributes | None = None) -> Found:
    """The current manifest of *name*, and the item *beside* it, in one call."""
    key = agents.current_key(name)
    found = runtime.table.get_all([key, beside] if beside else [key])
    stored = found.get((key["pk"], key["sk"]))
    other = found.get((beside["pk"], beside["sk"])) if beside else None
    manifest = _current(runtime, name, stored)
    return Found(manifest, is_kept=manifest is not None and _is_kept(manifest, stored), beside=other)


def keep(runtime: Runtime, found: Found) -> None:
    """Have what was *found* be in the table as it is now, once.

    A built-in agent may be new there, or changed; a host's may be from before there was a list of them.
    """
    if found.manifest is None or found.is_kept:
        return
    try:
        if found.manifest.is_built_in:
            agents.keep(runtime.table, found.manifest)
        else:
            agents.enlist(runtime.table, found.manifest.name)
    except TaskNotFound as taken:
        raise StoreIsBusy from taken
    except CommitUnknown as unknown:
        # Of what the caller asked for nothing was stored; the agent may be there or not.
        raise StoreIsUnavailable from unknown


def shipped_as(runtime: Runtime, name: str) -> Manifest | None:
    """The manifest that comes with this deployment under *name*, if one does."""
    model = runtime.models.get(name)
    return model.manifest if model else builtin.manifest(name)


def read(runtime: Runtime, name: str) -> Manifest:
    """The agent that a task of *name* would begin with now; raises `TaskNotFound` where there is none."""
    if not NAME.fullmatch(name):
        raise TaskNotFound
    if (manifest := _current(runtime, name, runtime.table.get(agents.current_key(name)))) is None:
        raise TaskNotFound
    return manifest


def list_agents(runtime: Runtime, *, limit: int, cursor: str | None) -> Agents:
    """The next *limit* agents after *cursor*: every host's, and what comes with the deployment."""
    after = read_name(cursor) if cursor is not None else None
    hosts, position = agents.names(runtime.table, after=after, limit=limit)
    shipped = {
        name
        for name in (*builtin.AGENTS, *runtime.models)
        if (after is None or name > after) and (position is None or name <= position)
    }
    named = sorted({*hosts, *shipped})
    page = named[:limit]
    keys = [agents.current_key(name) for name in page]
    stored = runtime.table.get_all(keys) if keys else {}
    found = [
        _current(runtime, name, stored.get((key["pk"], key["sk"])))
        for name, key in zip(page, keys, strict=True)
    ]
    has_more = position is not None or len(named) > limit
    return Agents(
        tuple(manifest for manifest in found if manifest is not None),
        write_name(page[-1]) if has_more else None,
    )


def _current(runtime: Runtime, name: str, stored: Mapping[str, str] | None) -> Manifest | None:
    """What new tasks of *name* get: what is *stored*, or what this deployment ships."""
    shipped = shipped_as(runtime, name)
    # A name that was registered before a deployment shipped it is its first registrant's.
    if stored is None or (shipped is not None and stored["owner"] == shipped.owner):
        return shipped
    manifest = parse(stored["document"], owner=stored["owner"])
    # What was shipped once and is no more stays for the tasks that began with it.
    return None if manifest.is_built_in else manifest


def _is_kept(manifest: Manifest, stored: Attributes | None) -> bool:
    if stored is None:
        return False
    return bool(stored["version"] == manifest.version) if manifest.is_built_in else agents.LISTED in stored
