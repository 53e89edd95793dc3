"""Breaks each promise of the contract once and sees a test go red for it: `make mutations`, or with clauses to try.

What is broken, and where, is in `mutations.toml`. All of it happens in a copy of the tree, which is gone afterwards.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.markup import escape

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
PACKAGE = Path("layers/shared/python/turnkeeper")
INSTALLED = (".venv", ".engine", "node_modules")
LEFT_BEHIND = (".git", ".turnkeeper", "cdk.out", "__pycache__", "*_cache", ".hypothesis")
PATIENCE_SECONDS = 600
ONE_FAILED = 1
"""What pytest ends with when a test failed, and not for a reason of its own."""


class TextNotFound(Exception):
    """What a mutation replaces is not there, or not once: the list is out of date."""


class Verdict(StrEnum):
    """What became of a mutation."""

    RED = "red"
    SURVIVED = "SURVIVED"
    BROKE_THE_RUN = "BROKE THE RUN"
    """No test failed, but none could pass either."""


@dataclass(frozen=True)
class Mutation:
    """One promise, broken: in *file*, below the package, the one place of *old* says *new*."""

    clause: str
    breaks: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    """Which tests are to notice; the clause's own in the conformance suite, when none is named."""

    @property
    def selection(self) -> tuple[str, ...]:
        """What pytest is told to run."""
        return self.tests or ("tests/conformance", f"--clause={self.clause}")

    def applied(self, text: str) -> str:
        """*text* with the promise broken."""
        if text.count(self.old) != 1:
            raise TextNotFound(
                f"{self.clause} ({self.breaks}): {self.file} has the text {text.count(self.old)} times"
            )
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Run:
    """How a run of pytest ended, and the first test that failed."""

    code: int
    failed: str
    seconds: float
    said: str

    @property
    def verdict(self) -> Verdict:
        """What that says of the mutation."""
        if self.code == 0:
            return Verdict.SURVIVED
        return Verdict.RED if self.code == ONE_FAILED and self.failed else Verdict.BROKE_THE_RUN


def mutations() -> list[Mutation]:
    """All that are listed."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    return [Mutation(**{**one, "tests": tuple(one.get("tests", ()))}) for one in listed]


@contextmanager
def copy_of(tree: Path) -> Iterator[Path]:
    """A copy of *tree* while the block runs; what is installed there is linked, file by file, where that can be."""
    with tempfile.TemporaryDirectory(prefix="turnkeeper-mutations-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tree, copy, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_BEHIND, *INSTALLED))
        for name in INSTALLED:
            shutil.copytree(tree / name, copy / name, symlinks=True, copy_function=linked)
        yield copy


def linked(source: str, target: str) -> None:
    """Have *target* be *source*'s own bytes: nobody writes into what is installed."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def run(tree: Path, selection: Sequence[str]) -> Run:
    """Run the tests of *selection* in *tree*, up to the first that fails."""
    began = time.monotonic()
    command = [str(tree / ".venv" / "bin" / "python"), "-m", "pytest", "-x", "-q", "-rf", *selection]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=tree,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    failed = [line.removeprefix("FAILED ") for line in done.stdout.splitlines() if line.startswith("FAILED ")]
    name = failed[0].split(" - ")[0].rpartition("::")[2] if failed else ""
    return Run(done.returncode, name, time.monotonic() - began, done.stdout)


def tried(tree: Path, mutation: Mutation) -> Run:
    """What the tests say of *mutation* in *tree*, which is as it was afterwards."""
    path = tree / PACKAGE / mutation.file
    whole = path.read_text(encoding="utf-8")
    path.write_text(mutation.applied(whole), encoding="utf-8")
    try:
        return run(tree, mutation.selection)
    finally:
        path.write_text(whole, encoding="utf-8")


def main() -> int:
    """Try what is asked for; return 0 if a test went red for each."""
    parser = argparse.ArgumentParser(prog="python scripts/mutations.py", description=__doc__)
    parser.add_argument("clauses", nargs="*", help="only the mutations of these clauses")
    wanted = parser.parse_args().clauses
    chosen = [one for one in mutations() if not wanted or one.clause in wanted]
    console = Console(highlight=False, soft_wrap=True)
    try:
        for one in chosen:
            one.applied((ROOT / PACKAGE / one.file).read_text(encoding="utf-8"))
    except TextNotFound as missing:
        console.print(str(missing), style="red", markup=False)
        return 2
    with copy_of(ROOT) as tree:
        if not is_green(tree, chosen, console):
            return 2
        verdicts = [shown(tried(tree, one), one, console) for one in chosen]
    red = verdicts.count(Verdict.RED)
    console.print(f"{red} of {len(chosen)} went red.", style="green" if red == len(chosen) else "red")
    return 0 if chosen and red == len(chosen) else 1


def is_green(tree: Path, chosen: Sequence[Mutation], console: Console) -> bool:
    """Tell whether all that the mutations are tried with passes as it is; otherwise red would say nothing."""
    clauses = sorted({one.clause for one in chosen if not one.tests})
    named = sorted({test for one in chosen for test in one.tests})
    selections = [
        *([["tests/conformance", *(f"--clause={clause}" for clause in clauses)]] if clauses else []),
        *([named] if named else []),
    ]
    for selection in selections:
        before = run(tree, selection)
        if before.code != 0:
            console.print(before.said, markup=False)
            console.print("These tests do not even pass as it is.", style="red")
            return False
    console.print("As it is, all is green.")
    return True


def shown(result: Run, mutation: Mutation, console: Console) -> Verdict:
    """Say what became of *mutation*."""
    verdict = result.verdict
    style = "green" if verdict is Verdict.RED else "red"
    console.print(
        f"[{style}]{verdict}[/]  [bold]{mutation.clause}[/]  {mutation.breaks}  "
        f"[dim]{escape(result.failed)}  {result.seconds:.0f} s[/]"
    )
    if verdict is Verdict.BROKE_THE_RUN:
        console.print("\n".join(result.said.splitlines()[-25:]), markup=False, style="dim")
    return verdict


if __name__ == "__main__":
    sys.exit(main())
