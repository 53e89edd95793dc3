"""What a host declares with a task's end: words, a retry contract, how sure somebody was, and what operators may know.

It is kept beside the task as it was said, and held when it is said to what a report may say, so that none has to be
refused when somebody asks how the task ended.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from turnkeeper.asc.parts import Confidence, Evaluation, Fails, Message, Provenance
from turnkeeper.asc.refusals import StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Status
from turnkeeper.asc.vocabulary import Scope
from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.instants import from_text

LOOK_UP = "find_out_what_happened_before_repeating_it"
_PLACES = {
    "status.code": "outcome",
    "provenance.evaluation": "evaluation",
    "provenance.trace_id": "diagnostics.trace_id",
    "provenance.span_id": "diagnostics.span_id",
}
_ANY_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What was declared with an end, beside its code; *details*, ids and the dependency are for operators."""

    message: Message | None = None
    retry: Contract | None = None
    confidence: Confidence | None = None
    evaluation: Evaluation | None = None
    dependency: str | None = None
    resource_state: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def check(text: str | None, code: Code) -> str | None:
    """*text*, if a task may end with *code* and what it declares, else `InvalidInput` with the place."""
    try:
        said = declared(text)
        Report(
            status=Status.of(code, scope=Scope.TASK, terminal=True),
            occurred_at=_ANY_MOMENT,
            message=said.message,
            retry=contract_of(code, said.retry),
            confidence=said.confidence,
            details=said.details,
            provenance=Provenance(evaluation=said.evaluation, trace_id=said.trace_id, span_id=said.span_id),
        )
    except StatusRefused as refused:
        at = f"diagnostics.{refused.at}" if refused.at.startswith("details") else refused.at
        raise InvalidInput([Place(_PLACES.get(at, at), refused.problem)]) from None
    return text


def contract_of(code: Code, said: Contract | None) -> Contract | None:
    """The retry contract of an end with *code*: what was *said*, or that an unknown result is looked into first."""
    if said is None and code is Code.RESULT_STATE_UNKNOWN:
        return Contract(reconciliation_action=LOOK_UP)
    return said


def declared(text: str | None) -> Declared:
    """What the store kept as *text*; what a newer version wrote beside it is left there."""
    said: Mapping[str, Any] = json.loads(text) if text else {}
    retry, message = said.get("retry"), said.get("message")
    return Declared(
        message=None if message is None else Message(**_known(Message, message)),
        retry=None if retry is None else contract(retry),
        confidence=_confidence(said["confidence"]) if "confidence" in said else None,
        evaluation=_evaluation(said["evaluation"]) if "evaluation" in said else None,
        **_known(Declared, said.get("diagnostics", {})),
    )


def contract(said: Mapping[str, Any]) -> Contract:
    """A retry contract as it was kept."""
    known = _known(Contract, said)
    if "deadline" in known:
        known["deadline"] = from_text(known["deadline"])
    side_effects = SideEffects(known.pop("side_effect_state", SideEffects.UNKNOWN))
    return Contract(**known, side_effect_state=side_effects)


def _confidence(said: Mapping[str, Any]) -> Confidence:
    least, most = said["range"]
    return Confidence(**{**_known(Confidence, said), "range": (least, most)})


def _evaluation(said: Mapping[str, Any]) -> Evaluation:
    fails, evidence = Fails(said["fails"]), tuple(said.get("evidence", ()))
    return Evaluation(**{**_known(Evaluation, said), "fails": fails, "evidence": evidence})


def _known(kind: type[Any], said: Mapping[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    return {name: value for name, value in said.items() if name in names and value is not None}
