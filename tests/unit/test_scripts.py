"""The commands start as the documents say, from the repository's folder and with nothing in the environment."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("command", ["redrive", "verify", "mutations"])
def test_a_command_starts_by_itself(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{command}", "--help"],
        cwd=ROOT,
        env={},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
