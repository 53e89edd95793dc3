"""Running an agent's guardrails over one input or one output: pure, but for the evaluator that is handed in.

Steps run in order, each on what the last one left. Nothing is kept between runs: what waits for a review is run from
the beginning again with what was decided, so its scene and `now` should be the same again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnkeeper.domain.errors import InvalidInput
from turnkeeper.guards import templates
from turnkeeper.guards.evaluator import Asks, Evaluator, Is, Values
from turnkeeper.guards.scene import Scene, Side
from turnkeeper.guards.steps import Act, Policy, Step
from turnkeeper.guards.templates import ValueMissing

ERRORS = {Side.INPUT: "denied_by_input_guardrail", Side.OUTPUT: "denied_by_output_guardrail"}
"""How a denial is marked in the conversation (IO-8)."""
DENIED = {
    Side.INPUT: "A guardrail of this agent refused the input.",
    Side.OUTPUT: "A guardrail of this agent withheld the answer.",
}
"""What is said where a step has no message of its own."""
UNCHECKED = {
    Side.INPUT: "A guardrail of this agent could not check the input, so it was refused.",
    Side.OUTPUT: "A guardrail of this agent could not check the answer, so it was withheld.",
}
"""What is said where an expression cannot be evaluated."""

type Flow = Mapping[str, Any]
"""An input or an output, as the conversation has it: `message`, and the parameters of an input."""
type Decisions = Mapping[tuple[int, str], bool]
"""What reviewers decided so far: by the number of the step and the reviewer, whether they approved."""
type Acceptable = Callable[[Any], Flow]
"""What may flow on in place of what came, normalised; InvalidInput where it may not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """It was let through: *flow* is what goes on, the very object that came unless a transform changed it."""

    flow: Flow
    is_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """The *step*-th step, counted from 0, denied it: *message* is what is said instead."""

    step: int
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """The *step*-th step locks the task, which ends restricted (LC-5)."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsReview:
    """The *step*-th step waits for *reviewer*; both together are the key of what is decided."""

    step: int
    reviewer: str
    subject: str | None = None
    """What the reviewer is shown; None where the step does not say."""


type Verdict = Passed | Denied | Locked | NeedsReview


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One side of an agent's guardrails, and all that its expressions may see."""

    side: Side
    steps: Sequence[Step]
    scene: Scene
    now: datetime
    acceptable: Acceptable
    evaluator: Evaluator

    def verdict(self, flow: Flow, decisions: Decisions | None = None) -> Verdict:
        """What the steps make of *flow* (AG-2 to AG-5)."""
        came, values = flow, self.scene.values(self.side, flow, self.now)
        for number, step in enumerate(self.steps):
            made = self._take(step, number, flow, values, decisions or {})
            if not isinstance(made, Passed):
                return made
            if made.is_changed:
                flow, values = made.flow, self.scene.values(self.side, made.flow, self.now)
        return Passed(flow=flow, is_changed=flow is not came)

    def _take(self, step: Step, number: int, flow: Flow, values: Values, decisions: Decisions) -> Verdict:
        goes_on = Passed(flow=flow, is_changed=False)
        if step.condition is not None:
            gate = self.evaluator.evaluate(step.condition, values)
            if not isinstance(gate, Is):
                return self._failed(step, number, goes_on)
            if not gate.value:
                return goes_on
        decided = {user: approved for (at, user), approved in decisions.items() if at == number}
        match self.evaluator.evaluate(step.expression, values, decided=decided):
            case Asks(reviewer, subject) if step.act is Act.ASSERT:
                return NeedsReview(step=number, reviewer=reviewer, subject=subject)
            case Is(value) if step.act is Act.TRANSFORM:
                return self._transformed(step, number, value, goes_on)
            case Is(value):
                return goes_on if value else self._denied(step, number, values, goes_on)
            case _:
                return self._failed(step, number, goes_on)

    def _transformed(self, step: Step, number: int, value: Any, goes_on: Passed) -> Verdict:
        try:
            return Passed(flow=self.acceptable(value), is_changed=True)
        except InvalidInput:
            return self._failed(step, number, goes_on)

    def _denied(self, step: Step, number: int, values: Values, goes_on: Passed) -> Verdict:
        if step.on_denial is Policy.FAIL_CALL:
            return Denied(step=number, message=self._message(step, values))
        return Locked(step=number) if step.on_denial is Policy.LOCK_TASK else goes_on

    def _failed(self, step: Step, number: int, goes_on: Passed) -> Verdict:
        match step.on_error:
            case Policy.FAIL_CALL:
                return Denied(step=number, message=UNCHECKED[self.side])
            case Policy.LOCK_TASK:
                return Locked(step=number)
            case Policy.IGNORE:
                return goes_on

    def _message(self, step: Step, values: Values) -> str:
        def value_of(expression: str) -> Any:
            if not isinstance(found := self.evaluator.evaluate(expression, values), Is):
                raise ValueMissing
            return found.value

        if step.deny_message is None:
            return DENIED[self.side]
        try:
            return templates.filled(step.deny_message, value_of)
        except ValueMissing:
            return DENIED[self.side]
