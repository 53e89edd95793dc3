"""Push: each new status of a task goes onto the bus once, as the poll shows it, and nothing holds anything up."""

import json
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from hypothesis import given

from tests.support.capacity import item_size
from tests.support.gateway import Context, Gateway, load
from tests.support.laboratory import ALICE, Laboratory
from tests.support.records import Record, record
from tests.support.states import busy, ended, idle
from tests.support.strategies import tasks as any_task
from turnkeeper.bus import DETAIL_TYPE, MOST_ENTRIES, SOURCE, Bus
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Task
from turnkeeper.edge.answers import polled, status_text
from turnkeeper.service.publishing import publish
from turnkeeper.store.items import task_to_item
from turnkeeper.store.wire import item_to_wire

SAMPLES = Path(__file__).parents[2] / "events" / "publish"
PRIVATE = "what only the people of the task may know"


@dataclass
class Heard:
    """A bus and a queue beside it that remember what came, and take what they are told to take."""

    calls: list[list[dict[str, str]]] = field(default_factory=list)
    aside: list[dict[str, str]] = field(default_factory=list)
    refuses: set[int] = field(default_factory=set)
    """Which entries are refused, counted from 0 over all calls."""
    breaks: Exception | None = None
    count: int = 0

    def put_events(self, **request: Any) -> dict[str, Any]:
        if self.breaks:
            raise self.breaks
        entries = request["Entries"]
        self.calls.append(entries)
        answers = []
        for _ in entries:
            refused = self.count in self.refuses
            answers.append(
                {"ErrorCode": "ThrottlingException", "ErrorMessage": PRIVATE} if refused else {"EventId": "1"}
            )
            self.count += 1
        failed = sum("ErrorCode" in answer for answer in answers)
        return {"FailedEntryCount": failed, "Entries": answers}

    def send_message(self, **request: Any) -> dict[str, Any]:
        if self.breaks:
            raise self.breaks
        self.aside.append(json.loads(request["MessageBody"]))
        return {}

    @property
    def details(self) -> list[Any]:
        return [json.loads(entry["Detail"]) for entries in self.calls for entry in entries]

    def told(self, *records: Record) -> list[str]:
        bus = Bus(events=self, sqs=self, name="bus", untold_url="url")
        return publish(bus, records, as_text=status_text)


@pytest.fixture
def heard() -> Heard:
    return Heard()


def wire(task: Task) -> dict[str, Any]:
    return item_to_wire(task_to_item(task))


def number(one: Record) -> str:
    found: str = one["dynamodb"]["SequenceNumber"]
    return found


def written(lab: Laboratory, count: int) -> list[Record]:
    """The records of so many new tasks."""
    return [record(None, lab.raw(lab.create().task.id)) for _ in range(count)]


class TestWhatIsTold:
    """A status object, exactly, whenever there is a new one."""

    def test_an_event_is_the_polls_answer_and_nothing_else(self, lab: Laboratory, heard: Heard) -> None:
        for make in (idle, busy, ended):
            task_id = make(lab)

            assert heard.told(record(None, lab.raw(task_id))) == []

            answer = polled(lab.poll(task_id), look_after=None, is_known=False)
            (entry,) = heard.calls[-1]
            assert entry == {
                "EventBusName": "bus",
                "Source": SOURCE,
                "DetailType": DETAIL_TYPE,
                "Detail": answer["body"],
            }

    @given(any_task)
    def test_whatever_a_task_is_the_event_is_its_status_object(self, task: Task) -> None:
        heard = Heard()

        assert heard.told(record(None, wire(task))) == []
        assert heard.details == [json.loads(json.dumps(status_object(task)))]

    @given(any_task, any_task)
    def test_it_is_told_exactly_when_the_revision_is_another(self, before: Task, after: Task) -> None:
        heard = Heard()
        after = replace(after, id=before.id)

        heard.told(record(wire(before), wire(after)), record(wire(after), wire(after)))

        assert len(heard.details) == (before.revision != after.revision)

    def test_a_life_is_told_step_by_step_and_what_shows_nothing_is_not(
        self, lab: Laboratory, heard: Heard
    ) -> None:
        task_id = lab.create("hi", agent="mayfly").task.id
        seen: list[str] = []
        images: list[Any] = [None, lab.raw(task_id)]
        for act in (
            lab.work,
            lambda: lab.send(task_id, PRIVATE),
            lab.work,
            lambda: (lab.clock.forward(seconds=5), lab.poll(task_id)),
        ):
            act()
            images.append(lab.raw(task_id))
        for old, new in pairwise(images):
            heard.told(record(old, new))
            seen.append(new["revision"]["S"])

        assert [detail["status"]["revision"] for detail in heard.details] == seen
        assert heard.details[-1] == json.loads(
            polled(lab.poll(task_id), look_after=None, is_known=False)["body"]
        )
        assert PRIVATE not in json.dumps(heard.details)

    def test_a_heartbeat_a_deletion_and_what_lies_beside_a_task_tell_nothing(
        self, lab: Laboratory, heard: Heard
    ) -> None:
        task_id = busy(lab)
        item = lab.raw(task_id)
        moved = {**item, "write_revision": {"S": "another"}, "due_at": {"S": "2030-01-01T00:00:00.000000Z"}}
        beside = [
            item_to_wire(found)
            for (pk, sk), found in lab.everything().items()
            if sk != "TASK" and task_id in pk
        ]

        again = heard.told(record(item, moved), record(item, None), *(record(None, each) for each in beside))

        assert len(beside) >= 2
        assert (again, heard.calls, heard.aside) == ([], [], [])


