"""`make lint`: holds the API's document to the rules of `.spectral.yaml`, by spectral of package-lock.json."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from infra import NODE, ROOT

SPECTRAL = ROOT / "node_modules" / "@stoplight" / "spectral-cli" / "dist" / "index.js"
RULES = ROOT / ".spectral.yaml"
DOCUMENT = ROOT / "layers" / "shared" / "python" / "turnkeeper" / "edge" / "openapi.json"


def findings(*documents: Path) -> list[Any]:
    """What the rules find in *documents*; each finding has its `source`, `code`, `path` and `message`."""
    asked = [str(NODE), str(SPECTRAL), "lint", "--quiet", "--format", "json", "--ruleset", str(RULES)]
    run = subprocess.run(
        [*asked, *map(str, documents)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    # 1: something was found. Everything else but 0 says that nothing was looked at.
    if run.returncode not in {0, 1}:
        raise RuntimeError(run.stderr or run.stdout)
    found: list[Any] = json.loads(run.stdout or "[]")
    return found


def main() -> int:
    """Say what is wrong with the document; return the exit code."""
    wrong = findings(DOCUMENT)
    for one in wrong:
        print(f"{DOCUMENT.name}: {'/'.join(map(str, one['path']))}: {one['message']} ({one['code']})")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
