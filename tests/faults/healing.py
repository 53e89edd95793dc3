"""What a deployment does by itself after something broke: it sweeps, and the queue delivers."""

import json
from contextlib import suppress
from datetime import timedelta

from tests.faults.tally import Tried, tried
from tests.support.laboratory import Laboratory, said
from turnkeeper.domain.errors import TaskError
from turnkeeper.domain.task import Phase, Task
from turnkeeper.service import host_turns
from turnkeeper.service.host_turns import Asked
from turnkeeper.service.turns import ComeBackLater, attend

QUIET = frozenset({Phase.IDLE, Phase.TERMINAL})
OUTPUTS = 2


def deliver(lab: Laboratory, task_id: str) -> bool:
    """Attend to a wake-up for *task_id* that the queue delivers once more; True when it was done with."""
    tried(Tried.DELIVERIES)
    try:
        attend(lab.runtime, task_id, hide=lambda _lasts: None, agent_of=lambda task: lab.agents[task.agent]())
    except ComeBackLater:
        return False
    return True


def host_works(lab: Laboratory) -> int:
    """External hosts take the turns that they were woken for, and say two things in each; how many wake-ups came."""
    woken = 0
    for principal, url in lab.host_urls.items():
        while received := lab.sqs.receive_message(QueueUrl=url).get("Messages"):
            woken += 1
            with suppress(TaskError):
                _take(lab, principal, json.loads(received[0]["Body"])["task"])
            lab.sqs.delete_message(QueueUrl=url, ReceiptHandle=received[0]["ReceiptHandle"])
    return woken


def _take(lab: Laboratory, principal: str, task_id: str) -> None:
    asked = Asked(principal=principal, task_id=task_id, body="{}", key=None)
    task = host_turns.start(lab.runtime, asked)
    turn = task.turn
    assert turn is not None
    for ordinal in range(turn.kept + 1, OUTPUTS):
        content = said(f"turn {turn.number} says {ordinal}")
        host_turns.output(lab.runtime, asked, fence=task.fence, ordinal=ordinal, content=content)
    content = said(f"turn {turn.number} says {OUTPUTS}")
    host_turns.finish(lab.runtime, asked, fence=task.fence, content=content)


def sweep_until_quiet(lab: Laboratory, task_id: str, *, most: int) -> Task:
    """The task when nothing is left to do for it, after at most *most* sweeps, each at the instant it is due."""
    for _ in range(most):
        lab.work()
        host_works(lab)
        task = lab.stored(task_id)
        if task.phase in QUIET:
            return task
        lab.clock.now = max(lab.clock.now, task.due_at) + timedelta(seconds=1)
        lab.sweep()
    lab.work()
    host_works(lab)
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
