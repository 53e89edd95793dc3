"""Asking an agent's guardrails about the inputs that wait, before a turn commits them (IN-1b, AG-2 to AG-5).

What a guardrail makes of an input is put down before the commit that names it; a run that comes to nothing leaves it
there unnamed, and so without effect.
"""

import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from turnkeeper.domain import content as contents
from turnkeeper.domain.errors import GuardrailsUnavailable
from turnkeeper.domain.judging import HELD_BYTES, MOST_REFUSED, Held, Judged, has_room, size
from turnkeeper.domain.messages import Input
from turnkeeper.domain.task import Task
from turnkeeper.domain.waits import Wait, WaitKind
from turnkeeper.guards import evaluator, scene
from turnkeeper.guards.evaluator import Evaluator, EvaluatorUnavailable
from turnkeeper.guards.guardrails import (
    DENIED,
    ERRORS,
    UNCHECKED,
    Denied,
    Locked,
    NeedsReview,
    Passed,
    Verdict,
)
from turnkeeper.guards.rules import Rules
from turnkeeper.guards.scene import Scene, Side
from turnkeeper.service import messages
from turnkeeper.service.cursors import Place
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import transcript

SECONDS = 3.0
"""When one turn's start takes no more inputs; the last may take 24 s more, and the gateway waits 29."""
MOST_MADE = 100
"""How many inputs guardrails may change in one start: each is put down by itself."""
REPLY_BYTES = 100_000
"""What answers the refused ones of one start, as JSON; the rest is answered by the next."""
REVIEW_WITHIN = timedelta(days=7)

type _Entry = tuple[str, Mapping[str, Any]]
"""What was said, and whether it is an input or an output."""


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


def seen(runtime: Runtime, task: Task) -> Scene:
    """The task as expressions see it."""
    return _scene(task, list(_said(runtime, task)))


def _scene(task: Task, said: Sequence[_Entry], held: Held | None = None) -> Scene:
    """The task as what was *said* shows it, or as it showed itself when *held* was first judged."""
    inputs = [entry for kind, entry in said if kind == "input"]
    outputs = [entry for kind, entry in said if kind == "output"]
    return Scene(
        task_id=task.id,
        agent=task.agent,
        user=task.responsible_user,
        created_at=task.created_at,
        turn=held.turn if held else task.turns + (task.turn is None),
        inputs=scene.kept(inputs[: held.inputs] if held else inputs),
        outputs=scene.kept(outputs[: held.outputs] if held else outputs),
    )


