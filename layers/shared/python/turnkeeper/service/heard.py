"""What others reported to a task, as it was kept, and what it comes to in the task's own report.

None of it decides how the task stands (MOD-4, SEC-4): outcomes are units of the task, conditions and events stand
beside it, and what we cannot say ourselves is only pointed at.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from turnkeeper.asc.composition import Composed, compose, decided, reached
from turnkeeper.asc.parts import Boundary, Composition, Provenance, Reference, Unit
from turnkeeper.asc.refusals import StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Status
from turnkeeper.asc.vocabulary import Kind, Phase, Severity
from turnkeeper.domain.instants import from_text
from turnkeeper.domain.task import Task
from turnkeeper.service.declared import contract


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One report as it was kept; *unit* is whose, and *requested* whether the task's goal needs it."""

    unit: str
    requested: bool
    code: int
    name: str
    kind: Kind
    scope: str
    terminal: bool
    phase: Phase | None
    severity: Severity | None
    occurred_at: datetime
    retry: Contract | None
    boundary: Boundary
    report_id: str | None
    provider: str | None
    dependency: str | None
    resource_state: str | None


def heard(text: str) -> Heard:
    """The report that the store kept as *text*."""
    said: dict[str, Any] = json.loads(text)
    phase, severity, retry = said.get("phase"), said.get("severity"), said.get("retry")
    return Heard(
        unit=said["unit"],
        requested=said["requested"],
        code=said["code"],
        name=said["name"],
        kind=Kind(said["kind"]),
        scope=said["scope"],
        terminal=said["terminal"],
        phase=Phase(phase) if phase else None,
        severity=Severity(severity) if severity else None,
        occurred_at=from_text(said["occurred_at"]),
        retry=None if retry is None else contract(retry),
        boundary=Boundary(**said["boundary"]),
        report_id=said.get("report_id"),
        provider=said.get("provider"),
        dependency=said.get("dependency"),
        resource_state=said.get("resource_state"),
    )


def units(reports: Iterable[Heard]) -> list[Unit]:
    """Each unit as it was last reported, in the order in which they were first heard of.

    Once the task's goal needs a unit, it goes on to.
    """
    latest: dict[str, Unit] = {}
    for one in reports:
        if one.kind is Kind.STATUS:
            before = latest.get(one.unit)
            latest[one.unit] = Unit(
                unit=one.unit,
                code=one.code,
                name=one.name,
                terminal=one.terminal,
                side_effect_state=_changed(one, before),
                requested=one.requested or (before is not None and before.requested),
                report_id=one.report_id,
            )
    return list(latest.values())


def unreached(reports: Iterable[Heard]) -> int:
    """How many units the task's goal needs and that were not reached."""
    return sum(one.requested and not reached(one) for one in units(reports))


def composed(task: Task, code: Code, reports: Iterable[Heard]) -> Composed | None:
    """*task*'s status with the units that stand behind it: the task's own word, whatever they came to."""
    if not (found := units(reports)):
        return None
    rule = "declared_by_its_host" if task.is_terminal else "where_the_task_stands"
    try:
        return compose(found, decided(rule, code))
    except StatusRefused:
        # An end that nobody was there to declare; its units are told all the same.
        return Composed(code, Composition(rule="ended_as_announced", units=tuple(found)), ())


def beside_it(reports: Iterable[Heard], kind: Kind) -> Iterator[Report]:
    """The reports of *kind* that we can say ourselves, the latest of each id, in order of occurrence."""
    found = (report for one in _latest(reports, kind) if (report := _ours(one)))
    yield from sorted(found, key=lambda report: report.occurred_at)


def only_pointed_at(reports: Sequence[Heard]) -> Iterator[Reference]:
    """Conditions and events with a code or a scope that we cannot say ourselves."""
    for kind in (Kind.CONDITION, Kind.EVENT):
        for one in _latest(reports, kind):
            if _ours(one) is None:
                yield Reference(ref=one.report_id or one.unit, code=one.code, name=one.name)


def _latest(reports: Iterable[Heard], kind: Kind) -> list[Heard]:
    named: dict[object, Heard] = {}
    for place, one in enumerate(reports):
        if one.kind is kind:
            named[one.report_id or place] = one
    return list(named.values())


def _ours(one: Heard) -> Report | None:
    """*one* in words of ours, if these can say it: the words that came with it stay behind (SEC-5)."""
    try:
        status = Status(
            code=one.code,
            name=one.name,
            scope=one.scope,
            terminal=one.terminal,
            kind=one.kind,
            phase=one.phase,
            severity=one.severity,
        )
        return Report(
            status=status,
            occurred_at=one.occurred_at,
            retry=one.retry,
            boundary=one.boundary,
            provenance=Provenance(
                report_id=one.report_id,
                provider=one.provider,
                dependency=one.dependency,
                resource_state=one.resource_state,
            ),
        )
    except StatusRefused:
        return None


def _changed(one: Heard, before: Unit | None) -> SideEffects:
    """What the unit may have changed by now: what is committed stays so, whatever it says later."""
    if before is not None and before.side_effect_state is SideEffects.CONFIRMED:
        return SideEffects.CONFIRMED
    return one.retry.side_effect_state if one.retry else SideEffects.UNKNOWN
