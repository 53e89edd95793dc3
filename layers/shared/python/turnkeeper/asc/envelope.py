"""An envelope as it came: unknown codes, fields, scopes and phases are kept, and what is damaged is refused.

Nothing is guessed in its favour: what is not said is neither terminal nor safe to retry. What contradicts itself or
the registry is an IntegrityError, in any depth; `document` is what came, to the letter.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SkipValidation,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import ErrorDetails

from turnkeeper.asc.assignments import CODES, check_pair, severity
from turnkeeper.asc.envelope_json import parsed
from turnkeeper.asc.refusals import EnvelopeRefused, IntegrityError, PairMismatch, Place, StatusRefused
from turnkeeper.asc.registry import CLASSES, Code, class_of, registered
from turnkeeper.asc.report import DEEPEST, MOST
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.vocabulary import LONGEST_NAME, Kind, Phase, Severity, is_name

_MOST_PLACES = 20
_LONGEST_ID = 1_000
_ENVELOPE, _REFERENCE = "<envelope>", "<reference>"
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,12})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)


class Contradiction(StatusRefused):
    """An envelope that says two things that cannot both be true."""


def _instant(said: object) -> datetime:
    try:
        if isinstance(said, str) and _INSTANT.fullmatch(said):
            found = datetime.fromisoformat(said.upper())
            # Whoever compares or keeps it needs it in UTC, where no calendar may have it.
            found.astimezone(UTC)
            return found
    except (ValueError, OverflowError):
        pass
    raise ValueError("is no RFC 3339 date-time with an offset")


def _list(said: object) -> object:
    return [] if said is None else said


def _phase(said: object) -> Phase:
    return Phase(said) if isinstance(said, str) and said in set(Phase) else Phase.UNKNOWN


def _severity(said: object) -> Severity | None:
    return Severity(said) if isinstance(said, str) and said in set(Severity) else None


def _side_effects(said: object) -> SideEffects:
    return SideEffects(said) if isinstance(said, str) and said in set(SideEffects) else SideEffects.UNKNOWN


def _name(said: str) -> str:
    if not is_name(said):
        raise ValueError("is not upper SNAKE_CASE")
    return said


type _Instant = Annotated[datetime, BeforeValidator(_instant)]
type _Count = Annotated[StrictInt, Field(ge=0)]
type _Code = Annotated[StrictInt, Field(ge=CODES.start, lt=CODES.stop)]
type _Name = Annotated[StrictStr, AfterValidator(_name)]
type _Word = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST_NAME)]
type _List[Thing] = Annotated[list[Thing], BeforeValidator(_list), Field(max_length=MOST)]
type _Id = Annotated[StrictStr, Field(min_length=1, max_length=_LONGEST_ID)]


class _Heard(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class HeardStatus(_Heard):
    """A status as it was said; *known* and *class_* are what we make of its code (REG-3)."""

    code: _Code
    name: _Name
    kind: Kind
    scope: _Word
    terminal: StrictBool
    phase: Annotated[Phase, BeforeValidator(_phase)] | None = None
    said_severity: Annotated[Severity | None, BeforeValidator(_severity)] = Field(None, alias="severity")
    said_class: Any = Field(None, alias="class")

    @property
    def known(self) -> Code | None:
        """The registered code it is; None for one that only its class explains."""
        return registered(self.code)

    @property
    def class_(self) -> str:
        """The class by the first digit, whatever else was said (INV-6, CMP-6)."""
        return class_of(self.code)

    @property
    def severity(self) -> Severity:
        """How urgent the sender takes it to be, else the default."""
        return self.said_severity or severity(self.code)

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        check_pair(self.code, self.name)
        if self.said_class in CLASSES.values() and self.said_class != self.class_:
            raise Contradiction("status.class", f"is not that of {self.code}")
        if self.class_ == "event" and (self.kind is not Kind.EVENT or self.terminal):
            raise Contradiction("status.kind", "makes an outcome of an event")
        return self


class HeardContract(_Heard):
    """A retry contract as it was said; an unknown side effect state counts as unknown."""

    retryable: StrictBool = False
    safe: StrictBool = False
    after_ms: _Count | None = None
    strategy: StrictStr | None = None
    attempt: _Count | None = None
    max_attempts: _Count | None = None
    deadline: _Instant | None = None
    idempotency_key: _Id | None = None
    side_effect_state: Annotated[SideEffects, BeforeValidator(_side_effects)] = SideEffects.UNKNOWN
    reconciliation_action: StrictStr | None = None


class HeardReference(_Heard):
    """A cause that is only pointed at (ENV-5)."""

    ref: _Id
    code: _Code | None = None
    name: _Name | None = None

    @model_validator(mode="after")
    def _is_a_pair(self) -> Self:
        if self.code is not None and self.name is not None:
            check_pair(self.code, self.name)
        return self


class HeardMessage(_Heard):
    """Words for people; nobody decides by them (ENV-4)."""

    user: StrictStr | None = None
    developer: StrictStr | None = None
    locale: StrictStr | None = None


class HeardConfidence(_Heard):
    """A confidence that says what it is of; a bare number is refused (ENV-7)."""

    metric: _Word
    value: StrictFloat
    range: tuple[StrictFloat, StrictFloat]
    threshold: StrictFloat
    method: _Word
    evaluator: _Word


def _cause_kind(said: object) -> str | None:
    if not isinstance(said, dict):
        return None
    return _ENVELOPE if "status" in said else _REFERENCE


type _Cause = Annotated[
    Annotated[Envelope, Tag(_ENVELOPE)] | Annotated[HeardReference, Tag(_REFERENCE)],
    Discriminator(_cause_kind),
]


class Envelope(_Heard):
    """What somebody else reported: the fields that we understand, and the whole *document*."""

    document: Annotated[dict[str, Any], SkipValidation, Field(repr=False)]
    spec_version: Annotated[StrictStr, Field(pattern=r"^\d{1,6}\.\d{1,6}\.\d{1,6}\S{0,50}$")]
    status: HeardStatus
    occurred_at: _Instant
    message: HeardMessage | None = None
    contract: HeardContract | None = Field(None, alias="retry")
    remediation: _List[dict[str, Any]] = []
    provenance: dict[str, Any] | None = None
    causes: _List[_Cause] = []
    conditions: _List["Envelope"] = []
    events: _List["Envelope"] = []
    confidence: HeardConfidence | None = None
    details: dict[str, Any] | None = None
    issuer: _Id | None = None
    observed_by: Any = None
    authority: Any = None
    integrity: Any = None

    @model_validator(mode="before")
    @classmethod
    def _keep_the_document(cls, said: object) -> object:
        return {**said, "document": said} if isinstance(said, dict) else said

    @model_validator(mode="after")
    def _lists_what_it_says(self) -> Self:
        for part, kind in (("conditions", Kind.CONDITION), ("events", Kind.EVENT)):
            if any(one.status.kind is not kind for one in getattr(self, part)):
                raise Contradiction(part, "has one of another kind")
        return self

    @property
    def retry(self) -> Contract | None:
        """What was promised about a retry, as `retry.should_retry` takes it."""
        return None if self.contract is None else Contract(**dict(self.contract))

    @property
    def report_id(self) -> str | None:
        """The id by which others may point at this report."""
        found = (self.provenance or {}).get("report_id")
        return found if isinstance(found, str) else None


def read(source: str | bytes | Mapping[str, Any]) -> Envelope:
    """The envelope that *source* is, or EnvelopeRefused with where and why; an IntegrityError if it was altered."""
    document = parsed(source)
    try:
        envelope = Envelope.model_validate(document)
        _refuse_cycles(envelope, frozenset(), 1)
    except ValidationError as error:
        raise _refusal(error.errors(include_url=False, include_input=False)) from None
    except StatusRefused as error:
        raise EnvelopeRefused(Place(error.at, error.problem)) from None
    return envelope


def _inside(envelope: Envelope) -> Iterator[Envelope]:
    yield from (cause for cause in envelope.causes if isinstance(cause, Envelope))
    yield from envelope.conditions
    yield from envelope.events


def _refuse_cycles(envelope: Envelope, above: frozenset[str], depth: int) -> None:
    if depth > DEEPEST:
        raise StatusRefused("causes", f"are nested deeper than {DEEPEST}")
    own = envelope.report_id
    path = above | {own} if own else above
    refs = {cause.ref for cause in envelope.causes if isinstance(cause, HeardReference)}
    if own in above or refs & path:
        raise Contradiction("causes", "lead back to where they began")
    for inner in _inside(envelope):
        _refuse_cycles(inner, path, depth + 1)


def _refusal(errors: list[ErrorDetails]) -> EnvelopeRefused:
    reasons = [error.get("ctx", {}).get("error") for error in errors]
    altered = any(isinstance(reason, PairMismatch | Contradiction) for reason in reasons)
    places = [
        Place(_path(error["loc"]), _problem(error["msg"], reason))
        for error, reason in zip(errors[:_MOST_PLACES], reasons, strict=False)
    ]
    return (IntegrityError if altered else EnvelopeRefused)(*places)


def _problem(words: str, reason: object) -> str:
    if isinstance(reason, StatusRefused):
        return reason.problem
    return str(reason) if isinstance(reason, ValueError) else words


def _path(loc: tuple[int | str, ...]) -> str:
    steps = (step for step in loc if step not in (_ENVELOPE, _REFERENCE))
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return path.removeprefix(".") or "envelope"
