"""Everything that an agent's manifest rules about what comes to it and what leaves it, ready to be asked.

A manifest that was registered passed `declared.wrong`; nothing here is checked a second time.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from turnkeeper.domain.content import kept, wrong_places
from turnkeeper.domain.errors import InputTooLarge, InvalidInput, Place
from turnkeeper.domain.files import in_message
from turnkeeper.domain.places import path
from turnkeeper.domain.uris import Root, mounted
from turnkeeper.guards import steps
from turnkeeper.guards.evaluator import Evaluator
from turnkeeper.guards.exposes import exposed
from turnkeeper.guards.guardrails import Decisions, Flow, Guard, Verdict
from turnkeeper.guards.parameters import MESSAGE, Parameters, check_input, files_in
from turnkeeper.guards.parameters import Steps as Below
from turnkeeper.guards.parameters import read as read_parameters
from turnkeeper.guards.scene import Scene, Side
from turnkeeper.guards.steps import Step

_KEPT = 64
"""How many manifests' rules a process keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What one version of an agent declares."""

    parameters: Parameters
    before: tuple[Step, ...]
    after: tuple[Step, ...]
    exposes: Mapping[str, str | None]
    mount: frozenset[Root]
    """The roots that the agent wants; which of them there are is the deployment's business."""

    def normalised(
        self, sent: Mapping[str, Any], *, roots: AbstractSet[Root] = frozenset(), at: Below = ()
    ) -> dict[str, Any]:
        """An input as it was *sent*, its defaults filled in; InvalidInput with every wrong place below *at* (IN-1a).

        Its message is the edge's to check.
        """
        return check_input(self.parameters, sent, roots=roots, at=at)

    def files(self, sent: Mapping[str, Any]) -> Iterator[tuple[Below, str]]:
        """Where in *sent*, an input that was normalised, files are named, and which (CP-4)."""
        yield from in_message(sent)
        yield from files_in(self.parameters, sent)

    def judge_input(
        self,
        flow: Flow,
        decisions: Decisions,
        *,
        scene: Scene,
        now: datetime,
        evaluator: Evaluator,
        roots: AbstractSet[Root] = frozenset(),
    ) -> Verdict:
        """What the guardrails before the agent make of the input *flow*, with the reviews decided so far."""

        def acceptable(value: Any) -> Flow:
            files = frozenset(file for _, file in self.files(flow))
            made = self.normalised(_object(value), roots=roots)
            if wrong := [at for at, file in files_in(self.parameters, made) if file not in files]:
                raise InvalidInput([Place(path(at), "names a file that was not there") for at in wrong])
            return _bounded(made, files=files)

        guard = Guard(
            side=Side.INPUT,
            steps=self.before,
            scene=self._seen(scene),
            now=now,
            acceptable=acceptable,
            evaluator=evaluator,
        )
        return guard.verdict(flow, decisions)

    def judge_output(
        self, flow: Flow, decisions: Decisions, *, scene: Scene, now: datetime, evaluator: Evaluator
    ) -> Verdict:
        """What the guardrails after the agent make of the output *flow*, with the reviews decided so far."""

        def acceptable(value: Any) -> Flow:
            said = _object(value)
            if said.keys() != {MESSAGE}:
                raise InvalidInput([Place("body", "must be an object with a message and nothing else")])
            return _bounded(said, files=frozenset(file for _, file in in_message(flow)))

        guard = Guard(
            side=Side.OUTPUT,
            steps=self.after,
            scene=self._seen(scene),
            now=now,
            acceptable=acceptable,
            evaluator=evaluator,
        )
        return guard.verdict(flow, decisions)

    def exposing(self, output: Flow, *, scene: Scene, now: datetime, evaluator: Evaluator) -> dict[str, Any]:
        """*output*, whatever it is that is said, with all that the agent exposes (IO-7)."""
        return exposed(self.exposes, output, scene=self._seen(scene), now=now, evaluator=evaluator)

    def _seen(self, scene: Scene) -> Scene:
        """*scene* with numbers as this agent's parameters have them."""
        return replace(scene, numbers=self.parameters.numbers)


@lru_cache(maxsize=_KEPT)
def of(document: str) -> Rules:
    """The rules of a registered manifest, given as JSON."""
    fields: dict[str, Any] = json.loads(document)
    guardrails: Mapping[str, Any] = fields.get("guardrails") or {}
    return Rules(
        parameters=read_parameters(fields.get("parameters")),
        before=_steps(guardrails.get("before")),
        after=_steps(guardrails.get("after")),
        exposes=fields.get("exposes") or {},
        mount=mounted(fields.get("mount")),
    )


def _steps(said: Sequence[Mapping[str, Any]] | None) -> tuple[Step, ...]:
    return tuple(steps.read(step) for step in said or ())


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput([Place("body", "must be an object")])
    return value


def _bounded(flow: dict[str, Any], *, files: AbstractSet[str]) -> dict[str, Any]:
    """*flow* if its message could have been sent with these *files*; InvalidInput otherwise.

    Those that came were pinned; what a step makes up was not, and nobody could read it.
    """
    if wrong := list(wrong_places(flow.get(MESSAGE), files)):
        raise InvalidInput(wrong)
    try:
        kept(flow)
    except InputTooLarge as error:
        raise InvalidInput([Place("body", str(error))]) from None
    return flow
