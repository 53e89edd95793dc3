"""What things cost: calls and item sizes, measured on the real store, times list prices; `make cost` writes the page.

Capacity is computed from sizes by AWS's rules, since no engine meters right; how long a function runs is assumed.
"""

import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scripts import polling
from tests.support.capacity import item_size, query_units, read_units, write_units
from tests.support.counting import Call, Counting, counted
from tests.support.engines import Engine
from tests.support.laboratory import Laboratory
from turnkeeper.service.retention import MARGIN

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cost.md"
TEMPLATE = Path(__file__).parent / "cost_page.md"
PRICES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "prices.toml").read_text(encoding="utf-8"))
ASSUMED: Mapping[str, float] = PRICES["assumed"]
MILLION = 1_000_000
POLL_GB = SMALL_GB = 0.5
LARGE_GB = 1.0
TEXT = "x" * 1_000

type Used = Counter[str]


def use(**amounts: float) -> Used:
    """So much of each; Counter's type knows whole numbers alone."""
    return Counter(amounts)


def units_of(call: Call, lab: Laboratory) -> Used:
    """What one call of DynamoDB or SQS uses, by the names of prices."""
    request, answer = call.request, call.answer or {}
    match call.operation:
        case "get_item" | "query":
            return use(read_unit=call.read_units)
        case "batch_get_item":
            ((table, asked),) = request["RequestItems"].items()
            found = [item_size(item) for item in answer.get("Responses", {}).get(table, ())]
            missing = [0] * (len(asked["Keys"]) - len(found))
            return use(read_unit=read_units([*found, *missing], consistent=True))
        case "transact_write_items":
            return sum((_written(one, lab, transaction=True) for one in request["TransactItems"]), use())
        case "update_item":
            return _written({"Update": request}, lab, transaction=False)
        case "send_message" | "receive_message" | "delete_message":
            return use(sqs_fifo_request=1)
        case _:
            return use()


def _written(one: Mapping[str, Any], lab: Laboratory, *, transaction: bool) -> Used:
    ((kind, what),) = one.items()
    key = {name: (what.get("Item") or what.get("Key"))[name] for name in ("pk", "sk")}
    item = lab.dynamodb.client.get_item(TableName=lab.table, Key=key).get("Item", {})
    units = write_units([item_size(item)], transaction=transaction)
    moved = set(what.get("ExpressionAttributeNames", {}).values()) & {"due_at", "due_shard"}
    if kind == "Put" and "due_at" in what["Item"]:
        units += 2  # a place in each index
    elif moved:
        units += 2  # out of one place in the due index, into another
    return use(write_unit=units)


def measured(lab: Laboratory, act: Callable[[], object]) -> Used:
    """What *act* uses of the table and the queue."""
    with counted(lab.dynamodb, lab.sqs) as tally:
        act()
    used: Used = sum((units_of(call, lab) for call in (*tally.dynamodb, *tally.sqs)), use())
    return used


def invoked(times: float, ms: float, gb: float, *, http: bool = False) -> Used:
    """What so many invocations of a function use."""
    return use(
        lambda_request=times,
        lambda_gb_second=times * ms / 1_000 * gb,
        log_bytes=times * ASSUMED["logged_bytes"],
        http_api_request=times if http else 0,
    )


def told(times: int) -> Used:
    """What it uses that so many changes are told on the bus, each by an invocation of its own at worst."""
    return use(event=times) + invoked(times, ASSUMED["publish_ms"], SMALL_GB)


def deleted(lab: Laboratory, task_id: str) -> tuple[Used, int]:
    """What the deletion of a task uses, and how many bytes it had."""
    sizes = [
        item_size(item)
        for item in lab.dynamodb.client.scan(TableName=lab.table)["Items"]
        if item["pk"]["S"] == f"TASK#{task_id}"
    ]
    read = query_units(sum(sizes), consistent=True) + 1
    written = write_units(sizes, transaction=False) + 2  # and a place in each index
    used = use(write_unit=written, read_unit=read, s3_list=1)
    return used + _swept(), sum(sizes) + 100 * len(sizes)


def _swept() -> Used:
    return use(lambda_gb_second=ASSUMED["sweep_ms"] / 1_000 * SMALL_GB)


