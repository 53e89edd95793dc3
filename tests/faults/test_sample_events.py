"""The queue's and the clock's sample events, fed to their functions in the environment that the stack gives them."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.faults.agents import Talker, enlist
from tests.faults.soundness import assert_sound
from tests.support.gateway import ENVIRONMENT, Context, forget_settings, load
from tests.support.laboratory import Laboratory
from turnkeeper import settings
from turnkeeper.domain.rules import State, state_of
from turnkeeper.domain.task import Phase
from turnkeeper.store.patience import Patience
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

EVENTS = Path(__file__).parents[2] / "events"
SAMPLE_ID = "5f0c1e9a7b3d4826a1c0de5f9b7e3d24"

type Event = dict[str, Any]

# What becomes of a task with one input that waits, and which of the event's records stay in the queue.
TURNS: dict[str, tuple[Phase, list[int]]] = {
    "wake_up": (Phase.IDLE, []),
    "recovery": (Phase.IDLE, []),
    "redelivered": (Phase.IDLE, []),
    "unknown_task": (Phase.PROCESSING, []),
    "no_json": (Phase.PROCESSING, [0]),
    "no_task": (Phase.PROCESSING, [0]),
    "wrong_type": (Phase.PROCESSING, [0]),
    "one_good_one_bad": (Phase.IDLE, [0]),
}


@dataclass(frozen=True, slots=True)
class Timed(Context):
    """A context that knows how long the function may still run."""

    left_ms: int = 50_000

    def get_remaining_time_in_millis(self) -> int:
        return self.left_ms


@pytest.fixture
def live(moto_lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laboratory]:
    """A laboratory on the wall clock, since the functions have no other, and their environment."""
    moto_lab.clock.now = datetime.now(UTC)
    places = {"TURNKEEPER_TABLE": moto_lab.table, "TURNKEEPER_QUEUE_URL": moto_lab.queue_url}
    for name, value in {**ENVIRONMENT, **places}.items():
        monkeypatch.setenv(name, value)
    forget_settings()
    yield moto_lab
    forget_settings()


def sample(name: str, task_id: str, *, receipt: str = "") -> Event:
    """The sample event, about *task_id*, as the queue delivered it under *receipt*."""
    text = (EVENTS / f"{name}.json").read_text(encoding="utf-8").replace(SAMPLE_ID, task_id)
    event: Event = json.loads(text)
    for record in event.get("Records", ()):
        record["receiptHandle"] = receipt or record["receiptHandle"]
    return event


def receipt_of(lab: Laboratory) -> str:
    """The receipt of the next wake-up."""
    receipt: str = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]["ReceiptHandle"]
    return receipt


def failed(answer: Event) -> list[str]:
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


def test_every_sample_is_here() -> None:
    assert {path.stem for path in EVENTS.glob("turns/*.json")} == TURNS.keys()
    assert {path.stem for path in EVENTS.glob("sweep/*.json")} == {"scheduled"}


@pytest.mark.parametrize("name", TURNS)
def test_a_wake_up_is_attended_to_and_what_nobody_can_read_stays_in_the_queue(
    live: Laboratory, name: str
) -> None:
    phase, stay = TURNS[name]
    task_id = live.create("first").task.id
    event = sample(f"turns/{name}", task_id, receipt=receipt_of(live))

    answer = load("turns")(event, Timed())

    assert failed(answer) == [event["Records"][place]["messageId"] for place in stay]
    assert live.stored(task_id).phase is phase
    assert_sound(live, task_id, accepted=["first"])


def test_a_wake_up_that_comes_again_changes_nothing(live: Laboratory) -> None:
    task_id = live.create("first").task.id
    event = sample("turns/wake_up", task_id, receipt=receipt_of(live))
    load("turns")(event, Timed())
    before = live.everything()

    for name in ("wake_up", "recovery", "redelivered"):
        assert failed(load("turns")(sample(f"turns/{name}", task_id), Timed())) == []

    assert live.everything() == before


def test_a_failed_attempt_leaves_its_wake_up_in_the_queue_until_the_retry(live: Laboratory) -> None:
    # No class of the deployment takes this agent's turns, so each attempt fails.
    task_id = live.create("first", agent=enlist(live, "nobody", Talker)).task.id
    event = sample("turns/wake_up", task_id, receipt=receipt_of(live))

    answer = load("turns")(event, Timed())

    assert failed(answer) == [event["Records"][0]["messageId"]]
    assert state_of(live.stored(task_id)) is State.BETWEEN_ATTEMPTS
    assert_sound(live, task_id, accepted=["first"])


def test_of_a_batch_only_what_failed_comes_again(live: Laboratory) -> None:
    tasks = [live.create("first").task.id for _ in range(3)]
    broken = item_to_wire(task_key(tasks[1]))
    live.dynamodb.update_item(TableName=live.table, Key=broken, UpdateExpression="REMOVE terms")
    events = [sample("turns/wake_up", task_id, receipt=receipt_of(live)) for task_id in tasks]
    records = [
        {**event["Records"][0], "messageId": task_id} for event, task_id in zip(events, tasks, strict=True)
    ]

    answer = load("turns")({"Records": records}, Timed())

    assert failed(answer) == [tasks[1]]
    assert [live.stored(task_id).phase for task_id in (tasks[0], tasks[2])] == [Phase.IDLE] * 2


@pytest.mark.parametrize("left_ms", [50_000, 5_000])
def test_the_clock_makes_the_sweep_look_at_what_is_due_while_there_is_time(
    live: Laboratory, left_ms: int
) -> None:
    live.clock.now -= timedelta(minutes=5)
    expired, forgotten = live.create(agent="mayfly").task.id, live.create("first").task.id
    live.sqs.purge_queue(QueueUrl=live.queue_url)

    counts = load("sweep")(sample("sweep/scheduled", ""), Timed(left_ms=left_ms))

    if left_ms == 5_000:
        assert counts == {"looked": 0, "changed": 0, "deleted": 0, "failed": 0, "cut_short": True}
        return
    assert counts == {"looked": 2, "changed": 2, "deleted": 0, "failed": 0, "cut_short": False}
    assert live.stored(expired).phase is Phase.TERMINAL
    live.work()
    assert live.stored(forgotten).phase is Phase.IDLE


@pytest.mark.usefixtures("live")
def test_the_store_hears_of_every_attempt_and_none_takes_longer_than_its_patience() -> None:
    client: Any = settings.runtime().table.client

    config = client.meta.config
    assert config.retries["total_max_attempts"] == 1
    assert config.connect_timeout + config.read_timeout < Patience().seconds / 2


@pytest.mark.parametrize("name", ["LEASE_SECONDS", "TABLE", "QUEUE_URL"])
@pytest.mark.parametrize("function", ["turns", "sweep"])
def test_a_function_without_its_settings_says_which_one_is_missing(
    live: Laboratory, monkeypatch: pytest.MonkeyPatch, function: str, name: str
) -> None:
    task_id = live.create("first").task.id
    event = sample("sweep/scheduled" if function == "sweep" else "turns/wake_up", task_id)
    handle: Callable[[Event, Any], Event] = load(function)
    monkeypatch.delenv(f"TURNKEEPER_{name}")
    before = live.everything()

    if function == "sweep":
        with pytest.raises(Exception, match=f"TURNKEEPER_{name} is not set"):
            handle(event, Timed())
    else:
        assert failed(handle(event, Timed())) == [event["Records"][0]["messageId"]]
    assert live.everything() == before