def _said(runtime: Runtime, task: Task) -> Iterator[_Entry]:
    """What is committed, by its type, from the first on and as far as expressions can see any of it."""
    since, room = Place(pending=task.received), 2 * scene.LARGEST
    entries = messages.conversation(runtime.table, task, since=since, for_model=True)
    for text, _ in islice(entries, 2 * scene.MOST):
        entry: dict[str, Any] = json.loads(text)
        room -= len(text)
        if room < 0 or "committed_at" not in entry:
            return
        kind = entry["type"]
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
    clock: float = field(default_factory=time.monotonic)
    said: list[_Entry] = field(init=False)
    reply_bytes: int = 0
    is_stopped: bool = False
    through: int = field(init=False)
    taken: list[int] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    made: dict[int, str] = field(default_factory=dict)
    held: list[Held] = field(init=False)
    subjects: dict[str, str] = field(default_factory=dict)
    passed: list[Mapping[str, Any]] = field(default_factory=list)
    scene: Scene = field(init=False)

    def __post_init__(self) -> None:
        self.through, self.held = self.task.committed, list(self.task.held)
        self.said = list(_said(self.runtime, self.task))
        self.scene = _scene(self.task, self.said)

    @property
    def is_full(self) -> bool:
        """What is left is for the next turn: it took long enough, or there is no room for what may come of it."""
        too_long = time.monotonic() - self.clock > SECONDS
        too_many = len(self.refused) >= MOST_REFUSED or len(self.made) >= MOST_MADE
        return self.is_stopped or too_long or too_many

    def take(self, arrived: Input, held: Held | None) -> None:
        """Judge one input, as of when it was first judged; one that finds no room is left for the next start."""
        number, flow = arrived.number, json.loads(arrived.content)
        verdict = self._verdict(flow, held)
        if not self._has_room_for(verdict, held):
            self.is_stopped = True
            return
        if held is None:
            self.through = number
        match verdict:
            case Locked():
                raise LockedByGuardrail
            case NeedsReview() as needs:
                self._hold(held or self._first(number), needs)
                return
            case Denied(message=message):
                self.refused[number] = message
                self.reply_bytes += len(json.dumps(message))
            case Passed(flow=made, is_changed=is_changed):
                self.passed.append(made)
                if is_changed:
                    self.made[number] = contents.kept(made)
        self.taken.append(number)
        self.held = [one for one in self.held if one.number != number]

    def _verdict(self, flow: Mapping[str, Any], held: Held | None) -> Verdict:
        verdict = self.rules.judge_input(
            flow,
            {(step, reviewer): approved for step, reviewer, approved in held.decided} if held else {},
            scene=_scene(self.task, self.said, held) if held else self._scene_now(),
            now=held.began if held else self.now,
            evaluator=self.evaluator,
            roots=self.rules.mount,
        )
        if held and held.is_refused and not isinstance(verdict, Denied | Locked):
            return Denied(step=held.step, message=DENIED[Side.INPUT])
        if held and isinstance(verdict, NeedsReview) and size(self.held) > HELD_BYTES:
            return Denied(step=verdict.step, message=UNCHECKED[Side.INPUT])
        return verdict

    def _has_room_for(self, verdict: Verdict, held: Held | None) -> bool:
        match verdict:
            case NeedsReview():
                return held is not None or has_room(self.held)
            case Denied(message=message):
                return not self.refused or self.reply_bytes + len(json.dumps(message)) <= REPLY_BYTES
            case _:
                return True

    def _first(self, number: int) -> Held:
        """What is remembered of an input's first run."""
        seen_now = [kind for kind, _ in self.said]
        return Held(
            number=number,
            began=self.now,
            turn=self.scene.turn,
            inputs=seen_now.count("input") + len(self.passed),
            outputs=seen_now.count("output"),
        )

    def judged(self) -> Judged:
        """All that came of it; what guardrails made of inputs lies there from now on."""
        token = secrets.token_hex(8) if self.made else None
        seals: dict[str, str] = {}
        if token is not None:
            seals = transcript.keep_made(self.runtime.table, self.task.id, token, self.made)
        return Judged(
            through=self.through,
            taken=tuple(sorted(self.taken)),
            refused=frozenset(self.refused),
            held=tuple(sorted(self.held, key=lambda one: one.number)),
            token=token,
            seals=seals,
            reply=self._reply() if self.refused else None,
            subjects=self.subjects,
        )

    def _scene_now(self) -> Scene:
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
        exposed = exposing(self.rules, {"message": parts}, self.scene, now=self.now, by=self.evaluator)
        return contents.kept({**exposed, "error": ERRORS[Side.INPUT]}, most=contents.LARGEST_MADE)


def exposing(
    ruled: Rules, output: Mapping[str, Any], shown: Scene, *, now: datetime, by: Evaluator
) -> Mapping[str, Any]:
    """*output* with every key that is exposed; where all of them are too much, the largest are null (IO-7)."""
    if not ruled.exposes:
        return output
    made = dict(ruled.exposing(output, scene=shown, now=now, evaluator=by))
    sizes = {name: len(json.dumps(made[name], ensure_ascii=False).encode()) for name in ruled.exposes}
    room = contents.LARGEST_INPUT - len(json.dumps(output, ensure_ascii=False).encode())
    while sum(sizes.values()) > max(room, 0) and any(sizes.values()):
        largest = max(sizes, key=lambda name: sizes[name])
        made[largest], sizes[largest] = None, 0
    return made
