"""The warm poll: what its handler takes beside a bare GetItem and json.dumps, both without a network.

Below the SDK DynamoDB's answer lies ready for both (`bench.canned`). A bare poll is what anybody writes first: a client
as botocore makes it by itself, one call for the item, one json.dumps of what came.
"""

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from time import process_time
from typing import Any

import botocore.session

from bench.canned import answering
from bench.figures import cell, number, ratio, spread
from bench.tables import Table
from tests.support import specimens
from tests.support.fresh import said
from tests.support.gateway import Context, event
from tests.support.projection import projected
from turnkeeper import settings
from turnkeeper.domain.task import Task
from turnkeeper.edge import answers
from turnkeeper.edge.lines import PRODUCT
from turnkeeper.service.poll import poll_after
from turnkeeper.store.items import task_to_item
from turnkeeper.store.standing import GLANCE, glance, task_key
from turnkeeper.store.table import WHOLE
from turnkeeper.store.wire import item_from_wire, item_to_wire

TITLE = "The warm poll"
ABOUT = """\
CPU time of one poll in the handler, request in and answer out, beside a bare botocore `GetItem` and `json.dumps` of the
same item. The answer of DynamoDB lies ready below the SDK for both, so no network and no engine is in it. The bare one
has botocore's own client and asks for the whole item; beside it stands one with our client's settings that asks for the
part of the item that a poll shows, as the handler does."""
COMMAND = "make bench PART=warm"
ROUNDS = 40
CALLS = 200
"""In each run: a run is what is timed."""
MICRO = 1_000_000

type Once = Callable[[], object]


def measure(rounds: int) -> dict[str, Any]:
    """CPU microseconds per poll of *rounds* runs of each kind of task, and how many times a bare one's they are.

    In a process of its own: what else this one has loaded or told the product is no part of it.
    """
    program = f"import json; from bench import warm; print(json.dumps(warm.measured_here({rounds})))"
    measured: dict[str, Any] = json.loads(said(program))
    return measured


def measured_here(rounds: int) -> dict[str, Any]:
    """The same in this process, which must have the environment of a function."""
    return {
        "measures": "CPU microseconds of one poll, without a network",
        "rounds": rounds,
        "calls_per_run": CALLS,
        "states": {name: _measured(task, rounds) for name, task in _tasks().items()},
    }


def _tasks() -> dict[str, Task]:
    """What is polled: an idle task, one at work, and one that asks its user for both things it can."""
    idle = specimens.idle()
    later = settings.utc_now() + timedelta(days=7)
    return {
        "idle": replace(idle, idle_expires_at=later, due_at=later),
        "running": specimens.running(),
        "suspended": specimens.suspended(specimens.SIGN_IN, specimens.MINE),
    }


def _measured(task: Task, rounds: int) -> dict[str, Any]:
    item = item_to_wire(task_to_item(task))
    polls = {
        "handler": _handler(task, item),
        "bare": _bare(task, item),
        "bare_same_client": _lean(task, item),
    }
    everything = polls | _parts(task, item)
    cpu: dict[str, list[float]] = {name: [] for name in everything}
    for turn in range(rounds + 1):
        order = list(everything) if turn % 2 == 0 else list(reversed(everything))
        for name in order:
            cpu[name].append(_each(everything[name]))
    # The first run found nothing in any cache.
    kept = {name: values[1:] for name, values in cpu.items()}
    return {
        "cpu_us": {name: spread(kept[name]) for name in polls},
        "ratio": ratio(kept["handler"], kept["bare"]),
        "ratio_same_client": ratio(kept["handler"], kept["bare_same_client"]),
        "parts_us": {name: spread(kept[name]) for name in everything if name not in polls},
    }


def _each(once: Once) -> float:
    """What one call of *once* takes, of many."""
    began = process_time()
    for _ in range(CALLS):
        once()
    return (process_time() - began) / CALLS * MICRO


def _handler(task: Task, item: Mapping[str, Any]) -> Once:
    from functions.status.handler import handle  # noqa: PLC0415 - it reads the environment

    _hush()
    request = event("GET", f"/v1/tasks/{task.id}", person=task.responsible_user)
    answering(settings.runtime(wakes=False).table.client, item)
    context: Any = Context()
    answer = handle(request, context)
    if answer["statusCode"] != HTTPStatus.OK:
        raise RuntimeError(f"The poll was refused, so nothing worth measuring was done: {answer['body']}")
    return lambda: handle(request, context)


def _hush() -> None:
    """Lines of the log are written as ever, and read by nobody."""
    nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as this process lasts
    for handler in logging.getLogger(PRODUCT).handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setStream(nowhere)


def _bare(task: Task, item: Mapping[str, Any]) -> Once:
    """A poll that knows nothing, by a client as botocore makes it by itself."""
    return _asking(answering(botocore.session.get_session().create_client("dynamodb"), item), task)


def _lean(task: Task, item: Mapping[str, Any]) -> Once:
    """The same by a client with our settings, for our part of the item: what is left between the two is all ours."""
    client: Any = settings.session().create_client("dynamodb", config=settings.POLL_CALLS)
    return _asking(answering(client, item), task, GLANCE)


def _asking(client: Any, task: Task, part: Mapping[str, Any] = WHOLE) -> Once:
    key = item_to_wire(task_key(task.id))
    return lambda: json.dumps(
        client.get_item(TableName="table", Key=key, ConsistentRead=True, **part)["Item"]
    )


def _parts(task: Task, item: Mapping[str, Any]) -> dict[str, Once]:
    """The steps of the handler, each by itself."""
    table, now = settings.runtime(wakes=False).table, settings.utc_now()
    part = projected(item, GLANCE)
    plain = item_from_wire(part)
    seen = glance(plain)
    facts = {"route": "GET /v1/tasks/{task_id}", "status": 200, "correlation_id": Context().aws_request_id}
    log = logging.getLogger(PRODUCT)
    return {
        "get_item": lambda: table.get_wire(task_key(task.id), only=GLANCE),
        "wire": lambda: item_from_wire(part),
        "task": lambda: glance(plain),
        "answer": lambda: answers.polled(seen, look_after=poll_after(seen, now), is_known=False),
        "log": lambda: log.info("request", extra=facts),
    }


def tables(found: Mapping[str, Any]) -> Sequence[Table]:
    """A row for each kind of task; and what of the handler's time each of its steps takes."""
    states = found["states"]
    columns = ("task", "CPU us", "bare us", "x bare", "x same client")
    rows = [
        (
            name,
            cell(of["cpu_us"]["handler"]),
            number(of["cpu_us"]["bare"]["median"]),
            cell(of["ratio"]),
            cell(of["ratio_same_client"]),
        )
        for name, of in states.items()
    ]
    steps = list(next(iter(states.values()))["parts_us"])
    parts = [
        (name, *(number(of["parts_us"][step]["median"]) for step in steps)) for name, of in states.items()
    ]
    return (
        Table("A poll beside a bare one, median (least to greatest)", columns, rows, COMMAND),
        Table("Its steps, each by itself, CPU us", ("task", *steps), parts, COMMAND),
    )
