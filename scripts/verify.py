"""Whether tasks are still what their journals say: `python -m scripts.verify --table NAME TASK…`.

Replays each task's journal with the credentials of the shell, reads only, and exits with 1 where anything is not as it
was written, and with 2 where the table cannot be read. It holds against anyone who cannot write the table.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from turnkeeper.domain.errors import StoreIsUnavailable, TaskNotFound
from turnkeeper.service.verify import Verified, verify
from turnkeeper.settings import STORE_CALLS, session, utc_now
from turnkeeper.store.table import Table

NOT_READ = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status, after a line for each task and each finding."""
    parser = argparse.ArgumentParser(prog="scripts.verify", description=__doc__)
    parser.add_argument("--table", required=True, help="the stack's output TableName")
    parser.add_argument("--endpoint-url", help="where DynamoDB answers, if not at AWS")
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="the id of a task")
    asked = parser.parse_args(arguments)
    try:
        client: Any = session().create_client("dynamodb", endpoint_url=asked.endpoint_url, config=STORE_CALLS)
        table = Table(client, asked.table)
        return max([_told(table, task_id) for task_id in asked.tasks])
    except (BotoCoreError, ClientError, StoreIsUnavailable) as error:
        print(f"{asked.table} cannot be read: {error}", file=sys.stderr)
        return NOT_READ


def _told(table: Table, task_id: str) -> int:
    try:
        found = verify(table, task_id, now=utc_now())
    except TaskNotFound:
        print(
            f"{task_id}: there is no such task: it never was, or its retention is over and it is deleted whole"
        )
        return 1
    print(f"{task_id}: {_summary(found)}")
    for finding in found.findings:
        print(f"  {finding.at} {finding.problem}")
    return 1 if found.findings else 0


def _summary(found: Verified) -> str:
    whole = "what its journal says" if not found.findings else f"{len(found.findings)} findings"
    ended = "ended, " if found.is_terminal else ""
    return f"{ended}{whole}; {found.entries} entries, head {found.head}"


if __name__ == "__main__":
    sys.exit(main())
