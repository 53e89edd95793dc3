"""Wake-ups: one line per task, a second one that a dead worker cannot block, and none taken for an older one."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.integration.test_sweep import drain
from tests.support.counting import Counting
from tests.support.laboratory import Laboratory
from turnkeeper.domain.task import Phase
from turnkeeper.domain.transitions import Wake
from turnkeeper.queue import WakeUps, task_of


def receive(lab: Laboratory, most: int = 10) -> list[dict[str, Any]]:
    answer = lab.sqs.receive_message(QueueUrl=lab.queue_url, MaxNumberOfMessages=most, AttributeNames=["All"])
    messages: list[dict[str, Any]] = answer.get("Messages", [])
    return messages


def tasks_of(messages: list[dict[str, Any]]) -> list[str]:
    return [task_of(message["Body"]) for message in messages]


def counting_lab(lab: Laboratory) -> tuple[Laboratory, Counting]:
    sqs = Counting(lab.sqs)
    return replace(lab, sqs=sqs), sqs


def test_a_wake_up_says_which_task_of_which_agent_and_nothing_else(lab: Laboratory) -> None:
    task = lab.create("a secret").task

    (message,) = receive(lab)

    assert json.loads(message["Body"]) == {"task": task.id, "agent": "echo"}
    assert message["Attributes"]["MessageGroupId"] == task.id
    assert "secret" not in str(message)


def test_what_comes_during_a_turn_waits_behind_its_wake_up_and_blocks_no_other_task(lab: Laboratory) -> None:
    one = lab.create("hi").task.id
    (first,) = receive(lab)
    lab.send(one, "more")
    other = lab.create("hi").task.id

    assert tasks_of(receive(lab)) == [other]
    lab.sqs.delete_message(QueueUrl=lab.queue_url, ReceiptHandle=first["ReceiptHandle"])
    assert tasks_of(receive(lab)) == [one]


def test_a_recovery_wake_up_is_blocked_by_no_dead_workers_message(lab: Laboratory) -> None:
    task = lab.create("hi").task
    receive(lab)
    queue = lab.runtime.queue
    assert queue

    queue.send(task, Wake.TASK)
    assert receive(lab) == []
    queue.send(task, Wake.RECOVERY)
    assert tasks_of(receive(lab)) == [task.id]
    later = lab.send(task.id, "more").task
    queue.send(later, Wake.RECOVERY)

    assert tasks_of(receive(lab)) == [task.id]


def test_every_write_has_a_wake_up_of_its_own_and_the_same_write_has_one(lab: Laboratory) -> None:
    counted, sqs = counting_lab(lab)
    task = counted.create("one").task
    counted.send(task.id, "two")
    latest = counted.send(task.id, "two").task
    queue = counted.runtime.queue
    assert queue

    queue.send(latest, Wake.TASK)
    queue.send(latest, Wake.RECOVERY)

    ids = [call.request["MessageDeduplicationId"] for call in sqs.calls]
    assert len(ids) == 5
    assert ids[2] == ids[3]
    assert len(set(ids)) == 4
    assert len(drain(lab)) == 4


def test_a_wake_up_that_cannot_be_sent_fails_no_request_and_the_sweep_makes_up_for_it(
    lab: Laboratory,
) -> None:
    for error in (refusal(), EndpointConnectionError(endpoint_url="http://queue")):
        broken = replace(lab, sqs=Broken(lab.sqs, error))
        task = broken.create("hi").task
        assert task.phase is Phase.PROCESSING
        assert broken.send(task.id, "more").task.received == 2
        assert receive(lab) == []

        lab.clock.forward(seconds=60)
        assert lab.sweep().changed == 1
        assert lab.work() == 1
        assert lab.stored(task.id).phase is Phase.IDLE


def refusal() -> ClientError:
    return ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "SendMessage")


@dataclass
class Broken:
    """A queue that takes nothing."""

    client: Any
    error: Exception

    def send_message(self, **_: Any) -> dict[str, Any]:
        raise self.error

    def change_message_visibility(self, **_: Any) -> dict[str, Any]:
        raise self.error


@pytest.mark.parametrize(
    ("lasts", "seconds"),
    [(65, 65), (2, 2), (0, 0), (-3, 0), (0.4, 1), (1.2, 2), (1_000_000, 42_000)],
)
def test_a_message_is_hidden_for_no_less_than_was_asked(lab: Laboratory, lasts: float, seconds: int) -> None:
    lab.create("hi")
    (message,) = receive(lab)
    sqs = Counting(lab.sqs)

    WakeUps(sqs, lab.queue_url).hide(message["ReceiptHandle"], timedelta(seconds=lasts))

    (call,) = sqs.calls
    assert call.request["VisibilityTimeout"] == seconds
    assert call.answer is not None


def test_a_message_that_cannot_be_hidden_stops_nobody(lab: Laboratory) -> None:
    lab.create("hi")
    (message,) = receive(lab)

    WakeUps(Broken(lab.sqs, refusal()), lab.queue_url).hide(message["ReceiptHandle"], timedelta(seconds=1))

    assert receive(lab) == []


def test_a_hidden_message_comes_back_when_it_is_shown_again(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    (message,) = receive(lab)
    queue = lab.runtime.queue
    assert queue

    queue.hide(message["ReceiptHandle"], timedelta(0))

    assert tasks_of(receive(lab)) == [task_id]


@pytest.mark.parametrize(
    "body", ["", "x", "[]", "7", "null", '{"task":7}', '{"task":null}', "{}", '{"t":"a"}']
)
def test_a_body_that_names_no_task_is_no_wake_up(body: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - json's own is one of them
        task_of(body)
