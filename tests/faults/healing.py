"""What a deployment does by itself after something broke: it sweeps, and the queue delivers."""

from datetime import timedelta

from tests.support.laboratory import Laboratory
from turnkeeper.domain.task import Phase, Task
from turnkeeper.service.turns import ComeBackLater, attend

QUIET = frozenset({Phase.IDLE, Phase.TERMINAL})


def deliver(lab: Laboratory, task_id: str) -> bool:
    """Attend to a wake-up for *task_id* that the queue delivers once more; True when it was done with."""
    try:
        attend(lab.runtime, task_id, hide=lambda _lasts: None, agent_of=lambda task: lab.agents[task.agent]())
    except ComeBackLater:
        return False
    return True


def sweep_until_quiet(lab: Laboratory, task_id: str, *, most: int) -> Task:
    """The task when nothing is left to do for it, after at most *most* sweeps, each at the instant it is due."""
    for _ in range(most):
        lab.work()
        task = lab.stored(task_id)
        if task.phase in QUIET:
            return task
        lab.clock.now = max(lab.clock.now, task.due_at) + timedelta(seconds=1)
        lab.sweep()
    lab.work()
    task = lab.stored(task_id)
    assert task.phase in QUIET, f"still {task.phase} after {most} sweeps: {task.turn}"
    return task


def assert_ended_for_good(lab: Laboratory, task_id: str) -> None:
    """Whatever still comes, an ended task keeps its bytes."""
    before = lab.raw(task_id)
    deliver(lab, task_id)
    lab.clock.forward(days=1)
    lab.sweep()
    lab.poll(task_id)
    deliver(lab, task_id)

    assert lab.raw(task_id) == before
