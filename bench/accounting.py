"""What every use case calls and uses, by AWS's rules: the list that tests hold to its budgets and costs are made of."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bench.figures import row
from bench.tables import Table
from tests.support.engines import on_moto
from tests.support.metered import Cost
from tests.support.use_cases import USE_CASES, UseCase

TITLE = "What each use case asks of AWS"
ABOUT = """\
Calls and units of every use case, counted on the real store and queue by a metering client: sizes of items rounded as
AWS does, writes of a transaction doubled, places in indexes included (counted once; AWS does not say that transactions
double them, and we have not yet asked a live account). A sweep asks its 32 shards each time, whatever there is. These
are counts: they are the same on every machine, and tests fail when one changes (`tests/support/use_cases.py`)."""
ROUNDS = 1
COMMAND = "make bench PART=accounting"


def measure(rounds: int, *, use_cases: Sequence[str] = tuple(USE_CASES)) -> Mapping[str, Any]:
    """What each of *use_cases* costs; the same every time, so once is enough for any number of *rounds*."""
    del rounds
    with on_moto() as engine:
        return {name: _plain(USE_CASES[name], USE_CASES[name].cost(engine)) for name in use_cases}


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """A row for each use case."""
    columns = (
        "use case",
        "calls",
        "read units",
        "write units",
        "of them indexes",
        "SQS",
        "events",
        "bytes read",
        "written",
    )
    return tuple(
        Table(
            whose.capitalize(),
            columns,
            [
                row(
                    of["name"],
                    of["calls"],
                    *(of["used"].get(name, 0) for name in ("read_unit", "write_unit", "index_unit")),
                    *(of["used"].get(name, 0) for name in ("sqs_fifo_request", "event")),
                    of["bytes_read"],
                    of["bytes_written"],
                )
                for of in found.values()
                if of["whose"] == whose
            ],
            COMMAND,
        )
        for whose in dict.fromkeys(of["whose"] for of in found.values())
    )


def _plain(case: UseCase, cost: Cost) -> dict[str, Any]:
    calls = Counter(cost.calls)
    return {
        "name": case.name,
        "whose": case.whose,
        "calls": ", ".join(f"{count} {_shown(name)}" for name, count in calls.items()),
        "used": dict(cost.used),
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
    }


def _shown(call: str) -> str:
    """As AWS writes it: `transact_write_items of 3` is `TransactWriteItems of 3`."""
    name, _, rest = call.partition(" ")
    return "".join(word.capitalize() for word in name.split("_")) + (f" {rest}" if rest else "")
