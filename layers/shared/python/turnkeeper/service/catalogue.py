"""Which agents there are: those in the table, and the built-in ones, put there at their first use."""

from turnkeeper.agents import builtin
from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import agents
from turnkeeper.store.items import Attributes

DEPLOYMENT = "deployment"
"""The owner of the built-in agents."""


def look_up(
    runtime: Runtime, name: str, *, beside: Attributes | None = None
) -> tuple[Manifest | None, Attributes | None]:
    """The current manifest of *name*, and the item *beside* it, in one call.

    A built-in agent whose file is new, or changed with this deployment, is put into the table first.
    """
    key = agents.current_key(name)
    found = runtime.table.get_all([key, beside] if beside else [key])
    stored = found.get((key["pk"], key["sk"]))
    other = found.get((beside["pk"], beside["sk"])) if beside else None
    shipped = builtin.manifest(name)
    if shipped is None:
        return (parse(stored["document"]) if stored else None), other
    if stored is None or stored["version"] != shipped.version:
        agents.keep(runtime.table, shipped, owner=DEPLOYMENT)
    return shipped, other
