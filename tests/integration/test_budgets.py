"""What the people's API costs where it refuses, repeats, or has much; the rest is in `tests/support/use_cases`."""

import json
from collections.abc import Callable, Iterator

import pytest

from tests.support.capacity import WRITE_UNIT, item_size
from tests.support.counting import Count, Tally
from tests.support.laboratory import ALICE, BOB, Laboratory
from tests.support.states import busy, ended
from tests.support.use_cases import KB
from turnkeeper.domain.errors import (
    InvalidInput,
    KeyReused,
    MalformedRequest,
    TaskError,
    TaskIsTerminal,
    TaskNotFound,
)
from turnkeeper.domain.task import Phase
from turnkeeper.service.tasks import list_tasks


@pytest.fixture
def lab(counting: Laboratory) -> Laboratory:
    return counting


def refused(error: type[TaskError], act: Callable[[], object]) -> None:
    with pytest.raises(error):
        act()


class TestPoll:
    """One small read, and nothing else."""

    def test_a_poll_of_no_task_is_one_read_and_of_no_id_none(self, lab: Laboratory, count: Count) -> None:
        with count() as tally:
            refused(TaskNotFound, lambda: lab.poll("0" * 32))
        assert tally.operations == ["get_item"]
        with count() as tally:
            refused(TaskNotFound, lambda: lab.poll("no-id"))
        assert tally.operations == []

    def test_a_poll_writes_once_in_a_tasks_life_at_its_expiry(self, lab: Laboratory, count: Count) -> None:
        task_id = lab.create(agent="mayfly").task.id
        lab.clock.forward(seconds=5)

        with count() as tally:
            lab.poll(task_id)
            lab.poll(task_id)

        assert tally.operations == ["get_item", "get_item", "transact_write_items", "get_item"]
        assert tally.transactions == [2]


class TestAccept:
    """One read, one transaction of at most four items, one message."""

    def test_a_reused_key_is_one_read(self, lab: Laboratory, count: Count) -> None:
        task_id = busy(lab)
        lab.send(task_id, KB, key="k")

        with count() as tally:
            refused(KeyReused, lambda: lab.send(task_id, "other", key="k"))

        assert tally.operations == ["batch_get_item"]

    @pytest.mark.parametrize(("key", "read"), [(None, "get_item"), ("k", "batch_get_item")])
    def test_a_refusal_is_one_read(self, lab: Laboratory, count: Count, key: str | None, read: str) -> None:
        task_id = ended(lab)

        with count() as tally:
            refused(TaskIsTerminal, lambda: lab.send(task_id, KB, key=key))
            refused(TaskNotFound, lambda: lab.send(task_id, KB, key=key, caller=BOB))
            refused(TaskNotFound, lambda: lab.send("0" * 32, KB, key=key))
        assert tally.operations == [read] * 3
        with count() as tally:
            refused(TaskNotFound, lambda: lab.send("no-id", KB, key=key))
        assert tally.operations == []

    def test_an_input_past_the_end_is_one_read_and_the_one_expiry(
        self, lab: Laboratory, count: Count
    ) -> None:
        task_id = lab.create(agent="mayfly").task.id
        lab.clock.forward(seconds=5)

        with count() as tally:
            refused(TaskIsTerminal, lambda: lab.send(task_id, KB, key="k"))

        assert tally.operations == ["batch_get_item", "transact_write_items"]
        assert tally.transactions == [2]

    def test_content_is_written_once_and_with_little_around_it(self, lab: Laboratory, count: Count) -> None:
        task_id = busy(lab)

        with count() as tally:
            lab.send(task_id, KB)

        (call,) = tally.of("transact_write_items")
        puts = [item["Put"]["Item"] for item in call.request["TransactItems"] if "Put" in item]
        assert sum(json.dumps(item).count(KB) for item in puts) == 1
        assert sum(map(item_size, puts)) <= len(KB) + 2 * WRITE_UNIT


class TestCreate:
    """The same for a new task."""

    def test_a_replayed_key_is_two_reads_and_a_reused_one_is_one(self, lab: Laboratory, count: Count) -> None:
        lab.create(KB, key="k")

        with count() as tally:
            lab.create(KB, key="k")
        assert tally.operations == ["batch_get_item", "get_item"]
        with count() as tally:
            refused(KeyReused, lambda: lab.create("other", key="k"))
        assert tally.operations == ["batch_get_item"]

    def test_an_agent_that_is_not_there_is_one_read(self, lab: Laboratory, count: Count) -> None:
        with count() as tally:
            refused(InvalidInput, lambda: lab.create(KB, agent="nobody"))

        assert tally.operations == ["batch_get_item"]

    def test_a_built_in_agent_is_put_into_the_table_once(self, lab: Laboratory, count: Count) -> None:
        with count() as tally:
            lab.create(agent="slow_echo")
            lab.create(agent="slow_echo")

        assert tally.operations == ["batch_get_item", *["transact_write_items"] * 2, *tally.operations[3:]]
        assert tally.operations[3:] == ["batch_get_item", "transact_write_items"]


class TestRead:
    """Pages of lists and of conversations."""

    @pytest.mark.parametrize("tasks", [0, 1, 30])
    def test_a_page_of_my_tasks_is_one_query_and_one_read_of_them_all(
        self, lab: Laboratory, count: Count, tasks: int
    ) -> None:
        for _ in range(tasks):
            lab.create()

        with count() as tally:
            page = list_tasks(
                lab.runtime, caller=ALICE, phase=Phase.IDLE, agent="echo", limit=50, cursor=None
            )

        assert len(page.tasks) == tasks
        assert tally.operations == ["query", *["batch_get_item"] * bool(tasks)]

    def test_any_small_page_of_a_conversation_is_one_read_and_at_most_two_queries(
        self, lab: Laboratory, count: Count
    ) -> None:
        task_id = lab.create("one").task.id
        for text in ("two", "three", "four"):
            lab.send(task_id, text)
        lab.work()
        for text in ("five", "six", "seven"):
            lab.send(task_id, text)
            lab.work()
        lab.send(task_id, "eight")
        lab.send(task_id, "nine")

        for limit in (1, 2, 3, 4, 100):
            for tally in pages(lab, count, task_id, limit):
                assert tally.operations[0] == "get_item"
                assert tally.operations[1:] in (["query"], ["query"] * 2, [])

    def test_a_conversation_that_is_not_mine_or_not_there_is_one_read_and_a_bad_cursor_none(
        self, lab: Laboratory, count: Count
    ) -> None:
        task_id = busy(lab)

        with count() as tally:
            refused(TaskNotFound, lambda: lab.page(task_id, caller=BOB))
            refused(TaskNotFound, lambda: lab.page("0" * 32))
        assert tally.operations == ["get_item"] * 2
        with count() as tally:
            refused(MalformedRequest, lambda: lab.page(task_id, after="nonsense"))
            refused(TaskNotFound, lambda: lab.page("no-id"))
        assert tally.operations == []


def pages(lab: Laboratory, count: Count, task_id: str, limit: int) -> Iterator[Tally]:
    after, more = None, True
    while more:
        with count() as tally:
            page = lab.page(task_id, after=after, limit=limit)
        after, more = page.next, page.more
        yield tally
