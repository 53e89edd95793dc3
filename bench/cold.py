"""Cold starts: each function in a fresh process, against one that only makes a DynamoDB client.

What counts is the CPU time of the whole process, the interpreter's own start included, on both sides. A function is
run right beside what it is compared with, so that a machine that is slow for a while is so to both.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bench.figures import cell, ratio, spread
from bench.tables import Table
from tests.support.fresh import FUNCTIONS, environment

TITLE = "Cold start of each function"
ABOUT = """\
CPU seconds of a whole fresh process, the interpreter's own start included: one that loads the function as Lambda would,
and beside it one that only imports botocore (or boto3) and makes a DynamoDB client, which all that read a table
must. Nothing of AWS's own start is in it."""
COMMAND = "make bench PART=cold"
ROUNDS = 15
BOTOCORE = "import botocore.session; botocore.session.get_session().create_client('dynamodb')"
BOTO3 = "import boto3; boto3.client('dynamodb')"


def measure(rounds: int, functions: Sequence[str] = FUNCTIONS) -> dict[str, Any]:
    """CPU seconds of *rounds* cold starts of each of *functions*, and how many times the two clients' they are."""
    programs = {name: _started(name) for name in functions}
    for program in (BOTOCORE, BOTO3, *programs.values()):
        cpu_seconds(program)  # what is not compiled yet is compiled now
    runs: dict[str, dict[str, list[float]]] = {
        name: {"function": [], "botocore": [], "boto3": []} for name in programs
    }
    for turn in range(rounds):
        for name, program in programs.items():
            beside = {"function": program, "botocore": BOTOCORE, "boto3": BOTO3}
            # In turns, so that none is always the one that comes after the heaviest.
            order = list(beside) if turn % 2 == 0 else list(reversed(beside))
            for who in order:
                runs[name][who].append(cpu_seconds(beside[who], name))
    return {
        "measures": "CPU seconds of a fresh process",
        "rounds": rounds,
        "functions": {name: _summed(**of) for name, of in runs.items()},
    }


def _started(function: str) -> str:
    """A program that loads *function*, and makes the clients of its first event where it does not at once."""
    makes = "from turnkeeper.settings import runtime; runtime()" if function in {"sweep", "turns"} else ""
    return f"import functions.{function}.handler\n{makes}"


def cpu_seconds(program: str, function: str | None = None) -> float:
    """What a process takes that runs *program* and nothing else, in the environment of *function*."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", program], environment(function))
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"A fresh process failed with {program!r}; run it by itself to see why.")
    return used.ru_utime + used.ru_stime


def _summed(function: list[float], botocore: list[float], boto3: list[float]) -> dict[str, Any]:
    return {
        "cpu_s": spread(function),
        "botocore_cpu_s": spread(botocore),
        "boto3_cpu_s": spread(boto3),
        "ratio_to_botocore": ratio(function, botocore),
        "ratio_to_boto3": ratio(function, boto3),
    }


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """A row for each function."""
    columns = ("function", "CPU ms", "x botocore", "x boto3")
    rows = [
        (
            name,
            cell(of["cpu_s"], times=1_000),
            cell(of["ratio_to_botocore"]),
            cell(of["ratio_to_boto3"]),
        )
        for name, of in found["functions"].items()
    ]
    return (Table("Cold start, median (least to greatest)", columns, rows, COMMAND),)
