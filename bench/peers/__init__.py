"""Side by side with peers: the same small agent in each, on the same machine, asked for the same work, and killed.

`python -m bench.peers` runs this part alone (`--only NAME`, `--quick`, `--install`).
"""

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import httpx

from bench.peers import floor, installing, trials
from bench.peers.a2a import A2A
from bench.peers.conversation import Peer, PeerFailed, Poll
from bench.peers.langgraph import LangGraph
from bench.peers.report import ABOUT, COMMAND, TITLE, plots, tables
from bench.peers.restate import Restate
from bench.peers.turnkeeper import Turnkeeper
from offline.deployment import DeploymentFailed
from offline.engine import EngineFailed

__all__ = ["ABOUT", "COMMAND", "PEERS", "ROUNDS", "TITLE", "measure", "plots", "tables"]

ROUNDS = 4
LIVES, TRIES, KILLS = 8, 3, 2
OLD_S = (11.0, 11.3, 11.6, 12.0)
"""Before a kill; LangGraph's local server writes to its files every ten seconds."""
PEERS: Mapping[str, Callable[[], Peer]] = {
    "turnkeeper": Turnkeeper,
    "a2a": A2A,
    "langgraph": LangGraph,
    "restate": Restate,
}
HANDLERS = "handlers"
"""Our poll's handler alone, which is no peer: it can be polled, and nothing else."""
NAMES = (HANDLERS, *PEERS)
FAILURES = (PeerFailed, EngineFailed, DeploymentFailed, httpx.HTTPError, OSError)
"""What a peer that is not as it should be comes to; it is written down, and the next has its turn."""


def measure(rounds: int = ROUNDS, *, only: Sequence[str] = NAMES, quick: bool = False) -> dict[str, Any]:
    """What was found of each of *only*; one that cannot be installed or does not start is told as such."""
    sizes = trials.SIZES[:2] if quick else trials.SIZES
    with ExitStack() as stack:
        bare = stack.enter_context(floor.bare())
        found = {name: _attempted(name, bare, rounds=rounds, sizes=sizes, quick=quick) for name in only}
    return {"floor": dict(floor.versions()), "peers": found}


def _attempted(name: str, bare: Poll, **how: Any) -> dict[str, Any]:
    began = time.monotonic()
    try:
        found = _handlers(bare, **how) if name == HANDLERS else _measured(PEERS[name](), bare, **how)
        return {**found, "seconds": round(time.monotonic() - began, 1)}
    except FAILURES as failure:
        return {"failed": without_places(f"{type(failure).__name__}: {failure}")}


def without_places(text: str) -> str:
    """*text* without where things lie on this machine."""
    return text.replace(str(installing.ROOT), "…").replace(tempfile.gettempdir(), "…")


def _handlers(bare: Poll, *, rounds: int, sizes: Sequence[int], quick: bool) -> dict[str, Any]:
    del quick
    ours = floor.Handlers()
    with ours.running(tuple(sizes)):
        found = [
            {"messages": size, **trials.beside(poll, bare, rounds=rounds, processes=ours.processes)}
            for size in sizes
            for poll in trials.with_unchanged([ours.poll(size)])
        ]
    return {"name": ours.name, "how": ours.how, "versions": dict(floor.versions()), "polls": found}


def _measured(peer: Peer, bare: Poll, *, rounds: int, sizes: Sequence[int], quick: bool) -> dict[str, Any]:
    tries, kills = (1, 1) if quick else (TRIES, KILLS)
    with peer.running():
        found: dict[str, Any] = {
            "name": peer.name,
            "how": peer.how,
            "command": peer.command,
            "versions": dict(peer.versions()),
            "polls": trials.polls(peer, bare, rounds=rounds, sizes=sizes),
            "lives": trials.lives(peer, times=LIVES),
            "busy": trials.sent_while_busy(peer, times=tries),
        }
        if isinstance(peer, A2A):
            found["busy_at_the_end"] = trials.sent_while_busy(
                peer, times=tries, pause=f"last {trials.PAUSE}", ended=peer.is_completed
            )
        if isinstance(peer, Turnkeeper):
            empty = trials.beside(peer.own_cost(), bare, rounds=rounds, processes=peer.processes)
            found["engine"] = {"empty": empty, "read_ms": peer.reads()}
        found["killed"] = trials.killed(peer, kills=kills, ages=peer.ages_s)
        if isinstance(peer, Turnkeeper):
            found["killed"].update(workers_killed=peer.killed, turns_begun_then=peer.met)
        if isinstance(peer, LangGraph) and not quick:
            found["killed_later"] = trials.killed(peer, kills=1, ages=OLD_S, pause="13")
    return found
