"""What things cost: calls and item sizes, measured on the real store, times list prices; `make cost` writes the page.

Capacity is computed from sizes by AWS's rules, since no engine meters right; how long a function runs is assumed.
"""

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scripts import polling
from tests.support.engines import on_moto
from tests.support.metered import Cost
from tests.support.metering import Used, use
from tests.support.use_cases import USE_CASES

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cost.md"
TEMPLATE = Path(__file__).parent / "cost_page.md"
PRICES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "prices.toml").read_text(encoding="utf-8"))
ASSUMED: Mapping[str, float] = PRICES["assumed"]
MILLION = 1_000_000
POLL_GB = SMALL_GB = 0.5
LARGE_GB = 1.0
STORED_BESIDE = 100
"""The bytes that each item takes in store beside its own."""


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


def _swept() -> Used:
    return use(lambda_gb_second=ASSUMED["sweep_ms"] / 1_000 * SMALL_GB)


def dollars(used: Used) -> float:
    """What is paid for *used*."""
    prices = PRICES["per_million"]
    paid = sum(amount * prices[name] / MILLION for name, amount in used.items() if name in prices)
    return float(paid + used["log_bytes"] / 1e9 * PRICES["per_gb"]["log_ingested"])


def measurements() -> dict[str, tuple[Used, float]]:
    """Each act with what it uses of everything, and what storage adds to it in dollars."""
    request = invoked(1, ASSUMED["request_ms"], LARGE_GB, http=True)
    turn = invoked(1, ASSUMED["turn_ms"], LARGE_GB)
    poll = invoked(1, ASSUMED["poll_ms"], POLL_GB, http=True)

    def counted(use_case: str) -> Cost:
        with on_moto() as engine:
            return USE_CASES[use_case].cost(engine)

    gone = counted("deletion")
    gigabytes = (sum(gone.deleted) + STORED_BESIDE * len(gone.deleted)) / 1e9
    kept = gigabytes * PRICES["per_gb"]["stored_month"] * ASSUMED["kept_months"]
    return {
        "create a task with an input of 1 KB": (counted("create_with_input").used + request + told(1), 0),
        "a turn with one output": (counted("turn").used + turn + told(2), 0),
        "one more input of 1 KB": (counted("accept").used + request + told(1), 0),
        "a poll": (counted("poll").used + poll, 0),
        "its end": (counted("poll_expiring").used + _swept() + told(1), 0),
        "its deletion, and what it was kept before": (gone.used + _swept(), kept),
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
    text = page()
    (Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE).write_text(text, encoding="utf-8")
