"""One task and what a follower of it has seen: whatever happens to it, what must be true of it is checked."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise

from tests.support.specimens import CONTENT, NOW, PACE, birth, hold_output, written
from turnkeeper.asc.registry import Code
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import TaskError, TaskIsTerminal
from turnkeeper.domain.instants import MICROSECOND
from turnkeeper.domain.judging import Held, Judged, outstanding
from turnkeeper.domain.messages import Commit
from turnkeeper.domain.rules import State, Transition, state_of
from turnkeeper.domain.status import status_object
from turnkeeper.domain.task import Phase, Task, Terms, Usage
from turnkeeper.domain.transitions import Answer, Change, Wake
from turnkeeper.domain.waits import Verdict, Wait, WaitKind

MOST_LOOKS = 1_000

type Need = tuple[WaitKind, timedelta]
type Work = Callable[[Task, int, tuple[int, str], datetime], Change]

WORK: dict[str, Work] = {
    "heartbeat": lambda task, fence, _, now: transitions.heartbeat(task, fence=fence, now=now, pace=PACE),
    "emit": lambda task, fence, said, now: transitions.emit(
        task, fence=fence, ordinal=said[0], content=said[1], now=now, pace=PACE
    ),
    "finish": lambda task, fence, _, now: transitions.finish(
        task, fence=fence, output=None, now=now, pace=PACE
    ),
    "finish with an output": lambda task, fence, said, now: transitions.finish(
        task, fence=fence, output=said[1], now=now, pace=PACE
    ),
    "report": lambda task, fence, _, now: transitions.report(
        task, fence=fence, usage=Usage(tool_calls=1, completion_tokens=9), now=now, pace=PACE
    ),
    "fail": lambda task, fence, _, now: transitions.fail_attempt(task, fence=fence, now=now, pace=PACE),
}
MEDDLING: dict[str, Callable[[Task, datetime], Change]] = {
    "interrupt": lambda task, now: transitions.interrupt(task, now=now, pace=PACE),
    "complete": lambda task, now: transitions.complete(task, outcome=Code.SUCCESS, now=now, pace=PACE),
    "discard": lambda task, now: transitions.complete(
        task, outcome=Code.CANCELLED, discard_pending=True, now=now, pace=PACE
    ),
    "error": lambda task, now: transitions.error(task, outcome=Code.FATAL_ERROR, now=now, pace=PACE),
    "restrict": lambda task, now: transitions.restrict(task, now=now, pace=PACE),
}


class Life:
    """A task from its birth; every act is tried at the true time less the writer's *skew*."""

    def __init__(self, terms: Terms, content: str | None) -> None:
        self.now = NOW
        self.received_at: list[datetime] = []
        self.committed_at: list[datetime] = []
        self.committed: list[int] = []
        self.write_revisions: set[str] = set()
        self.happened: list[tuple[State, Transition]] = []
        self.led: set[tuple[State, Transition, State]] = set()
        self.task: Task
        self._write(transitions.create(birth(terms), content=content, now=self.now, pace=PACE))

    @property
    def state(self) -> State:
        return state_of(self.task)

    def look(self, skew: timedelta, by: timedelta | None) -> None:
        """Let *by* pass, or all the time until something is due, and look."""
        if by is not None:
            self.now += by
        elif not self.task.is_terminal:
            self.now = max(self.now, self.task.due_at + skew)
        self._try(lambda task, now: transitions.look(task, now=now, pace=PACE), skew)

    def send(self, skew: timedelta) -> None:
        self._try(lambda task, now: transitions.accept(task, content=CONTENT, now=now, pace=PACE), skew)

    def take_up(self, skew: timedelta) -> None:
        is_new = self.state is State.QUEUED
        start = transitions.start_turn if is_new else transitions.start_attempt
        self._try(lambda task, now: start(task, now=now, pace=PACE), skew)

    def judge(self, skew: timedelta, chance: random.Random) -> None:
        """Begin a turn over what guardrails made of the inputs: let through, refused or held, as chance has it."""
        task, taken, refused, held = self.task, [], [], [one for one in self.task.held if one.wait]
        ready = [one.number for one in task.held if not one.wait]
        last = chance.randint(task.committed, task.received)
        for number in [*ready, *range(task.committed + 1, last + 1)]:
            fate = chance.choice(["pass", "pass", "refuse", "hold"])
            if fate == "hold" and len(held) < 16:
                wait = Wait(
                    id=f"{number} {len(self.happened)}",
                    kind=WaitKind.REVIEW,
                    since=self.now,
                    deadline=self.now + timedelta(hours=1),
                    reviewer="r",
                )
                held.append(Held(number=number, began=self.now, wait=wait))
            else:
                taken.append(number)
                refused += [number] * (fate == "refuse")
        judged = Judged(
            through=last,
            taken=tuple(sorted(taken)),
            refused=frozenset(refused),
            held=tuple(sorted(held, key=lambda one: one.number)),
            reply=CONTENT if refused else None,
        )
        if last > task.committed or ready:
            self._try(lambda task, now: transitions.start_turn(task, judged=judged, now=now, pace=PACE), skew)

    def hold_output(self, skew: timedelta, *, is_last: bool) -> None:
        self._try(lambda task, now: hold_output(task, is_last=is_last, now=now), skew)

    def release_output(self, skew: timedelta) -> None:
        self._try(
            lambda task, now: transitions.release_output(task, content=CONTENT, now=now, pace=PACE), skew
        )

    def decide(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        reviews = outstanding(self.task.held)
        wait = reviews[place % len(reviews)]
        self._try(
            lambda task, now: transitions.decide(task, wait_id=wait.id, verdict=verdict, now=now, pace=PACE),
            skew,
        )

    def work(self, skew: timedelta, act: str, *, repeats: int = 0, late: int = 0) -> None:
        """Do *act* for the turn: its next output or one that was there, under its fence or one too *late*."""
        outputs = self.task.turn.outputs if self.task.turn else 0
        said = (outputs + 1 - repeats, CONTENT)
        self._try(lambda task, now: WORK[act](task, task.fence - late, said, now), skew)

    def suspend(self, skew: timedelta, needs: list[Need], memo: str | None) -> None:
        def park(task: Task, now: datetime) -> Change:
            waits = [
                Wait(id=str(place), kind=kind, since=now, deadline=now + within, provider="p", reviewer="r")
                for place, (kind, within) in enumerate(needs)
            ]
            return transitions.suspend(task, fence=task.fence, waits=waits, memo=memo, now=now, pace=PACE)

        self._try(park, skew)

    def resolve(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        wait = self.task.waits[place % len(self.task.waits)]
        self._try(
            lambda task, now: transitions.resolve(task, verdicts={wait.id: verdict}, now=now, pace=PACE),
            skew,
        )

    def answer(self, skew: timedelta, place: int, verdict: Verdict) -> None:
        self._try(
            lambda task, now: transitions.answer(
                task, fence=task.fence, wait_id=str(place), verdict=verdict, now=now, pace=PACE
            ),
            skew,
        )

    def attach(self, skew: timedelta, unreached: int) -> None:
        self._try(
            lambda task, _: transitions.attach(task, fence=task.fence, report="{}", unreached=unreached), skew
        )

    def delegate(self, skew: timedelta, content: str | None) -> None:
        self._try(
            lambda task, now: transitions.delegate(
                task,
                fence=task.fence,
                call="call",
                body="{}",
                birth=birth(),
                content=content,
                now=now,
                pace=PACE,
            ),
            skew,
        )

    @property
    def is_to_reconcile(self) -> bool:
        return any(wait.kind is WaitKind.RECONCILE for wait in self.task.waits)

    def reconcile(self, skew: timedelta, answer: Answer, output: str | None) -> None:
        self._try(
            lambda task, now: transitions.reconcile(task, answer=answer, output=output, now=now, pace=PACE),
            skew,
        )

    def meddle(self, skew: timedelta, act: str) -> None:
        self._try(MEDDLING[act], skew)

    def expire(self, skew: timedelta) -> None:
        self._try(lambda task, now: transitions.expire(task, now=now, pace=PACE), skew)

    def looks_until_the_end(self) -> int:
        """Count the looks, each when it is due, that end the task when all wake-ups and workers are lost."""
        task = self.task
        for looks in range(MOST_LOOKS):
            if task.is_terminal:
                return looks
            task = written(transitions.look(task, now=task.due_at, pace=PACE))
        raise AssertionError(f"parked for ever: {task}")

    def _try(self, decide: Callable[[Task, datetime], Change], skew: timedelta) -> None:
        change = None
        try:
            change = decide(self.task, self.now - skew)
        except TaskIsTerminal:
            assert self.task.is_terminal
        except TaskError:
            assert not self.task.is_terminal
        if change and change.is_change:
            self._write(change)

    def _write(self, change: Change) -> None:
        after = written(change)
        assert after.write_revision not in self.write_revisions
        self.write_revisions.add(after.write_revision)
        if change.before is not None:
            self._check_step(change, change.before, after)
        if change.input:
            self.received_at.append(change.input.received_at)
        if isinstance(change.entry, Commit):
            self.committed += [n for first, last in change.entry.ranges for n in range(first, last + 1)]
            self.committed_at += [change.entry.at + k * MICROSECOND for k in range(change.entry.count)]
        elif change.entry:
            self.committed_at.append(change.entry.at)
        if change.reply:
            self.committed_at.append(change.reply.at)
        self.task = after
        self._check()

    def _check_step(self, change: Change, before: Task, after: Task) -> None:
        assert not before.is_terminal
        self.happened.append((state_of(before), change.transition))
        self.led.add((state_of(before), change.transition, state_of(after)))
        says_more = change.input is not None or change.entry is not None
        assert (before.revision != after.revision) is (says_more or shown(before) != shown(after))
        assert change.transition is not Transition.EXPIRE or after.revision == before.expiry_revision
        assert (after.fence, after.turns) >= (before.fence, before.turns)

    def _check(self) -> None:
        self._check_phase()
        self._check_due()
        assert strictly_increasing(self.received_at)
        assert strictly_increasing(self.committed_at)
        assert self.task.received == len(self.received_at)
        held = [one.number for one in self.task.held]
        assert sorted([*self.committed, *held]) == list(range(1, self.task.committed + 1))

    def _check_phase(self) -> None:
        task = self.task
        if task.phase is Phase.TERMINAL:
            assert task.terminal_reason
            assert task.outcome
            assert (task.turn, task.waits, task.idle_expires_at) == (None, (), None)
        else:
            assert (task.terminal_reason, task.outcome) == (None, None)
            assert (task.phase is Phase.PROCESSING) is (task.turn is not None or task.pending > 0)
        assert (task.idle_expires_at is not None) is (task.phase is Phase.IDLE)
        assert (task.expiry_revision is not None) is (task.phase is Phase.IDLE)
        assert bool(task.waits) is (self.state is State.SUSPENDED)
        assert not task.is_terminal or not task.asks
        assert len(task.asks) <= 32
        assert bool(task.turn and task.turn.lease_until) is (self.state is State.RUNNING)

    def _check_due(self) -> None:
        """Somebody looks again in time, and to some purpose."""
        task = self.task
        if task.is_terminal:
            return
        assert task.due_at <= task.oldest_end
        assert transitions.look(task, now=task.due_at - MICROSECOND, pace=PACE).after is task
        look = transitions.look(task, now=task.due_at, pace=PACE)
        does_something = look.transition is not Transition.LOOK or look.wake is not Wake.NONE
        assert look.is_change
        assert does_something or look.after.due_at > task.due_at
        assert look.after.due_at >= task.due_at


def shown(task: Task) -> dict[str, object]:
    """Return the status object without its revision."""
    whole = status_object(task)
    return {**whole, "status": {**whole["status"], "revision": None}}


def strictly_increasing(instants: list[datetime]) -> bool:
    return all(earlier < later for earlier, later in pairwise(instants))
