"""The agents that come with every deployment: a manifest file each, and the class that runs its turns."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from turnkeeper.agents.concierge import Concierge
from turnkeeper.agents.echo import Echo, SlowEcho
from turnkeeper.agents.protocol import Agent
from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.domain.task import DEPLOYMENT

MANIFESTS = Path(__file__).parent / "manifests"

AGENTS: dict[str, Callable[[], Agent]] = {
    "echo": Echo,
    "slow_echo": SlowEcho,
    "mayfly": Echo,
    "concierge": Concierge,
}


@cache
def manifest(name: str) -> Manifest | None:
    """The manifest that this deployment ships under *name*, if it ships one."""
    if name not in AGENTS:
        return None
    return parse((MANIFESTS / f"{name}.json").read_text(encoding="utf-8"), owner=DEPLOYMENT)


def agent(name: str) -> Agent:
    """Whatever takes the turns of *name*'s tasks; a name without one is a bug, and raises."""
    return AGENTS[name]()
