"""Asking an agent's guardrails about the inputs that wait, before a turn commits them (IN-1b, AG-2 to AG-5).

What a guardrail makes of an input is put down before the commit that names it; a run that comes to nothing leaves it
there unnamed, and so without effect.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from turnkeeper.domain import content as contents
from turnkeeper.domain.errors import GuardrailsUnavailable
from turnkeeper.domain.judging import MOST_REFUSED, Held, Judged, outstanding
from turnkeeper.domain.messages import Input
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import MOST_WAITS, Wait, WaitKind
from turnkeeper.guards import evaluator, scene
from turnkeeper.guards.evaluator import Evaluator, EvaluatorUnavailable
from turnkeeper.guards.guardrails import ERRORS, Denied, Locked, NeedsReview, Passed
from turnkeeper.guards.rules import Rules
from turnkeeper.guards.scene import Scene, Side
from turnkeeper.service import messages
from turnkeeper.service.cursors import Place
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import transcript

SECONDS = 8.0
"""When one turn's start takes no more inputs; the last may take 16 s more, and the gateway waits 29."""
REVIEW_WITHIN = timedelta(days=7)


class LockedByGuardrail(Exception):
    """A guardrail step locks the task: nothing is committed, and it ends restricted (LC-5)."""


def judge(runtime: Runtime, task: Task, ruled: Rules, now: datetime) -> Judged | None:
    """What *ruled* makes of the task's inputs; None where nothing stands before the agent.

    Raises `LockedByGuardrail`, and `GuardrailsUnavailable` when nothing can be evaluated at all.
    """
    if not ruled.before:
        return None
    run = _Run(runtime, task, ruled, now, evaluator.shared())
    try:
        for arrived, held in _waiting(runtime, task):
            if run.is_full:
                break
            run.take(arrived, held)
        return run.judged()
    except EvaluatorUnavailable as error:
        raise GuardrailsUnavailable from error


def seen(runtime: Runtime, task: Task, *, until: datetime | None = None) -> Scene:
    """The task as expressions see it, as far as it had come *until* then."""
    said = list(islice(_said(runtime, task, until), 2 * scene.MOST))
    return Scene(
        task_id=task.id,
        agent=task.agent,
        user=task.responsible_user,
        created_at=task.created_at,
        turn=task.turns + (task.turn is None),
        inputs=scene.kept(entry for kind, entry in said if kind == "input"),
        outputs=scene.kept(entry for kind, entry in said if kind == "output"),
    )


def _said(runtime: Runtime, task: Task, until: datetime | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """What is committed, from the first on, by its type."""
    since = Place(pending=task.received)
    for text, place in messages.conversation(runtime.table, task, since=since, for_model=True):
        if until is not None and place.at is not None and place.at >= until:
            return
        entry: dict[str, Any] = json.loads(text)
        kind = entry["type"]
        if "committed_at" in entry:
            yield kind, {name: value for name, value in entry.items() if name not in contents.RESERVED}


def _waiting(runtime: Runtime, task: Task) -> Iterator[tuple[Input, Held | None]]:
    """The held inputs that were decided, and then the pending ones, in the order they arrived."""
    for held in task.held:
        if held.wait is None:
            for arrived in transcript.inputs(runtime.table, task.id, first=held.number, last=held.number):
                yield arrived, held
    pending = transcript.inputs(runtime.table, task.id, first=task.committed + 1, last=task.received)
    yield from ((arrived, None) for arrived in pending)


@dataclass(slots=True)
class _Run:
    """One run over the inputs of one turn's start."""

    runtime: Runtime
    task: Task
    rules: Rules
    now: datetime
    evaluator: Evaluator
    spent: float = field(init=False)
    through: int = field(init=False)
    taken: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    made: dict[int, str] = field(default_factory=dict)
    held: list[Held] = field(init=False)
    subjects: dict[str, str] = field(default_factory=dict)
    passed: list[Mapping[str, Any]] = field(default_factory=list)
    scene: Scene = field(init=False)

    def __post_init__(self) -> None:
        self.spent, self.through = self.evaluator.spent, self.task.committed
        self.held = list(self.task.held)
        self.scene = seen(self.runtime, self.task)

    @property
    def is_full(self) -> bool:
        """What is left is for the next turn: it took long enough, or there is no room for what may come of it."""
        waits = len(outstanding(self.held)) + len(self.task.waits)
        too_long = self.evaluator.spent - self.spent > SECONDS
        return too_long or len(self.refused) >= MOST_REFUSED or waits >= MOST_WAITS

    def take(self, arrived: Input, held: Held | None) -> None:
        """Judge one input, as of when it was first judged."""
        number, began = arrived.number, held.began if held else self.now
        flow = json.loads(arrived.content)
        verdict = self.rules.judge_input(
            flow,
            {(step, reviewer): approved for step, reviewer, approved in held.decided} if held else {},
            scene=self._scene(began),
            now=began,
            evaluator=self.evaluator,
            roots=self.rules.mount,
        )
        if held is None:
            self.through = number
        match verdict:
            case Locked():
                raise LockedByGuardrail
            case NeedsReview() as needs:
                self._hold(held or Held(number=number, began=began), needs)
                return
            case Denied(message=message):
                self.refused[number] = message
            case Passed(flow=made, is_changed=is_changed):
                self.passed.append(made)
                if is_changed:
                    self.made[number] = contents.kept(made)
        self.taken.append(number)
        self.held = [one for one in self.held if one.number != number]

    def judged(self) -> Judged:
        """All that came of it; what guardrails made of inputs lies there from now on."""
        token = secrets.token_hex(8) if self.made else None
        if token is not None:
            transcript.keep_made(self.runtime.table, self.task.id, token, self.made)
        return Judged(
            through=self.through,
            taken=tuple(sorted(self.taken)),
            refused=frozenset(self.refused),
            held=tuple(sorted(self.held, key=lambda one: one.number)),
            token=token,
            reply=self._reply() if self.refused else None,
            subjects=self.subjects,
        )

    def _scene(self, began: datetime) -> Scene:
        if began != self.now:
            return seen(self.runtime, self.task, until=began)
        return replace(self.scene, inputs=scene.kept((*self.scene.inputs, *self.passed)))

    def _hold(self, held: Held, needs: NeedsReview) -> None:
        wait = Wait(
            id=f"input-{held.number}-{needs.step}-{len(held.decided)}",
            kind=WaitKind.REVIEW,
            since=self.now,
            deadline=self.now + REVIEW_WITHIN,
            reviewer=needs.reviewer,
        )
        self.subjects[wait.id] = needs.subject or f"An input to {self.task.agent} needs your approval."
        others: Iterable[Held] = (one for one in self.held if one.number != held.number)
        self.held = [*others, replace(held, wait=wait, step=needs.step)]

    def _reply(self) -> str:
        """The one output that answers every refused input, in their order (IO-8)."""
        parts = [
            part for number in sorted(self.refused) for part in contents.text(self.refused[number])["message"]
        ]
        output = {"message": parts}
        exposed = self.rules.exposing(output, scene=self.scene, now=self.now, evaluator=self.evaluator)
        return contents.kept({**exposed, "error": ERRORS[Side.INPUT]})
