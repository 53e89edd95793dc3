"""Where a task stands as one report: the projection of a task onto Agent Status Codes.

It follows from the task alone, and from what lies beside it only where the task says that something does. Who may
read how much of it is not decided here: `disclosure` knows.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from turnkeeper.asc.composition import Composed
from turnkeeper.asc.disclosure import disclosed
from turnkeeper.asc.parts import Provenance, Remediation
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Mask, Profile, Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope, Severity
from turnkeeper.domain.errors import TaskNotFound
from turnkeeper.domain.primary import lifecycle_phase, primary_code, public_code
from turnkeeper.domain.task import Phase as TaskPhase
from turnkeeper.domain.task import Task, Turn, TurnState
from turnkeeper.domain.waits import Verdict, Wait, WaitKind
from turnkeeper.service import host_turns
from turnkeeper.service.change import expire
from turnkeeper.service.declared import Declared, contract_of, declared
from turnkeeper.service.heard import beside_it, composed, heard, only_pointed_at
from turnkeeper.service.owned import check_id
from turnkeeper.service.runtime import Runtime
from turnkeeper.service.whole import whole
from turnkeeper.store import beside, tasks
from turnkeeper.store.beside import NOTHING, Beside

RECONCILE_BY = "the_host_says_what_became_of_the_turn"
MILLISECOND = timedelta(milliseconds=1)

WAYS_OUT: Mapping[Code, str] = MappingProxyType(
    {
        Code.HUMAN_INPUT_REQUIRED: "send_input",
        Code.HUMAN_APPROVAL_REQUIRED: "decide_the_review",
        Code.AUTHENTICATION_REQUIRED: "authorise_the_provider",
        Code.GUARDRAIL_BLOCKED: "start_a_new_task",
        Code.RESULT_STATE_UNKNOWN: "find_out_what_happened",
    }
)
"""What can be done about a status, in terms that anybody may see."""

AFTER: Mapping[Code, str] = MappingProxyType(
    {
        Code.HUMAN_INPUT_REQUIRED: "after_input",
        Code.HUMAN_APPROVAL_REQUIRED: "after_approval",
        Code.AUTHENTICATION_REQUIRED: "after_authorisation",
    }
)
"""The transition that has to come first; waiting alone mends none of these (RET-5)."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A task and its envelope for one profile; no envelope where the reader has it already."""

    task: Task
    tag: str
    envelope: Mapping[str, Any] | None


type Known = Callable[[str], bool]
"""Whether the reader has what a tag names."""


def for_person(runtime: Runtime, *, caller: str, task_id: str, develops: bool, is_known: Known) -> Seen:
    """The caller's own task, as the public sees it or, if the caller *develops*, as developers do."""
    task = whole(runtime, caller=caller, task_id=task_id)
    return _seen(runtime, task, Profile.DEVELOPER if develops else Profile.PUBLIC, is_known)


def for_host(runtime: Runtime, *, principal: str, task_id: str, is_known: Known) -> Seen:
    """A task of the host's own agents, as whoever operates it sees it."""
    task = host_turns.read(runtime, principal=principal, task_id=task_id)
    return _seen(runtime, task, Profile.OPERATOR, is_known)


def for_auditor(runtime: Runtime, *, task_id: str, is_known: Known) -> Seen:
    """Anybody's task, to the last; who may have that is for the caller to know."""
    check_id(task_id)
    task = tasks.read(runtime.table, task_id)
    if task is None or task.is_gone(runtime.clock()):
        raise TaskNotFound
    return _seen(runtime, expire(runtime, task, actor="reader"), Profile.AUDIT, is_known)


def _seen(runtime: Runtime, task: Task, profile: Profile, is_known: Known) -> Seen:
    tag = tag_of(task, profile, runtime.severities)
    if is_known(tag):
        return Seen(task, tag, None)
    found = beside.read(runtime.table, task, reviews=profile is Profile.AUDIT)
    severities = {code: Severity(word) for code, word in runtime.severities.items()}
    return Seen(task, tag, disclosed(report_of(task, found), profile, severities=severities))


def tag_of(task: Task, profile: Profile, severities: Mapping[int, str]) -> str:
    """What changes whenever the envelope may; it tells neither the profile nor the `write_revision`.

    What a deployment says of its codes is in every envelope, of tasks that ended long ago too.
    """
    urgent = ",".join(f"{code}={word}" for code, word in sorted(severities.items()))
    return hashlib.sha256(f"{profile.name}:{task.write_revision}:{urgent}".encode()).hexdigest()[:32]


def report_of(task: Task, found: Beside = NOTHING) -> Report:
    """Everything that is known about where *task* stands, with what was *found* beside it."""
    code, said = primary_code(task), declared(found.declared)
    reports = tuple(map(heard, found.reports))
    whole = composed(task, code, reports)
    return Report(
        status=_status(task, code),
        occurred_at=_since(task, code),
        message=said.message,
        retry=_last_contract(code, said, whole) if task.is_terminal else _contract(task, code),
        remediation=tuple(_ways_out(task, code)),
        provenance=_provenance(task, found, said, whole),
        causes=(*(whole.causes if whole and task.is_terminal else ()), *only_pointed_at(reports)),
        confidence=said.confidence,
        details=said.details,
        conditions=(*_conditions(task, code), *beside_it(reports, Kind.CONDITION)),
        events=tuple(
            sorted((*_events(task), *beside_it(reports, Kind.EVENT)), key=lambda event: event.occurred_at)
        ),
        mask=_mask(task) if public_code(task) is Code.RUNNING else None,
    )


def _mask(task: Task) -> Mask:
    """The public is told of a turn that runs, neither when that began to be untrue nor since when it is true."""
    status = _status(task, public_code(task))
    return Mask(status=status, below=Profile.DEVELOPER, occurred_at=task.runs_since)


