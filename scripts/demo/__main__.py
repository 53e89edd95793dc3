"""The walk of `make demo`: what the README promises, over HTTP, on a deployment of its own that is gone afterwards.

It shows what the API answered, and stops with an error where that is not what was promised.
"""

import sys
import tempfile
from pathlib import Path

from rich.console import Console

from offline import hosts
from offline.deployment import deploy
from offline.engine import Engine
from offline.progress import Shown
from scripts.demo import life, people
from scripts.demo.person import NotAsPromised, host, person


def main() -> int:
    """Deploy, walk, and clean up; return the exit code."""
    console = Console(highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="turnkeeper-demo-") as folder:
        engine = Engine(Path(folder))
        with console.status("Starting") as status:
            progress = Shown(console, status)
            progress.step("Starting an engine of its own")
            engine.start()
            try:
                steward = hosts.make_host(engine.endpoint, hosts.STEWARD)
                deployment = deploy(engine, context=hosts.settings([steward]), progress=progress)
                alice, bob = person(deployment, "alice"), person(deployment, "bob")
                life.walk(alice, bob, console)
                people.walk(alice, bob, host(deployment, steward), console)
            except NotAsPromised as broken:
                console.print(f"Not as promised: {broken}", style="red", markup=False)
                return 1
            finally:
                engine.stop()
    console.print("All as promised.", style="green")
    return 0


if __name__ == "__main__":
    sys.exit(main())
