"""One part, measured in this process: `python -m bench.measure NAME ROUNDS FILE` writes what it found as JSON."""

import json
import sys
from pathlib import Path

from bench.parts import part


def main(name: str, rounds: str, file: str) -> None:
    """Measure the part *name*."""
    found = part(name).measure(int(rounds))
    Path(file).write_text(json.dumps(found, allow_nan=False), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