def _status(task: Task, code: Code) -> Status:
    phase = Phase(lifecycle_phase(task, code))
    return Status.of(code, scope=Scope.TASK, terminal=task.is_terminal, phase=phase)


def _since(task: Task, code: Code) -> datetime:
    """Since when *code* is true of *task*."""
    if waited := [wait.since for wait in task.asks if _code_of(task, wait) is code]:
        return min(waited)
    turn = task.turn
    if turn is None:
        queued = task.phase is TaskPhase.PROCESSING
        return (task.last_received_at if queued else task.since) or task.created_at
    if turn.state is TurnState.RUNNABLE:
        return max((one.at for one in turn.resolutions), default=turn.started_at)
    return turn.changed_at or turn.started_at


def _code_of(task: Task, wait: Wait) -> Code:
    """What *wait* alone would make of the task."""
    if wait.kind is WaitKind.AUTHORISATION:
        return Code.AUTHENTICATION_REQUIRED
    if wait.kind is WaitKind.REVIEW and wait.reviewer == task.responsible_user:
        return Code.HUMAN_APPROVAL_REQUIRED
    return Code.WAITING_DEPENDENCY


def _contract(task: Task, code: Code) -> Contract | None:
    if strategy := AFTER.get(code):
        return Contract(strategy=strategy, side_effect_state=SideEffects.UNKNOWN)
    if code is Code.RETRY_SCHEDULED and task.turn is not None:
        return _scheduled(task, task.turn)
    return None


def _last_contract(code: Code, said: Declared, whole: Composed | None) -> Contract | None:
    """The contract of an end: what was declared, else what the units may have changed.

    A TIMEOUT says for itself that nothing can have changed.
    """
    contract = contract_of(code, said.retry)
    if contract is None and whole is not None and code is not Code.TIMEOUT:
        return Contract(side_effect_state=whole.side_effects)
    return contract


def _scheduled(task: Task, turn: Turn) -> Contract:
    """The next attempt is ours to make; *after_ms* counts from the report's own instant."""
    retry_at, failed_at = turn.retry_at, turn.changed_at
    pause = retry_at - failed_at if retry_at and failed_at else timedelta(0)
    return Contract(
        retryable=True,
        safe=task.terms.repeatable,
        after_ms=max(pause // MILLISECOND, 0),
        strategy="the_next_attempt_is_scheduled",
        attempt=turn.attempt,
        max_attempts=max(task.terms.attempts, turn.attempt),
        side_effect_state=SideEffects.POSSIBLE,
    )


def _ways_out(task: Task, code: Code) -> Iterator[Remediation]:
    if action := WAYS_OUT.get(code):
        providers = sorted({wait.provider for wait in task.waits if wait.provider})
        named = code is Code.AUTHENTICATION_REQUIRED
        yield Remediation(action=action, detail=", ".join(providers) if named else None)


def _provenance(task: Task, found: Beside, said: Declared, whole: Composed | None) -> Provenance:
    approvers = [
        review.reviewer
        for review in found.reviews
        if review.decision and review.decision.verdict is Verdict.DONE
    ]
    return Provenance(
        approver=", ".join(sorted(set(approvers))) or None,
        report_id=f"{task.id}.{task.log_number}",
        correlation_id=task.id,
        dependency=said.dependency,
        resource_state=said.resource_state,
        trace_id=said.trace_id or task.trace,
        span_id=said.span_id,
        evaluation=said.evaluation,
        composition=whole.composition if whole else None,
        history=f"{task.log_number}:{task.log_head}",
    )


def _conditions(task: Task, primary: Code) -> Iterator[Report]:
    """What the primary status does not speak of: waits, reviews of held inputs, and a lost turn in any case."""
    spoken_of = False
    for wait in task.asks:
        if wait.kind is WaitKind.RECONCILE:
            yield _condition(
                Code.RESULT_STATE_UNKNOWN,
                Scope.STEP,
                wait,
                retry=Contract(reconciliation_action=RECONCILE_BY, deadline=wait.deadline),
            )
        elif not spoken_of and _code_of(task, wait) is primary:
            spoken_of = True
        else:
            code = _code_of(task, wait)
            retry = Contract(strategy=AFTER[code]) if code in AFTER else None
            yield _condition(code, _SCOPES[wait.kind], wait, retry=retry)


_SCOPES = {
    WaitKind.AUTHORISATION: Scope.TOOL_CALL,
    WaitKind.REVIEW: Scope.POLICY_DECISION,
    WaitKind.CHILD: Scope.HANDOFF,
    WaitKind.HOST: Scope.STEP,
}


def _condition(code: Code, scope: Scope, wait: Wait, *, retry: Contract | None) -> Report:
    return Report(
        status=Status.of(code, scope=scope, terminal=False, kind=Kind.CONDITION),
        occurred_at=wait.since,
        retry=retry,
        provenance=Provenance(provider=wait.provider) if wait.provider else None,
    )


def _events(task: Task) -> Iterator[Report]:
    """An attempt of the turn that failed or was lost, or that is the second and more."""
    turn = task.turn
    if turn is None or turn.changed_at is None:
        return
    between = turn.state is TurnState.BETWEEN_ATTEMPTS
    yield Report(
        status=Status.of(Code.RETRY_ATTEMPTED, scope=Scope.STEP, terminal=False, kind=Kind.EVENT),
        occurred_at=turn.changed_at,
        retry=_scheduled(task, turn)
        if between
        else Contract(
            attempt=turn.attempt,
            max_attempts=max(task.terms.attempts, turn.attempt),
            side_effect_state=SideEffects.POSSIBLE,
        ),
    )
