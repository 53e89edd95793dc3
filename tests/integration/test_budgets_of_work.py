"""What a turn and a sweep cost in calls, items and bytes."""

import json

import pytest

from tests.support.capacity import WRITE_UNIT, item_size
from tests.support.counting import Count
from tests.support.laboratory import ALICE, Laboratory, said
from tests.support.states import Make, busy, ended, idle
from turnkeeper.domain import transitions
from turnkeeper.domain.task import Phase
from turnkeeper.service.change import apply
from turnkeeper.service.inputs import accept


@pytest.fixture
def lab(counting: Laboratory) -> Laboratory:
    return counting


class TestTurn:
    """Two transactions beyond the accept, whatever the number of inputs."""

    @pytest.mark.parametrize(
        ("engine", "inputs", "size"),
        [
            ("moto", 20, 250_000),
            ("ministack", 20, 250_000),
            ("ministack", 200, 10),  # moto copies its table for each transaction
        ],
        indirect=["engine"],
    )
    def test_a_turn_with_one_output_is_two_transactions_and_commits_every_input(
        self, lab: Laboratory, count: Count, inputs: int, size: int
    ) -> None:
        task_id = lab.create().task.id
        for number in range(inputs):
            content = said(f"{number:03}" + "x" * size)
            accept(lab.runtime, caller=ALICE, task_id=task_id, content=content, key=None)
        message = lab.sqs.receive_message(QueueUrl=lab.queue_url)["Messages"][0]

        with count() as tally:
            lab.attend(message)

        assert tally.transactions == [3, 3]
        assert lab.stored(task_id).committed == inputs
        assert lab.stored(task_id).phase is Phase.IDLE
        assert set(tally.operations) == {
            "get_item",
            "query",
            "transact_write_items",
            "change_message_visibility",
            "delete_message",
        }
        assert len(tally.of("get_item")) == 1
        assert len(tally.of("query")) <= 2 + inputs * size // 1_000_000
        start = tally.of("transact_write_items")[0].request["TransactItems"]
        assert sum(item_size(item["Put"]["Item"]) for item in start if "Put" in item) < WRITE_UNIT

    def test_a_heartbeat_is_one_small_write(self, lab: Laboratory, count: Count) -> None:
        task_id = busy(lab)
        pace = lab.runtime.pace
        task = apply(
            lab.runtime,
            lab.stored(task_id),
            lambda task, now: transitions.start_turn(task, now=now, pace=pace),
            actor="worker",
        ).after
        lab.clock.forward(seconds=20)

        with count() as tally:
            apply(
                lab.runtime,
                task,
                lambda task, now: transitions.heartbeat(task, fence=1, now=now, pace=pace),
                actor="worker",
            )

        assert tally.operations == ["update_item"]

    @pytest.mark.parametrize("make", [ended, idle], ids=["ended", "idle"])
    def test_a_wake_up_with_nothing_to_do_is_one_read(
        self, lab: Laboratory, count: Count, make: Make
    ) -> None:
        task_id = make(lab)
        lab.sqs.send_message(
            QueueUrl=lab.queue_url,
            MessageBody=json.dumps({"task": task_id}),
            MessageGroupId="stray",
            MessageDeduplicationId=task_id,
        )

        with count() as tally:
            assert lab.work() == 1

        assert tally.operations == ["get_item", "receive_message", "delete_message", "receive_message"]


QUERIES = ["query"] * 32
"""One for each shard: 16 of tasks that go on, 16 of ended ones."""


class TestSweep:
    """One Query per shard, and per due task one read and one write."""

    def test_an_expiry_is_one_read_and_one_transaction_of_two_items(
        self, lab: Laboratory, count: Count
    ) -> None:
        for _ in range(7):
            lab.create(agent="mayfly")
        lab.clock.forward(seconds=5)

        with count() as tally:
            due = lab.sweep().changed

        assert due == 8
        assert sorted(tally.operations) == sorted([*QUERIES, *["get_item", "transact_write_items"] * due])
        assert tally.transactions == [2] * due
