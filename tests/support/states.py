"""Tasks in the table, in the states that people meet."""

from collections.abc import Callable

from tests.support.laboratory import Laboratory

type Make = Callable[[Laboratory], str]


def idle(lab: Laboratory) -> str:
    return lab.create().task.id


def busy(lab: Laboratory) -> str:
    return lab.create("hi").task.id


def ended(lab: Laboratory) -> str:
    task_id = lab.create(agent="mayfly").task.id
    lab.clock.forward(seconds=5)
    lab.poll(task_id)
    return task_id
