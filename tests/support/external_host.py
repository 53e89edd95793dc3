"""An external host as a process that a test can kill: takes one turn and stops wherever it is told to.

Started with what `HostClient` holds and the number of outputs after which to stop, as JSON on its standard input; says
where it is in lines on its standard output.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from botocore.credentials import Credentials

from offline.endpoint import Endpoint
from tests.support.hosts import HostClient, said

PARTS = 2


def main() -> None:
    """Wait for a wake-up, start its turn, say both parts, never finish."""
    told: dict[str, Any] = json.load(sys.stdin)
    host = HostClient(
        Credentials(*told["credentials"]),
        told["base_url"],
        Endpoint(told["endpoint"], Path(told["certificate"]) if told["certificate"] else None),
        told["queue_url"],
    )
    host.woken(told["task"], keep=True)
    turn = host.post(told["task"], "turns").raise_for_status().json()["turn"]
    tell({"fence": turn["fence"], "lease_until": turn["lease_until"]})
    for number in range(1, told["stops_after"] + 1):
        output = {"fence": turn["fence"], "number": number, **said(f"part {number}")}
        host.post(told["task"], "outputs", output).raise_for_status()
    tell({"stopped_after": told["stops_after"]})
    time.sleep(600)


def tell(fact: dict[str, Any]) -> None:
    """Say one line."""
    print(json.dumps(fact), flush=True)


if __name__ == "__main__":
    main()
