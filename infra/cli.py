"""The CDK CLI that package-lock.json pins, on the Node.js that comes with .venv: no other one is needed.

`python -m infra.cli synth` is `cdk synth`, and so on.
"""

import subprocess
import sys

from infra import NODE, ROOT

CDK = ROOT / "node_modules" / "aws-cdk" / "bin" / "cdk"


def command(*arguments: str) -> list[str]:
    """Return the command line of the CLI with *arguments*."""
    return [str(NODE), str(CDK), *arguments]


def main() -> int:
    """Run the CLI with our own arguments; return its exit code."""
    # What an earlier synth found wrong would fail this one.
    (ROOT / "cdk.out" / "validation-report.json").unlink(missing_ok=True)
    return subprocess.run(command(*sys.argv[1:]), cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
