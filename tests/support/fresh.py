"""A Python process of its own, as a function that starts cold is one: nothing is loaded but what it asks for."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.engines import KEYS, REGION
from tests.support.gateway import ENVIRONMENT

ROOT = Path(__file__).parents[2]
FUNCTIONS = sorted(found.parent.name for found in (ROOT / "functions").glob("*/handler.py"))
PLACES = {
    "TURNKEEPER_TABLE": "table",
    "TURNKEEPER_QUEUE_URL": "https://sqs.test/wake.fifo",
    "TURNKEEPER_BUCKET": "bucket",
    "TURNKEEPER_BUS": "bus",
    "TURNKEEPER_UNTOLD_URL": "https://sqs.test/untold",
}
KNOWS = {
    "status": {"TABLE"},
    "publish": {"TABLE", "BUS", "UNTOLD_URL"},
    "turns": {"TABLE", "QUEUE_URL"},
    "sweep": {"TABLE", "QUEUE_URL", "BUCKET"},
    "tasks": {"TABLE", "QUEUE_URL", "BUCKET"},
    "host": {"TABLE", "QUEUE_URL", "BUCKET"},
}
"""Which places each function is told; what it loads depends on them."""
IMPORTS = """
import json, sys

class Witness:
    # Asked first of each module that is not there yet; finds none, and notes who wanted it.
    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        wanted.setdefault(name, f"{frame.f_globals.get('__name__')}, line {frame.f_lineno}")

wanted = {}
sys.meta_path.insert(0, Witness())
"""


def environment(function: str | None = None, *paths: Path) -> dict[str, str]:
    """The environment of *function*, or of one that knows all places; its code lies at *paths*, else in this tree."""
    found = paths or (ROOT, ROOT / "layers" / "shared" / "python")
    keys = {name.upper(): value for name, value in KEYS.items()}
    known = PLACES if function is None else {f"TURNKEEPER_{name}" for name in KNOWS[function]}
    places = {name: place for name, place in PLACES.items() if name in known}
    path = os.pathsep.join(str(each) for each in found)
    return {**ENVIRONMENT, **places, **keys, "AWS_DEFAULT_REGION": REGION, "PYTHONPATH": path}


def said(program: str, function: str | None = None, *paths: Path, alone: bool = False) -> str:
    """What *program* wrote, run in a process of its own with the environment of *function*.

    *alone*, it has nothing but Python's own modules and what lies at *paths*.
    """
    done = subprocess.run(
        [sys.executable, *(["-S"] if alone else []), "-c", program],
        env=environment(function, *paths),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported_by(program: str, function: str, *paths: Path) -> dict[str, str]:
    """Each module that *program* loads, and the one that asked for it first."""
    wanted = "print(json.dumps({name: by for name, by in wanted.items() if name in sys.modules}))"
    loaded: dict[str, str] = json.loads(said(f"{IMPORTS}\n{program}\n{wanted}", function, *paths))
    return loaded
