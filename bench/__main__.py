"""`make bench`: measures every part, or those that are named, shows the tables, and writes the page."""

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from bench import ROOT, page, results
from bench.parts import PARTS, part
from bench.results import Taken
from bench.run import run
from bench.tables import shown

console = Console(width=None if sys.stdout.isatty() else 160)


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 where a part failed; what the others found is kept all the same."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", metavar="PART", help=f"one of {', '.join(PARTS)}; all, if none is named"
    )
    parser.add_argument(
        "--rounds", type=int, help="how often each sample is taken; each part knows by itself"
    )
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; there are: {', '.join(PARTS)}")
    if asked.rounds is not None and asked.rounds < 1:
        parser.error("--rounds: once at least")
    kept = results.read()
    failed = run(asked.parts or list(PARTS), asked.rounds, kept, told=_tell)
    results.keep(kept)
    page.write(kept)
    console.print(f"Kept in bench/results.json; {page.PAGE.relative_to(ROOT)} says the same.")
    if failed:
        console.print(
            f"[red]No figures[/] of {', '.join(failed)}; what is kept of them is of an earlier run."
        )
    return 1 if failed else 0


def _tell(name: str, done: Taken | Exception) -> None:
    if isinstance(done, Exception):
        console.print(f"[red]{name} failed[/]: {escape(str(done))}")
        return
    console.print(f"[bold]{name}[/], {done.seconds:g} s, {done.taken_by_others:.0%} taken by others")
    for table in part(name).tables(done.found):
        console.print(shown(table))


if __name__ == "__main__":
    sys.exit(main())
