"""A whole product in one process: the real store, queue and use cases on an engine, and a clock that tests set."""

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.callbook import THE_TEST, as_function, at_work
from tests.support.engines import Engine, make_bucket, make_queue, make_table
from turnkeeper.agents import builtin
from turnkeeper.agents.protocol import Agent
from turnkeeper.domain.standing import Standing
from turnkeeper.domain.task import Pace, Task
from turnkeeper.mounts import Mounts
from turnkeeper.queue import WakeUps, task_of
from turnkeeper.service import messages
from turnkeeper.service.accepted import Accepted
from turnkeeper.service.create import create
from turnkeeper.service.inputs import accept
from turnkeeper.service.poll import poll
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.sweep import Swept, sweep
from turnkeeper.service.turns import ComeBackLater, attend
from turnkeeper.store import tasks
from turnkeeper.store.patience import Patience
from turnkeeper.store.standing import task_key
from turnkeeper.store.table import Table
from turnkeeper.store.wire import item_from_wire, item_to_wire

START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
PACE = Pace(
    lease=timedelta(seconds=60),
    wake_grace=timedelta(seconds=60),
    wake_grace_max=timedelta(minutes=15),
    retention=timedelta(days=90),
)
LARGEST_FILE = 104_857_600
ALICE, BOB = "alice-sub", "bob-sub"


def said(text: str) -> str:
    """An input or output object with one text part, as it is stored."""
    part = {"mimeType": "text/plain", "text": text}
    return json.dumps({"message": [part]}, ensure_ascii=False, separators=(",", ":"))


def naming(*files: str, **more: object) -> str:
    """An input or output object whose parts name *files*, as it is stored but for what is filled in."""
    parts = [{"mimeType": "text/csv", "file": file, **more} for file in files]
    return json.dumps({"message": parts}, ensure_ascii=False, separators=(",", ":"))


