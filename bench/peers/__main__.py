"""`python -m bench.peers`: this part alone, shown as tables; what was found goes to stdout as JSON with `--json`."""

import argparse
import json
import sys

from rich.console import Console

from bench.peers import NAMES, ROUNDS, installing, measure, tables
from bench.tables import shown


def main() -> int:
    """The exit status: 1 where one of those that were asked for came to nothing."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument(
        "--only", action="append", choices=NAMES, help="one of them, and no others; may be given again"
    )
    parser.add_argument("--quick", action="store_true", help="fewer messages, tries and kills")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"pairs of bursts for each poll ({ROUNDS})"
    )
    parser.add_argument(
        "--install", action="store_true", help="install what is compared, and measure nothing"
    )
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    asked = parser.parse_args()
    if asked.install:
        failures = installing.everything()
        print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
        return 1 if failures else 0
    found = measure(asked.rounds, only=asked.only or NAMES, quick=asked.quick)
    if asked.json:
        print(json.dumps(found, indent=1))
    else:
        for table in tables(found):
            Console().print(shown(table))
    return 1 if any("failed" in of for of in found["peers"].values()) else 0


if __name__ == "__main__":
    sys.exit(main())