def dollars(used: Used) -> float:
    """What is paid for *used*."""
    prices = PRICES["per_million"]
    paid = sum(amount * prices[name] / MILLION for name, amount in used.items() if name in prices)
    return float(paid + used["log_bytes"] / 1e9 * PRICES["per_gb"]["log_ingested"])


def measurements() -> dict[str, tuple[Used, float]]:
    """Each act with what it uses of everything, and what storage adds to it in dollars."""
    engine = Engine("moto", None)
    lab = Laboratory(engine, dynamodb=Counting(engine.client("dynamodb")), sqs=Counting(engine.client("sqs")))
    lab.create(agent="mayfly")  # the agent is in the table from its first use on
    request = invoked(1, ASSUMED["request_ms"], LARGE_GB, http=True)
    turn = invoked(1, ASSUMED["turn_ms"], LARGE_GB)
    made: list[str] = []
    create = measured(lab, lambda: made.append(lab.create(TEXT, agent="mayfly").task.id)) + request + told(1)
    # The queue is asked once more than it has messages; a deployment's pollers ask all day, see the page.
    worked = measured(lab, lab.work) + turn + told(2)
    sent = measured(lab, lambda: lab.send(made[0], TEXT)) + request + told(1)
    lab.work()
    poll = measured(lab, lambda: lab.poll(made[0])) + invoked(1, ASSUMED["poll_ms"], POLL_GB, http=True)
    lab.clock.forward(seconds=6)
    ended = measured(lab, lambda: lab.poll(made[0])) + _swept() + told(1)
    lab.clock.now = lab.stored(made[0]).due_at + MARGIN
    gone, size = deleted(lab, made[0])
    kept = size / 1e9 * PRICES["per_gb"]["stored_month"] * ASSUMED["kept_months"]
    return {
        "create a task with an input of 1 KB": (create, 0),
        "a turn with one output": (worked, 0),
        "one more input of 1 KB": (sent, 0),
        "a poll": (poll, 0),
        "its end": (ended, 0),
        "its deletion, and what it was kept before": (gone, kept),
    }


def page() -> str:
    """The page, as it must stand in docs/cost.md."""
    acts = {name: (used, dollars(used) + kept) for name, (used, kept) in measurements().items()}
    price = {name: paid for name, (_, paid) in acts.items()}
    polls = ASSUMED["polls_of_a_task"]
    task = sum(price.values()) - price["one more input of 1 KB"] + (polls - 1) * price["a poll"]
    million, hour = PRICES["per_million"], PRICES["per_hour"]
    states = 6 * million["state_transition"] / MILLION
    session = ASSUMED["session_seconds"] / 3_600
    runtime = session * (
        ASSUMED["session_vcpu_share"] * hour["agentcore_vcpu"] + ASSUMED["session_gb"] * hour["agentcore_gb"]
    )
    remembered = 2 * million["memory_event"] / MILLION
    rows = "\n".join(
        f"| {name} | {used['write_unit']:g} | {used['read_unit']:g} | {used['sqs_fifo_request']:g} | {used['event']:g} "
        f"| {paid * MILLION:,.2f} |"
        for name, (used, paid) in acts.items()
    )
    assumed = "\n".join(f"| `{name}` | {value:g} |" for name, value in ASSUMED.items())
    return TEMPLATE.read_text(encoding="utf-8").format(
        region=PRICES["region"],
        as_of=PRICES["as_of"],
        rows=rows,
        polling=polling.rows(price["a poll"]),
        day_tasks=polling.DAY["tasks"],
        assumed=assumed,
        polls=f"{polls:g}",
        task=f"{task * MILLION:,.2f}",
        poll=f"{price['a poll'] * MILLION:,.2f}",
        states=f"{states * MILLION:,.2f}",
        agentcore=f"{(runtime + remembered) * MILLION:,.2f}",
        seconds=f"{ASSUMED['session_seconds']:g}",
        vcpu=f"{ASSUMED['session_vcpu_share']:g}",
        gb=f"{ASSUMED['session_gb']:g}",
    )


if __name__ == "__main__":
    from moto import mock_aws

    with mock_aws():
        text = page()
    (Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE).write_text(text, encoding="utf-8")