@dataclass(slots=True)
class Clock:
    """A clock that moves when it is told to."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **by: float) -> datetime:
        self.now += timedelta(**by)
        return self.now


@dataclass(slots=True)
class Laboratory:
    """The product on *engine*, for one test."""

    engine: Engine
    clock: Clock = field(default_factory=Clock)
    dynamodb: Any = None
    sqs: Any = None
    table: str = ""
    queue_url: str = ""
    host_urls: dict[str, str] = field(default_factory=dict)
    """The queue of each external host, by its principal."""
    runtime: Runtime = field(init=False)
    agents: dict[str, Callable[[], Agent]] = field(default_factory=lambda: dict(builtin.AGENTS))
    bucket: str = field(default_factory=lambda: f"files-{uuid.uuid4().hex[:12]}")
    """It is made with its first file."""
    _s3: Any = None

    def __post_init__(self) -> None:
        self.dynamodb = self.dynamodb or self.engine.client("dynamodb")
        self.sqs = self.sqs or self.engine.client("sqs")
        self.table = self.table or make_table(self.dynamodb)
        self.queue_url = self.queue_url or make_queue(self.sqs)
        self.runtime = Runtime(
            table=Table(self.dynamodb, self.table, patience=lambda: Patience(seconds=10)),
            queue=WakeUps(self.sqs, self.queue_url, self.host_urls),
            mounts=Mounts(
                connect=lambda: self.s3,
                bucket=self.bucket,
                largest=LARGEST_FILE,
                lasts=timedelta(minutes=15),
            ),
            pace=PACE,
            heartbeat=timedelta(seconds=20),
            idempotency=timedelta(hours=24),
            clock=self.clock,
        )

    @property
    def s3(self) -> Any:
        """A client of S3, and by its first use the bucket."""
        if self._s3 is None:
            self._s3 = self.engine.client("s3")
            with at_work("nobody"):
                make_bucket(self._s3, self.bucket)
        return self._s3

    def lay(self, key: str, content: bytes, kind: str = "text/csv") -> str:
        """The version of a file that was just put into the bucket."""
        version: str = self.s3.put_object(Bucket=self.bucket, Key=key, Body=content, ContentType=kind)[
            "VersionId"
        ]
        return version

    def another_process(self, **changes: Any) -> Runtime:
        """A runtime of its own on the same table and queue: own clients, and whatever is changed."""
        mine = replace(
            self.runtime,
            table=replace(self.runtime.table, client=self.engine.client("dynamodb")),
            queue=WakeUps(self.engine.client("sqs"), self.queue_url, self.host_urls),
        )
        return replace(mine, **changes)

    @as_function("tasks")
    def create(
        self, text: str | None = None, *, agent: str = "echo", key: str | None = None, caller: str = ALICE
    ) -> Accepted:
        content = None if text is None else said(text)
        return create(self.runtime, caller=caller, agent=agent, content=content, key=key)

    @as_function("tasks")
    def send(self, task_id: str, text: str, *, key: str | None = None, caller: str = ALICE) -> Accepted:
        return accept(self.runtime, caller=caller, task_id=task_id, content=said(text), key=key)

    def send_file(
        self, task_id: str, path: str, content: bytes = b"day,parcels", *, caller: str = ALICE
    ) -> Accepted:
        """An input that names a file of the task's own, which was just put there."""
        self.lay(f"task/{task_id}/{path}", content)
        said = naming(f"task://{path}")
        return accept(self.runtime, caller=caller, task_id=task_id, content=said, key=None)

    @as_function("status")
    def poll(self, task_id: str, *, caller: str = ALICE) -> Standing:
        return poll(self.runtime, caller=caller, task_id=task_id)

    def stored(self, task_id: str) -> Task:
        """The task as it lies in the table, nothing expired on the way."""
        task = tasks.read(self.runtime.table, task_id)
        assert task is not None
        return task

    def raw(self, task_id: str) -> dict[str, Any]:
        """The task's item, byte for byte."""
        key = item_to_wire(task_key(task_id))
        answer = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True)
        item: dict[str, Any] = answer["Item"]
        return item

    @as_function(THE_TEST)
    def everything(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Every item in the table, as plain values by key: to show that nothing else was stored."""
        found: dict[tuple[str, str], dict[str, Any]] = {}
        request: dict[str, Any] = {"TableName": self.table, "ConsistentRead": True}
        while True:
            answer = self.dynamodb.scan(**request)
            for wire in answer["Items"]:
                item = item_from_wire(wire)
                found[item["pk"], item["sk"]] = item
            if not (position := answer.get("LastEvaluatedKey")):
                return found
            request["ExclusiveStartKey"] = position

    def journal(self, task_id: str) -> list[dict[str, Any]]:
        """The task's journal, oldest first."""
        pk = f"TASK#{task_id}"
        return [
            item
            for key, item in sorted(self.everything().items())
            if key[0] == pk and key[1].startswith("LOG#")
        ]

    @as_function("tasks")
    def page(
        self, task_id: str, *, after: str | None = None, limit: int = 100, caller: str = ALICE
    ) -> messages.Page:
        return messages.page(self.runtime, caller=caller, task_id=task_id, after=after, limit=limit)

    def conversation(self, task_id: str) -> list[dict[str, Any]]:
        """The whole list of messages, page after page."""
        entries: list[dict[str, Any]] = []
        after: str | None = None
        while True:
            page = self.page(task_id, after=after, limit=1000)
            entries += [json.loads(entry) for entry in page.entries]
            if not page.more:
                return entries
            after = page.next

    @as_function("the event source")
    def work(self, *, most: int = 100) -> int:
        """Attend to wake-ups as the event source would, until the queue has nothing visible; how many came."""
        for count in range(most):
            received = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=1)
            if not received.get("Messages"):
                return count
            self.attend(received["Messages"][0])
        raise AssertionError(f"the queue did not run dry after {most} wake-ups")

    @as_function("the event source")
    def attend(self, message: dict[str, Any], runtime: Runtime | None = None) -> bool:
        """Attend to one received message; True when it was done with and deleted."""
        live = runtime or self.runtime
        assert live.queue is not None
        receipt, queue = message["ReceiptHandle"], live.queue
        try:
            with at_work("turns"):
                attend(
                    live,
                    task_of(message["Body"]),
                    hide=lambda lasts: queue.hide(receipt, lasts),
                    agent_of=lambda task: self.agents[task.agent](),
                )
        except ComeBackLater:
            return False
        self.sqs.delete_message(QueueUrl=self.queue_url, ReceiptHandle=receipt)
        return True

    @as_function("sweep")
    def sweep(self) -> Swept:
        return sweep(self.runtime)


def texts(entries: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """(type, text) of each entry."""
    for entry in entries:
        yield entry["type"], "".join(part.get("text", "") for part in entry["message"])


def outputs(lab: Laboratory, task_id: str) -> list[str]:
    """What the agent has said in the whole conversation."""
    return [text for kind, text in texts(lab.conversation(task_id)) if kind == "output"]
