"""Which agents there are: those in the table, and the built-in ones, put there at their first use."""

from dataclasses import dataclass

from turnkeeper.agents import builtin
from turnkeeper.domain.errors import CommitUnknown, StoreIsBusy, StoreIsUnavailable, TaskNotFound
from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents
from turnkeeper.store.parts import Attributes


@dataclass(frozen=True, slots=True)
class Found:
    """What there is: the agent, whether the table has it as it is now, and what lies beside it."""

    manifest: Manifest | None
    is_kept: bool
    beside: Attributes | None


def look_up(runtime: Runtime, name: str, *, beside: Attributes | None = None) -> Found:
    """The current manifest of *name*, and the item *beside* it, in one call."""
    key = agents.current_key(name)
    found = runtime.table.get_all([key, beside] if beside else [key])
    stored = found.get((key["pk"], key["sk"]))
    other = found.get((beside["pk"], beside["sk"])) if beside else None
    shipped = builtin.manifest(name)
    # A name that was registered before a deployment shipped it is its first registrant's.
    if shipped is None or (stored is not None and stored["owner"] != shipped.owner):
        manifest = parse(stored["document"], owner=stored["owner"]) if stored else None
        return Found(manifest, is_kept=stored is not None, beside=other)
    return Found(shipped, is_kept=stored is not None and stored["version"] == shipped.version, beside=other)


def keep(runtime: Runtime, found: Found) -> None:
    """Have the manifest that was *found* be in the table: a built-in one is new there, or changed, once."""
    if found.manifest and not found.is_kept:
        try:
            agents.keep(runtime.table, found.manifest)
        except TaskNotFound as taken:
            raise StoreIsBusy from taken
        except CommitUnknown as unknown:
            # Of what the caller asked for nothing was stored; the agent may be there or not.
            raise StoreIsUnavailable from unknown
