"""A task's life on an engine: created, polled, answered, expired."""

from tests.support.laboratory import Laboratory, texts
from turnkeeper.domain.task import Phase, Reason


def test_a_task_lives_from_its_first_input_to_idle(lab: Laboratory) -> None:
    made = lab.create("hello")

    assert made.task.phase is Phase.PROCESSING
    assert made.received_at == lab.clock.now
    assert lab.work() == 1
    assert lab.poll(made.task.id).phase is Phase.IDLE
    assert list(texts(lab.conversation(made.task.id))) == [("input", "hello"), ("output", "hello")]


def test_an_idle_task_is_completed_at_the_instant_it_announced(lab: Laboratory) -> None:
    task = lab.create(agent="mayfly").task
    announced = lab.stored(task.id)
    assert announced.idle_expires_at is not None

    lab.clock.forward(seconds=4.999999)
    assert lab.poll(task.id).phase is Phase.IDLE
    lab.clock.now = announced.idle_expires_at
    ended = lab.poll(task.id)

    assert (ended.phase, ended.terminal_reason) == (Phase.TERMINAL, Reason.COMPLETED)
    assert ended.revision == announced.expiry_revision
    assert lab.stored(task.id) == ended
