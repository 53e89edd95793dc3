"""A Python process of its own, as a function that starts cold is one: nothing is loaded but what it asks for."""

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


def environment(*paths: Path) -> dict[str, str]:
    """The environment of a function whose code lies at *paths*: as a rule, in this repository."""
    found = paths or (ROOT, ROOT / "layers" / "shared" / "python")
    keys = {name.upper(): value for name, value in KEYS.items()}
    path = os.pathsep.join(str(each) for each in found)
    return {**ENVIRONMENT, **PLACES, **keys, "AWS_DEFAULT_REGION": REGION, "PYTHONPATH": path}


def said(program: str, *paths: Path) -> str:
    """What *program* wrote, run in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(*paths),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
