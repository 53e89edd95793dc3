"""What a host may declare with a task's end, in the shape it is sent; what it means is `service.declared`'s."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from turnkeeper.asc.parts import LONGEST_MESSAGE, Fails
from turnkeeper.asc.retry import SideEffects
from turnkeeper.edge import strict_json
from turnkeeper.edge.bodies import Sent, refusal, said_of_json
from turnkeeper.edge.instants import Instant
from turnkeeper.edge.manifests import Count

DETAILS_BYTES = 4_096
MOST_EVIDENCE = 16


def _small(details: dict[str, Any]) -> dict[str, Any]:
    if (size := strict_json.size(strict_json.written(details))) > DETAILS_BYTES:
        raise refusal(f"is {size} bytes serialised; at most {DETAILS_BYTES} are taken")
    return details


type Word = Annotated[str, Field(min_length=1, max_length=255)]
type Words = Annotated[str, Field(min_length=1, max_length=LONGEST_MESSAGE)]


class SaidMessage(Sent):
    """What the user may be told, and what developers may."""

    user: Words | None = None
    developer: Words | None = None
    locale: Word | None = None


class Promise(Sent):
    """What is promised about repeating what failed (RET-1)."""

    retryable: bool = False
    safe: bool = False
    after_ms: Count | None = None
    strategy: Word | None = None
    attempt: Count | None = None
    max_attempts: Count | None = None
    deadline: Instant | None = None
    idempotency_key: Word | None = None
    side_effect_state: SideEffects = Field(SideEffects.UNKNOWN, strict=False)
    reconciliation_action: Word | None = None


class Measure(Sent):
    """How sure somebody was, by which measure (ENV-7)."""

    metric: Word
    value: float
    range: Annotated[list[float], Field(min_length=2, max_length=2)]
    threshold: float
    method: Word
    evaluator: Word


class Judgement(Sent):
    """Who judged, how, and on what (SEC-6)."""

    evaluator: Word
    version: Word
    method: Word
    fails: Fails = Field(strict=False)
    evidence: Annotated[list[Word], Field(max_length=MOST_EVIDENCE, default_factory=list)]


class Diagnostics(Sent):
    """What only operators may know."""

    dependency: Word | None = None
    resource_state: Word | None = None
    trace_id: Word | None = None
    span_id: Word | None = None
    details: Annotated[
        dict[str, Any], AfterValidator(_small), said_of_json(DETAILS_BYTES), Field(default_factory=dict)
    ]


class Declaration(Sent):
    """How a task ends, beside its code."""

    message: SaidMessage | None = None
    retry: Promise | None = None
    confidence: Measure | None = None
    evaluation: Judgement | None = None
    diagnostics: Diagnostics | None = None

    def declared(self) -> str | None:
        """All of it as the store keeps it; None where nothing was declared."""
        said = self.model_dump(mode="json", include=set(Declaration.model_fields), exclude_none=True)
        return strict_json.written(said) if said else None
