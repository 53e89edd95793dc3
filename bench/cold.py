"""Cold starts: each function in a fresh process, against one that only makes a DynamoDB client.

What counts is the CPU time of the whole process, the interpreter's own start included, on both sides. A function is
run right beside what it is compared with, so that a machine that is slow for a while is so to both.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

from bench.figures import ratio, spread
from tests.support.fresh import FUNCTIONS, environment

ROUNDS = 15
BOTOCORE = "import botocore.session; botocore.session.get_session().create_client('dynamodb')"
BOTO3 = "import boto3; boto3.client('dynamodb')"


def measure(rounds: int, functions: Sequence[str] = FUNCTIONS) -> dict[str, Any]:
    """CPU seconds of *rounds* cold starts of each of *functions*, and how many times the two clients' they are."""
    programs = {name: f"import functions.{name}.handler" for name in functions}
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
                runs[name][who].append(cpu_seconds(beside[who]))
    return {
        "measures": "CPU seconds of a fresh process",
        "rounds": rounds,
        "functions": {name: _summed(**of) for name, of in runs.items()},
    }


def cpu_seconds(program: str) -> float:
    """What a process that runs *program* and nothing else takes."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", program], environment())
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


def main() -> None:
    """Print a line for each function."""
    measured = measure(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)
    print(f"{measured['measures']}, {measured['rounds']} rounds: median (least to greatest)")
    for name, of in measured["functions"].items():
        cpu, to_botocore, to_boto3 = of["cpu_s"], of["ratio_to_botocore"], of["ratio_to_boto3"]
        print(
            f"{name:8} {cpu['median']:.3f} s ({cpu['min']:.3f} to {cpu['max']:.3f}), "
            f"{to_botocore['median']:.2f} x botocore ({to_botocore['min']:.2f} to {to_botocore['max']:.2f}), "
            f"{to_boto3['median']:.2f} x boto3"
        )


if __name__ == "__main__":
    main()
