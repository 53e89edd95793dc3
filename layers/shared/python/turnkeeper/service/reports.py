"""A report from elsewhere, taken under the turn's fence: heard tolerantly, and admitted by local policy (SEC-4).

What it says of its own authority is not asked, and its words are not kept (SEC-5).
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from turnkeeper.asc import envelope
from turnkeeper.asc.assignments import Range, range_of
from turnkeeper.asc.composition import admitted
from turnkeeper.asc.envelope import Envelope, HeardContract
from turnkeeper.asc.parts import Boundary
from turnkeeper.asc.refusals import EnvelopeRefused, NoAuthority
from turnkeeper.domain import transitions
from turnkeeper.domain.errors import InvalidInput, Place
from turnkeeper.domain.instants import to_text
from turnkeeper.domain.task import Task
from turnkeeper.domain.transitions import Change
from turnkeeper.service.heard import heard, unreached
from turnkeeper.service.host_turns import Asked, change
from turnkeeper.service.runtime import Runtime
from turnkeeper.store import beside

OBSERVER = "turnkeeper"
INTEGRITY = "iam_signature"
LONGEST = 255
_SAID = ("provider", "dependency", "resource_state")


def attach(
    runtime: Runtime,
    asked: Asked,
    *,
    fence: int,
    document: Mapping[str, Any],
    unit: str | None = None,
    requested: bool = False,
) -> Task:
    """The task with *document* among its reports, as what the *unit* of its turn came to."""
    said = _read(document)
    kept = _kept(said, _admitted(runtime, asked, said), unit=unit, requested=requested)
    _refuse_our_own_ids(asked.task_id, kept)
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))

    def decide(current: Task, _now: datetime) -> Change:
        before = beside.reports(runtime.table, current) if current.reports else ()
        left = unreached(map(heard, (*before, text)))
        return transitions.attach(current, fence=fence, report=text, unreached=left)

    return change(runtime, asked, "reports", decide)


def _read(document: Mapping[str, Any]) -> Envelope:
    try:
        said = envelope.read(document)
    except EnvelopeRefused as refused:
        places = [Place(f"report.{place.at}", place.problem) for place in refused.places]
        raise InvalidInput(places) from None
    if range_of(said.status.code) is Range.RESERVED:
        raise InvalidInput([Place("report.status.code", "is reserved and never emitted")])
    return said


def _admitted(runtime: Runtime, asked: Asked, said: Envelope) -> Boundary:
    """The boundary by which *said* counts: the host speaks for itself, others as far as the deployment lets them."""
    issuer, scope = said.issuer or asked.principal, said.status.scope
    try:
        return admitted(
            issuer=issuer,
            scope=scope,
            authorities={**runtime.reporters, asked.principal: frozenset({scope})},
            observed_by=OBSERVER,
            integrity=INTEGRITY,
        )
    except NoAuthority as refused:
        raise InvalidInput([Place("report.issuer", str(refused).removesuffix("."))]) from None


def _kept(said: Envelope, boundary: Boundary, *, unit: str | None, requested: bool) -> dict[str, Any]:
    status, provenance = said.status, said.provenance or {}
    short = {name: _short(provenance.get(name)) for name in _SAID}
    return {
        "unit": unit or said.report_id or status.scope,
        "requested": requested,
        "report_id": said.report_id,
        "code": status.code,
        "name": status.name,
        "kind": status.kind.value,
        "scope": status.scope,
        "terminal": status.terminal,
        "phase": status.phase.value if status.phase else None,
        "severity": status.said_severity.value if status.said_severity else None,
        "occurred_at": to_text(said.occurred_at),
        "retry": None if said.contract is None else _contract(said.contract),
        "boundary": {
            "issuer": boundary.issuer,
            "observed_by": boundary.observed_by,
            "authority": boundary.authority,
            "integrity": boundary.integrity,
        },
        **{name: word for name, word in short.items() if word},
    }


def _contract(said: HeardContract) -> dict[str, Any]:
    """A contract as it is kept, without its words where they are no words but texts."""
    kept = said.model_dump(mode="json", exclude_none=True)
    return {name: value for name, value in kept.items() if not isinstance(value, str) or _short(value)}


def _short(word: object) -> str | None:
    return word if isinstance(word, str) and 0 < len(word) <= LONGEST else None


def _refuse_our_own_ids(task_id: str, kept: Mapping[str, Any]) -> None:
    """Nobody else's report has an id that the task's own may get: it would seem to have caused itself."""
    for at, name in (("report.provenance.report_id", "report_id"), ("unit", "unit")):
        said = kept[name]
        if said is not None and (said.startswith(task_id) or len(said) > LONGEST):
            raise InvalidInput(
                [Place(at, f"must have at most {LONGEST} characters and not begin as the task's id")]
            )
