"""A status that we emit is right, or it is not emitted."""

from typing import Any

import pytest

from tests.unit.asc.specimens import status
from turnkeeper.asc.refusals import PairMismatch, StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.status import Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope, Severity, is_scope


def extension(code: Any = 9500, name: str = "COFFEE_REQUIRED", **changed: Any) -> Status:
    return Status(**({"code": code, "name": name, "scope": "task", "terminal": True} | changed))


@pytest.mark.clause("REG-1", "ENV-1", "INV-1")
def test_a_code_never_travels_without_its_name_its_scope_and_whether_that_ends() -> None:
    said = status(Code.RATE_LIMITED, scope=Scope.TOOL_CALL, terminal=False)

    assert (said.code, said.name, said.scope, said.terminal) == (5001, "RATE_LIMITED", "tool_call", False)


@pytest.mark.clause("REG-2")
def test_a_status_whose_code_and_name_do_not_belong_together_is_not_made() -> None:
    with pytest.raises(PairMismatch):
        extension(5001, "TIMEOUT")


@pytest.mark.clause("REG-4")
@pytest.mark.parametrize("code", [9000, 9499, 9500, 9799, 9800, 9899])
def test_an_extension_is_emitted_with_a_code_from_its_range(code: int) -> None:
    assert extension(code).code == code


@pytest.mark.clause("REG-4", "CMP-2")
@pytest.mark.parametrize("code", [9900, 9999, 5999, 1001, 999, 0, -5001, 10_000, "9500", 9500.0, True, None])
def test_reserved_unassigned_and_impossible_codes_are_never_emitted(code: object) -> None:
    with pytest.raises(StatusRefused, match=r"status\.code"):
        extension(code)


@pytest.mark.clause("REG-1")
@pytest.mark.parametrize(
    "name", ["", "coffee", "COFFEE-REQUIRED", "_COFFEE", "COFFEE__X", "9_LIVES", "A" * 101]
)
def test_a_name_is_upper_snake_case(name: str) -> None:
    with pytest.raises(StatusRefused, match=r"status\.name"):
        extension(name=name)


@pytest.mark.clause("MOD-2")
@pytest.mark.parametrize("kind", [Kind.STATUS, Kind.CONDITION])
@pytest.mark.parametrize("code", [Code.PROMPT_CACHE_HIT, Code.RETRY_ATTEMPTED])
def test_an_event_is_never_an_outcome(code: Code, kind: Kind) -> None:
    with pytest.raises(StatusRefused, match=r"status\.kind"):
        status(code, kind=kind, terminal=False)


@pytest.mark.clause("MOD-2", "MOD-5")
def test_an_event_ends_nothing() -> None:
    with pytest.raises(StatusRefused, match=r"status\.terminal"):
        status(Code.FALLBACK_USED, kind=Kind.EVENT, terminal=True)


@pytest.mark.clause("MOD-3")
@pytest.mark.parametrize("scope", [*Scope, "turnkeeper.request", "org.example.batch_job"])
def test_a_scope_is_a_known_word_or_namespaced(scope: str) -> None:
    assert is_scope(scope)
    assert status(Code.TIMEOUT, scope=scope).scope == scope


@pytest.mark.clause("MOD-3")
@pytest.mark.parametrize("scope", ["", "request", "TASK", "turnkeeper.", "a b.c", "a.b\n", "x." + "y" * 100])
def test_a_word_of_ones_own_is_no_scope(scope: str) -> None:
    with pytest.raises(StatusRefused, match=r"status\.scope"):
        status(Code.TIMEOUT, scope=scope)


@pytest.mark.clause("MOD-1", "MOD-5")
@pytest.mark.parametrize(
    ("phase", "terminal"),
    [(Phase.QUEUED, True), (Phase.EXECUTING, True), (Phase.WAITING, True), (Phase.FINISHED, False)],
)
def test_a_phase_does_not_contradict_the_end(phase: Phase, *, terminal: bool) -> None:
    with pytest.raises(StatusRefused, match=r"status\.phase"):
        status(Code.TIMEOUT, phase=phase, terminal=terminal)


@pytest.mark.clause("MOD-1")
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("phase", [None, Phase.UNKNOWN])
def test_who_does_not_know_the_phase_may_say_so(phase: Phase | None, *, terminal: bool) -> None:
    assert status(Code.TIMEOUT, phase=phase, terminal=terminal).phase is phase


@pytest.mark.clause("MOD-5")
@pytest.mark.parametrize("terminal", [1, 0, None, "yes"])
def test_terminal_is_said_and_not_hinted_at(terminal: object) -> None:
    with pytest.raises(StatusRefused, match=r"status\.terminal"):
        status(Code.SUCCESS, terminal=terminal)


@pytest.mark.clause("INV-3", "MOD-6")
def test_a_status_can_be_more_urgent_here_than_elsewhere() -> None:
    urgent = status(Code.RATE_LIMITED, severity=Severity.CRITICAL)

    assert (urgent.code, urgent.severity) == (Code.RATE_LIMITED, Severity.CRITICAL)
