"""Waiting: what a turn needs becomes its waits, and whoever comes by ends those whose answer is there already.

An answer may come before, while or after its wait is recorded, and who brings it may die half-way. So the one who
records looks for it afterwards, the one who brings it looks for waits, and the sweep looks again from time to time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from turnkeeper.domain import needs, transitions
from turnkeeper.domain.errors import InvalidInput, Place, StaleFence, TaskIsTerminal, WaitNotFound
from turnkeeper.domain.needs import Need
from turnkeeper.domain.rules import State, Transition, require, state_of
from turnkeeper.domain.task import NOTHING_USED, Phase, Reason, Task, Turn, Usage
from turnkeeper.domain.transitions import Change
from turnkeeper.domain.waits import Resolution, Verdict, Wait
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

    After it is written, `settle` must be asked: an answer may come between the look for one and the write.
    """
    needs.check(asked)
    subjects = {need.id: need.subject for need in asked if need.subject is not None}

    def decide(current: Task, now: datetime) -> Change:
        require(current, Transition.SUSPEND, fence=fence)
        waits = [needs.wait_of(need, now=now) for need in asked]
        answers = _answers(runtime, current, waits)
        _check_children(current, waits, answers)
        return transitions.suspend(
            current,
            fence=fence,
            waits=waits,
            subjects=subjects,
            answered=answers.verdicts(_turn(current).started_at),
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
    turn = _turn(task)
    verdicts = _answers(runtime, task, task.waits).verdicts(turn.started_at)
    if not verdicts:
        return task
    fence = turn.fence

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


@dataclass(frozen=True, slots=True)
class _Answers:
    """What there is of what *waits* wait for: authorisations by their provider, and child tasks by their id."""

    waits: Sequence[Wait]
    granted: Mapping[str, datetime]
    children: Mapping[str, Task]

    def verdicts(self, leg_began: datetime) -> dict[str, Verdict]:
        """How those waits end that are answered, by their ids."""
        found = {wait.id: self._verdict(wait, leg_began) for wait in self.waits}
        return {wait_id: verdict for wait_id, verdict in found.items() if verdict is not None}

    def _verdict(self, wait: Wait, leg_began: datetime) -> Verdict | None:
        if wait.child is not None:
            return _come_to_rest(self.children.get(wait.child))
        granted_at = self.granted.get(wait.provider or "")
        if granted_at is None or not wait.is_granted(granted_at, leg_began=leg_began):
            return None
        return Verdict.DONE


def _answers(runtime: Runtime, task: Task, waits: Sequence[Wait]) -> _Answers:
    grants = {
        wait.provider: people.grant_key(task.terms.owner, task.responsible_user, wait.provider)
        for wait in waits
        if wait.provider
    }
    named = {wait.child for wait in waits if wait.child and TASK_ID.fullmatch(wait.child)}
    granted, children = people.answers(runtime.table, grants.values(), named)
    by_provider = {name: granted[key["sk"]] for name, key in grants.items() if key["sk"] in granted}
    now = runtime.clock()
    kept = {child_id: child for child_id, child in children.items() if not child.is_gone(now)}
    return _Answers(waits, by_provider, kept)


def _check_children(task: Task, waits: Sequence[Wait], answers: _Answers) -> None:
    wrong = [
        Place(f"waits[{position}].child", "is no child of this task")
        for position, wait in enumerate(waits)
        if wait.child is not None and not _is_child(answers.children.get(wait.child), task)
    ]
    if wrong:
        raise InvalidInput(wrong)


def _is_child(child: Task | None, task: Task) -> bool:
    return child is not None and child.parent == task.id


def _come_to_rest(child: Task | None) -> Verdict | None:
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
