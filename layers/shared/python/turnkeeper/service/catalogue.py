"""Which agents there are: those in the table, and the built-in ones, put there at their first use."""

from dataclasses import dataclass

from turnkeeper.agents import builtin
from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents
from turnkeeper.store.items import Attributes

DEPLOYMENT = "deployment"
"""The owner of the built-in agents."""


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
    if shipped is None:
        return Found(parse(stored["document"]) if stored else None, is_kept=stored is not None, beside=other)
    return Found(shipped, is_kept=stored is not None and stored["version"] == shipped.version, beside=other)


def kept(runtime: Runtime, found: Found) -> Manifest | None:
    """The manifest that was *found*, in the table by now: a built-in one is new there, or changed, once."""
    if found.manifest and not found.is_kept:
        agents.keep(runtime.table, found.manifest, owner=DEPLOYMENT)
    return found.manifest
