"""What a version of ours wrote, frozen: the whole table of a laboratory with tasks in every state that lasts.

`python -m tests.support.frozen FILE` writes it, once for each version that is released; nothing writes it anew.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.engines import Engine
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper.domain.instants import to_text
from turnkeeper.domain.reviews import fence_of, name_of
from turnkeeper.domain.status import status_object
from turnkeeper.domain.waits import Verdict
from turnkeeper.service import host_turns
from turnkeeper.service.grants import grant
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.reviews import decide

OWNER = "deployment"


def idle(lab: Laboratory) -> str:
    task_id = lab.create("hi", key="made").task.id
    lab.work()
    return task_id


def with_files(lab: Laboratory) -> str:
    task_id = lab.create().task.id
    lab.send_file(task_id, "x/week 48.csv")
    lab.work()
    return task_id


def queued(lab: Laboratory) -> str:
    task_id = lab.create("one").task.id
    lab.send(task_id, "two")
    return task_id


def running(lab: Laboratory) -> str:
    task_id = lab.create("one").task.id
    host_turns.start(lab.runtime, asked(task_id))
    lab.send(task_id, "two")
    return task_id


def signing_in(lab: Laboratory) -> str:
    lab.clock.forward(minutes=1)  # later than any sign-in before
    task_id = lab.create("Lunch at one", agent="concierge").task.id
    lab.work()
    return task_id


def reviewed(lab: Laboratory) -> str:
    task_id = signing_in(lab)
    grant(lab.runtime, principal=OWNER, user=ALICE, provider="calendar", granted_at=None)
    lab.work()
    return task_id


def decided(lab: Laboratory) -> str:
    task_id = reviewed(lab)
    task = lab.stored(task_id)
    (wait,) = task.waits
    review = f"{task_id}{name_of(fence_of(task, wait), wait.id)}"
    decide(lab.runtime, caller=ALICE, review_id=review, verdict=Verdict.DONE, comment="Go ahead.")
    lab.work()
    return task_id


def ended(lab: Laboratory) -> str:
    task_id = lab.create("hi", agent="mayfly").task.id
    lab.work()
    lab.clock.forward(seconds=6)
    lab.poll(task_id)
    return task_id


STATES: dict[str, Callable[[Laboratory], str]] = {
    "ended": ended,
    "decided": decided,
    "to be decided": reviewed,
    "signing in": signing_in,
    "idle": idle,
    "with files": with_files,
    "queued": queued,
    "running": running,
}
"""The last two leave wake-ups behind, which nobody attends to any more."""


def asked(task_id: str) -> Asked:
    """What the host of the built-in agents asks of a task."""
    return Asked(principal=OWNER, task_id=task_id, body="", key=None)


def freeze(lab: Laboratory) -> dict[str, Any]:
    """Every item in wire form, and of each task what is seen of it."""
    ids = {}
    for name, make in STATES.items():
        ids[name] = make(lab)
    seen = {
        name: {
            "id": task_id,
            "status": status_object(lab.poll(task_id)),
            "messages": lab.conversation(task_id),
        }
        for name, task_id in ids.items()
    }
    items = lab.dynamodb.scan(TableName=lab.table)["Items"]
    return {"now": to_text(lab.clock.now), "tasks": seen, "items": items}


if __name__ == "__main__":
    from moto import mock_aws

    with mock_aws():
        frozen = freeze(Laboratory(Engine("moto", None)))
    Path(sys.argv[1]).write_text(json.dumps(frozen, ensure_ascii=False, indent=1, sort_keys=True) + "\n")
