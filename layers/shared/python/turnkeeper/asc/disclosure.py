"""One internal report, a different envelope for each reader: a table says from which profile on a field is shown.

What the table does not name is withheld, so a new field is secret until somebody decides otherwise (SEC-1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import MappingProxyType
from typing import Any

from turnkeeper.asc.assignments import severity
from turnkeeper.asc.parts import Provenance, Reference
from turnkeeper.asc.registry import SPEC_VERSION, Code, class_of
from turnkeeper.asc.report import Report, nested
from turnkeeper.asc.status import Mask, Profile
from turnkeeper.asc.vocabulary import Severity

MEDIA_TYPE = "application/agent-status+json"

SHOWN_FROM: Mapping[str, Profile] = {
    "spec_version": Profile.PUBLIC,
    "status.code": Profile.PUBLIC,
    "status.name": Profile.PUBLIC,
    "status.class": Profile.PUBLIC,
    "status.kind": Profile.PUBLIC,
    "status.scope": Profile.PUBLIC,
    "status.terminal": Profile.PUBLIC,
    "status.phase": Profile.PUBLIC,
    "status.severity": Profile.DEVELOPER,
    "occurred_at": Profile.PUBLIC,
    "message.user": Profile.PUBLIC,
    "message.locale": Profile.PUBLIC,
    "message.developer": Profile.DEVELOPER,
    "remediation.action": Profile.PUBLIC,
    "remediation.detail": Profile.DEVELOPER,
    "retry": Profile.DEVELOPER,
    "causes": Profile.DEVELOPER,
    "conditions": Profile.DEVELOPER,
    "events": Profile.DEVELOPER,
    "provenance.correlation_id": Profile.PUBLIC,
    "provenance.report_id": Profile.DEVELOPER,
    "provenance.provider": Profile.DEVELOPER,
    "provenance.composition": Profile.DEVELOPER,
    "provenance.dependency": Profile.OPERATOR,
    "provenance.resource_state": Profile.OPERATOR,
    "provenance.trace_id": Profile.OPERATOR,
    "provenance.span_id": Profile.OPERATOR,
    "provenance.policy_version": Profile.AUDIT,
    "provenance.evaluation": Profile.AUDIT,
    "provenance.approver": Profile.AUDIT,
    "provenance.history": Profile.AUDIT,
    "confidence": Profile.OPERATOR,
    "details": Profile.OPERATOR,
    "issuer": Profile.DEVELOPER,
    "observed_by": Profile.DEVELOPER,
    "authority": Profile.DEVELOPER,
    "integrity": Profile.OPERATOR,
}
"""The first profile that sees a field, by its path in the envelope; a path covers all below it."""

GUARDED = frozenset({"confidence", "details"})
"""What would betray a guardrail's threshold or expression; nobody is told, at any depth (SEC-3)."""

_NESTED = ("causes", "conditions", "events")


def disclosed(
    report: Report, profile: Profile, *, severities: Mapping[int, Severity] = MappingProxyType({})
) -> dict[str, Any]:
    """The envelope that *profile* is given of *report*, as JSON values (ENV-1, SEC-1).

    *severities*: how urgent codes are to the deployment, where a report does not say for itself (MOD-6).
    """
    withheld = GUARDED if _has_guardrail(report) else frozenset[str]()
    return _told(report, _Reader(profile, withheld, severities))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Who reads, what is withheld from everybody, and how urgent codes are here."""

    profile: Profile
    withheld: frozenset[str]
    severities: Mapping[int, Severity]


def _told(report: Report, reader: _Reader) -> dict[str, Any]:
    mask = report.mask
    if mask is not None and reader.profile < mask.below:
        report = _bare(report, mask)
    said = _own(report, reader.severities)
    envelope: dict[str, Any] = _shown(said, "", reader.profile, reader.withheld)
    for part in _NESTED:
        inside: tuple[Report | Reference, ...] = getattr(report, part)
        if inside and SHOWN_FROM[part] <= reader.profile:
            envelope[part] = [
                _told(one, reader) if isinstance(one, Report) else _plain(one) for one in inside
            ]
    return envelope


def _bare(report: Report, mask: Mask) -> Report:
    """*mask* in place of the report's status, and no word, cause or contract that would explain the difference."""
    known = report.provenance.correlation_id if report.provenance else None
    at = mask.occurred_at or report.occurred_at
    return Report(status=mask.status, occurred_at=at, provenance=Provenance(correlation_id=known))


def _own(report: Report, severities: Mapping[int, Severity]) -> dict[str, Any]:
    """Everything that *report* says itself, the reports inside it left out."""
    said = _said(report, without=(*_NESTED, "mask", "boundary"))
    said["status"] |= {"class": class_of(report.status.code)}
    said["status"].setdefault("severity", severity(report.status.code, severities).value)
    return {"spec_version": SPEC_VERSION, **said, **(_said(report.boundary) if report.boundary else {})}


def _shown(value: Any, path: str, profile: Profile, withheld: frozenset[str]) -> Any:
    """What *profile* may see below *path*, which the table does not name itself; a value there is not shown."""
    if isinstance(value, list):
        return [seen for one in value if (seen := _shown(one, path, profile, withheld))]
    shown: dict[str, Any] = {}
    for key, inner in value.items() if isinstance(value, dict) else ():
        at = f"{path}.{key}" if path else key
        if at in SHOWN_FROM:
            if SHOWN_FROM[at] <= profile and at not in withheld:
                shown[key] = inner
        elif below := _shown(inner, at, profile, withheld):
            shown[key] = below
    return shown


def _has_guardrail(report: Report) -> bool:
    own = {report.status.code, *(cause.code for cause in report.causes if isinstance(cause, Reference))}
    if report.provenance and report.provenance.composition:
        own |= {unit.code for unit in report.provenance.composition.units}
    return Code.GUARDRAIL_BLOCKED in own or any(map(_has_guardrail, nested(report)))


def _said(part: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of *part* that say something; what is None or empty says nothing."""
    said = {one.name: getattr(part, one.name) for one in fields(part) if one.name not in without}
    return {name: _plain(one) for name, one in said.items() if one is not None and one not in ((), {})}


def _plain(value: Any) -> Any:
    """*value* in JSON's terms."""
    if is_dataclass(value):
        return _said(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    return instant(value) if isinstance(value, datetime) else value


def instant(moment: datetime) -> str:
    """*moment* by RFC 3339, its offset with it (ENV-1)."""
    said = moment.isoformat()
    return f"{said.removesuffix('+00:00')}Z" if said.endswith("+00:00") else said
