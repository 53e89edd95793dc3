"""Waiting: what a turn needs becomes its waits, and whoever comes by ends those whose answer is there already.

An answer may come before, while or after its wait is recorded, and who brings it may die half-way. So the one who
records looks for it afterwards, the one who brings it looks for waits, and the sweep looks again from time to time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from turnkeeper.domain import needs, transitions
from turnkeeper.domain.errors import InvalidInput, Place, StaleFence, TaskIsTerminal, WaitNotFound
from turnkeeper.domain.needs import Need
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import NOTHING_USED, Phase, Reason, Task, Turn, Usage
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.waits import Resolution, Verdict, Wait, WaitKind
from turnkeeper.service.change import Decide, apply
from turnkeeper.service.owned import TASK_ID
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import people, reviews


def suspension(
    runtime: Runtime,
    asked: Sequence[Need],
    *,
    fence: int,
    memo: str | None,
    usage: Usage = NOTHING_USED,
) -> Decide:
    """The change that suspends a turn on what was *asked*; `InvalidInput` when nobody can wait for that.

    After it is written, `settle` must be asked.
    """
    needs.check(asked)
    subjects = {need.id: need.subject for need in asked if need.subject is not None}

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.SUSPEND, fence=fence)
        _check_children(runtime, current, asked)
        waits = [needs.wait_of(need, now=now) for need in asked]
        return transitions.suspend(
            current,
            fence=fence,
            waits=waits,
            subjects=subjects,
            memo=memo,
            usage=usage,
            now=now,
            pace=runtime.pace,
        )

    return decide


def settle(runtime: Runtime, task: Task, *, actor: str) -> Task:
    """*task*, once those of its waits are resolved whose answer is there: a grant, or a child that came to rest."""
    if state_of(task) is not State.SUSPENDED:
        return task
    verdicts = _answered(runtime, task)
    if not verdicts:
        return task
    fence = _turn(task).fence

    def decide(current: Task, now: datetime) -> Change:
        return transitions.resolve(current, verdicts=verdicts, fence=fence, now=now, pace=runtime.pace)

    try:
        return apply(runtime, task, decide, actor=actor).after
    except (WaitNotFound, StaleFence, TaskIsTerminal):  # somebody else was here first
        return task


def resolutions(runtime: Runtime, task: Task) -> tuple[Resolution, ...]:
    """What the task's turn waited for, each with its reviewer's comment where there is one."""
    if task.turn is None:
        return ()
    return tuple(_commented(runtime, task, one) for one in task.turn.resolutions)


def _commented(runtime: Runtime, task: Task, one: Resolution) -> Resolution:
    if one.review is None:
        return one
    _, review = reviews.read(runtime.table, task.id, one.review)
    return replace(one, comment=review.decision.comment if review and review.decision else None)


def _check_children(runtime: Runtime, task: Task, asked: Sequence[Need]) -> None:
    named = {
        position: need.child
        for position, need in enumerate(asked)
        if need.child and TASK_ID.fullmatch(need.child)
    }
    _, children = people.answers(runtime.table, (), set(named.values()))
    wrong = [
        Place(f"waits[{position}].child", "is no child of this task")
        for position, need in enumerate(asked)
        if need.kind is WaitKind.CHILD and not _is_child(children.get(need.child or ""), task)
    ]
    if wrong:
        raise InvalidInput(wrong)


def _is_child(child: Task | None, task: Task) -> bool:
    return child is not None and child.parent == task.id


def _answered(runtime: Runtime, task: Task) -> dict[str, Verdict]:
    grants = {
        wait.provider: people.grant_key(task.terms.owner, task.responsible_user, wait.provider)
        for wait in task.waits
        if wait.provider
    }
    children = {wait.child for wait in task.waits if wait.child}
    granted, tasks = people.answers(runtime.table, grants.values(), children)
    began = _turn(task).started_at
    by_provider = {key: granted[item["sk"]] for key, item in grants.items() if item["sk"] in granted}
    verdicts = {
        wait.id: _granted(wait, by_provider, began) if wait.provider else _come_to_rest(wait, tasks)
        for wait in task.waits
    }
    return {wait_id: verdict for wait_id, verdict in verdicts.items() if verdict is not None}


def _granted(wait: Wait, grants: Mapping[str, datetime], leg_began: datetime) -> Verdict | None:
    granted_at = grants.get(wait.provider or "")
    is_granted = granted_at is not None and wait.is_granted(granted_at, leg_began=leg_began)
    return Verdict.DONE if is_granted else None


def _come_to_rest(wait: Wait, children: Mapping[str, Task]) -> Verdict | None:
    if wait.child is None:
        return None
    child = children.get(wait.child)
    if child is None:  # its retention is over
        return Verdict.FAILED
    if child.phase is Phase.PROCESSING:
        return None
    failed = child.is_terminal and child.terminal_reason is not Reason.COMPLETED
    return Verdict.FAILED if failed else Verdict.DONE


def _turn(task: Task) -> Turn:
    if task.turn is None:
        raise WaitNotFound
    return task.turn