class TestFailures:
    """What is not taken comes again; nothing else does, and nothing waits for it."""

    def test_a_call_has_ten_events_at_most(self, lab: Laboratory, heard: Heard) -> None:
        assert heard.told(*written(lab, 23)) == []

        assert [len(entries) for entries in heard.calls] == [10, 10, 3]

    def test_ten_of_the_largest_fit_into_one_call(self) -> None:
        """A status object says no more than its item, which is 4 KB at most; JSON makes six of a byte."""
        assert MOST_ENTRIES * 6 * 4_096 < 256 * 1024

    def test_only_what_was_not_taken_comes_again(
        self, lab: Laboratory, heard: Heard, caplog: pytest.LogCaptureFixture
    ) -> None:
        records = written(lab, 12)
        heard.refuses = {1, 11}

        assert heard.told(*records) == [number(records[1]), number(records[11])]
        assert "ThrottlingException" in caplog.text
        assert PRIVATE not in caplog.text

    @pytest.mark.parametrize(
        "error",
        [
            ClientError({"Error": {"Code": "InternalException", "Message": PRIVATE}}, "PutEvents"),
            ClientError({"Error": {"Code": "AccessDeniedException", "Message": PRIVATE}}, "PutEvents"),
            ReadTimeoutError(endpoint_url="https://events"),
        ],
        ids=["500", "denied", "time-out"],
    )
    def test_a_bus_that_does_not_answer_has_everything_come_again(
        self, lab: Laboratory, heard: Heard, error: Exception, caplog: pytest.LogCaptureFixture
    ) -> None:
        records = written(lab, 2)
        heard.breaks = error

        assert heard.told(*records) == [number(each) for each in records]
        assert PRIVATE not in caplog.text

    @pytest.mark.parametrize("broken", ["no due time", "no revision", "a phase to come", "no keys"])
    def test_a_record_that_cannot_be_read_is_set_aside_without_its_words_and_holds_up_no_other(
        self, lab: Laboratory, heard: Heard, broken: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        before, bad, after = written(lab, 3)
        image = bad["dynamodb"]["NewImage"]
        image["agent"] = {"S": PRIVATE}
        match broken:
            case "no due time":
                del image["due_at"]
            case "no revision":
                bad["dynamodb"]["OldImage"] = {"pk": image["pk"], "sk": image["sk"]}
            case "a phase to come":
                image["phase"] = {"S": PRIVATE}
            case "no keys":
                del bad["dynamodb"]["Keys"]

        assert heard.told(before, bad, after) == []

        assert [detail["id"] for detail in heard.details] == [
            each["dynamodb"]["NewImage"]["pk"]["S"].removeprefix("TASK#") for each in (before, after)
        ]
        (aside,) = heard.aside
        assert aside["sequence_number"] == number(bad)
        assert "cannot be read" in caplog.text
        assert PRIVATE not in caplog.text + json.dumps(aside)

    def test_a_record_of_a_newer_version_comes_again_until_that_versions_function_is_there(
        self, lab: Laboratory, heard: Heard
    ) -> None:
        newer, other = written(lab, 2)
        newer["dynamodb"]["NewImage"]["schema"] = {"N": "99"}

        assert heard.told(newer, other) == [number(newer)]
        assert (len(heard.details), heard.aside) == (1, [])

    def test_a_record_that_can_neither_be_read_nor_set_aside_comes_again(
        self, lab: Laboratory, heard: Heard
    ) -> None:
        (bad,) = written(lab, 1)
        del bad["dynamodb"]["NewImage"]["terms"]
        heard.breaks = ReadTimeoutError(endpoint_url="https://sqs")

        assert heard.told(bad) == [number(bad)]


@pytest.fixture
def bus(api: Gateway, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> str:  # noqa: ARG001 - its settings
    """The queue of what cannot be told, of a deployment in this process."""
    events = live_lab.engine.client("events")
    events.create_event_bus(Name="ours")
    untold: str = live_lab.sqs.create_queue(QueueName="untold")["QueueUrl"]
    monkeypatch.setenv("TURNKEEPER_BUS", "ours")
    monkeypatch.setenv("TURNKEEPER_UNTOLD_URL", untold)
    return untold


@pytest.mark.parametrize("name", sorted(path.stem for path in SAMPLES.glob("*.json")))
def test_a_sample_event_is_handled(bus: str, live_lab: Laboratory, name: str) -> None:
    sample = json.loads((SAMPLES / f"{name}.json").read_text())

    answer = load("publish")(sample, Context())

    assert answer == {"batchItemFailures": []}
    aside = live_lab.sqs.receive_message(QueueUrl=bus).get("Messages", [])
    assert len(aside) == (name == "unreadable")


def test_an_event_is_of_a_status_and_costs_one_chunk(lab: Laboratory, heard: Heard) -> None:
    """EventBridge bills 64 KB as one event."""
    task_id = busy(lab)
    heard.told(record(None, lab.raw(task_id)))
    (entry,) = heard.calls[0]

    assert json.loads(entry["Detail"])["responsible_user"] == ALICE
    assert len(entry["Detail"]) < item_size(lab.raw(task_id)) < 64 * 1024
