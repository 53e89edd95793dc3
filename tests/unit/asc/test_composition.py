"""A parent's status is chosen by the parent's rule; its children are all kept, and none of them decides."""

import pytest

from tests.unit.asc.specimens import NOW, event, report, status
from turnkeeper.asc import composition, envelope
from turnkeeper.asc.composition import EVERY_UNIT, Rule, admitted, at_least, compose, decided
from turnkeeper.asc.disclosure import disclosed
from turnkeeper.asc.parts import Provenance, Reference, Unit
from turnkeeper.asc.refusals import NoAuthority, PairMismatch, StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import MOST, Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Profile


def child(
    name: str,
    code: Code,
    *,
    effects: SideEffects = SideEffects.NONE,
    terminal: bool = True,
    requested: bool = True,
) -> Unit:
    """The unit *name* that came to *code*."""
    made = Report(
        status=status(code, terminal=terminal),
        occurred_at=NOW,
        retry=Contract(side_effect_state=effects, reconciliation_action="look_up"),
    )
    return composition.unit(name, made, report_id=f"report-{name}", requested=requested)


@pytest.mark.clause("MOD-4")
@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([Code.SUCCESS, Code.SUCCESS], Code.SUCCESS),
        ([Code.SUCCESS, Code.NO_ACTION_REQUIRED], Code.SUCCESS),
        ([Code.NO_ACTION_REQUIRED] * 2, Code.NO_ACTION_REQUIRED),
        ([Code.SUCCESS, Code.SUCCESS_WITH_WARNINGS], Code.SUCCESS_WITH_WARNINGS),
        ([Code.SUCCESS, Code.FATAL_ERROR], Code.PARTIAL_SUCCESS),
        ([Code.SUCCESS, Code.PARTIAL_SUCCESS], Code.PARTIAL_SUCCESS),
        ([Code.SUCCESS, Code.RESULT_STATE_UNKNOWN], Code.RESULT_STATE_UNKNOWN),
        ([Code.CANCELLED] * 2, Code.CANCELLED),
        ([Code.CANCELLED, Code.TIMEOUT], Code.FATAL_ERROR),
        ([Code.PERMISSION_DENIED], Code.FATAL_ERROR),
    ],
)
def test_every_unit_counts_by_the_rule_that_every_unit_counts(codes: list[Code], code: Code) -> None:
    units = [child(str(number), one) for number, one in enumerate(codes)]

    assert compose(units, EVERY_UNIT).code is code


@pytest.mark.clause("MOD-4", "MOD-5")
def test_what_has_not_ended_keeps_its_parent_waiting_and_not_done() -> None:
    units = [child("a", Code.SUCCESS), child("b", Code.SUCCESS, terminal=False)]

    assert compose(units, EVERY_UNIT).code is Code.WAITING_DEPENDENCY
    assert compose(units, at_least(2)).code is Code.WAITING_DEPENDENCY


@pytest.mark.clause("MOD-4")
def test_the_parent_keeps_each_unit_its_side_effects_the_link_and_the_rule() -> None:
    paid = child("pay", Code.SUCCESS, effects=SideEffects.CONFIRMED)
    lost = child("ship", Code.RESULT_STATE_UNKNOWN, effects=SideEffects.UNKNOWN)
    made = compose([paid, lost], EVERY_UNIT)

    assert made.composition.rule == "every_unit"
    assert made.composition.units == (paid, lost)
    assert made.composition.units[1].report_id == "report-ship"
    assert [one.side_effect_state for one in made.composition.units] == ["confirmed", "unknown"]
    assert made.causes == (Reference(ref="report-ship", code=6005, name="RESULT_STATE_UNKNOWN"),)


@pytest.mark.clause("MOD-4")
def test_a_parent_of_many_keeps_them_all_and_explains_itself_by_the_first() -> None:
    made = compose([child(str(number), Code.TIMEOUT) for number in range(MOST + 1)], EVERY_UNIT)

    assert len(made.composition.units) == MOST + 1
    assert report(made.code, causes=made.causes).causes[-1] == Reference(
        ref=f"report-{MOST - 1}", code=5004, name="TIMEOUT"
    )


@pytest.mark.clause("MOD-4", "ENV-5")
def test_an_envelope_shows_what_its_status_was_made_of() -> None:
    made = compose([child("a", Code.SUCCESS), child("b", Code.TIMEOUT)], EVERY_UNIT)
    told = disclosed(
        report(made.code, causes=made.causes, provenance=Provenance(composition=made.composition)),
        Profile.DEVELOPER,
    )

    assert told["causes"] == [{"ref": "report-b", "code": 5004, "name": "TIMEOUT"}]
    assert told["provenance"]["composition"]["rule"] == "every_unit"
    assert [one["name"] for one in told["provenance"]["composition"]["units"]] == ["SUCCESS", "TIMEOUT"]
    assert envelope.read(told).status.known is Code.PARTIAL_SUCCESS


@pytest.mark.clause("MOD-4", "SEC-4")
@pytest.mark.parametrize("code", [Code.FATAL_ERROR, Code.CANCELLED, Code.SUCCESS, Code.RESULT_STATE_UNKNOWN])
def test_a_child_never_decides_its_parents_status(code: Code) -> None:
    own = decided("acme.own_word", Code.HUMAN_INPUT_REQUIRED)
    made = compose([child("a", code)], own)

    assert made.code is Code.HUMAN_INPUT_REQUIRED
    assert made.composition.rule == "acme.own_word"
    assert made.composition.units[0].code == code


@pytest.mark.clause("REG-6")
@pytest.mark.parametrize("code", [Code.SUCCESS, Code.SUCCESS_WITH_WARNINGS, Code.NO_ACTION_REQUIRED])
def test_no_rule_calls_it_a_success_when_a_requested_unit_was_not_reached(code: Code) -> None:
    units = [child("a", Code.SUCCESS), child("b", Code.TIMEOUT)]

    with pytest.raises(StatusRefused, match="requested unit was not reached"):
        compose(units, decided("wishful", code))
    assert compose(units, decided("honest", Code.PARTIAL_SUCCESS)).code is Code.PARTIAL_SUCCESS


@pytest.mark.clause("REG-6")
@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([Code.SUCCESS, Code.SUCCESS, Code.TIMEOUT], Code.SUCCESS_WITH_WARNINGS),
        ([Code.SUCCESS, Code.SUCCESS, Code.SUCCESS], Code.SUCCESS),
        ([Code.SUCCESS, Code.TIMEOUT, Code.TIMEOUT], Code.PARTIAL_SUCCESS),
    ],
)
def test_of_several_that_can_each_do_it_some_are_enough(codes: list[Code], code: Code) -> None:
    units = [child(str(number), one, requested=False) for number, one in enumerate(codes)]
    made = compose(units, at_least(2))

    assert (made.code, made.composition.rule) == (code, "at_least_2")


@pytest.mark.clause("MOD-2")
def test_no_rule_makes_an_outcome_of_an_event() -> None:
    with pytest.raises(StatusRefused, match="is an event's"):
        compose([], Rule("odd", lambda _: Code.FALLBACK_USED))
    with pytest.raises(StatusRefused, match="only an outcome"):
        composition.unit("a", event(Code.FALLBACK_USED))


@pytest.mark.clause("MOD-4", "RET-1")
@pytest.mark.parametrize(
    ("states", "together"),
    [
        (["none", "none"], "none"),
        (["none", "confirmed"], "confirmed"),
        (["confirmed", "possible"], "possible"),
        (["possible", "unknown", "confirmed"], "unknown"),
        ([], "none"),
    ],
)
def test_side_effects_taken_together_are_as_uncertain_as_the_least_certain(
    states: list[str], together: str
) -> None:
    units = [child(str(n), Code.SUCCESS, effects=SideEffects(state)) for n, state in enumerate(states)]

    assert compose(units, decided("own", Code.SUCCESS)).side_effects == together


@pytest.mark.clause("SEC-4", "CMP-5", "CMP-6")
def test_a_foreign_child_is_a_unit_with_its_code_and_without_its_words() -> None:
    heard = envelope.read(
        {
            "spec_version": "0.1.0",
            "status": {"code": 2999, "name": "NEW_JOY", "kind": "status", "scope": "task", "terminal": True},
            "occurred_at": "2026-03-01T12:00:00Z",
            "message": {"user": "hello"},
            "authority": "parent",
        }
    )
    unit = composition.unit("theirs", heard)

    assert unit == Unit(
        unit="theirs", code=2999, name="NEW_JOY", terminal=True, side_effect_state=SideEffects.UNKNOWN
    )
    assert compose([unit], EVERY_UNIT).code is Code.SUCCESS


@pytest.mark.clause("REG-2")
def test_a_child_with_a_forged_name_is_no_unit() -> None:
    forged = report(Code.SUCCESS)
    object.__setattr__(forged.status, "name", "FATAL_ERROR")

    with pytest.raises(PairMismatch):
        composition.unit("a", forged)


@pytest.mark.clause("SEC-4")
def test_only_who_was_given_the_right_reports_across_a_boundary() -> None:
    authorities = {"acme": {"tool_call"}}
    found = admitted(
        issuer="acme",
        scope="tool_call",
        authorities=authorities,
        observed_by="us",
        integrity="iam_signature",
    )

    assert (found.issuer, found.observed_by, found.integrity) == ("acme", "us", "iam_signature")
    assert found.authority == "may_report_on:tool_call"


@pytest.mark.clause("SEC-4")
@pytest.mark.parametrize(
    ("issuer", "scope"), [("acme", "task"), ("evil", "tool_call"), (None, "tool_call"), ("", "tool_call")]
)
def test_nobody_else_does(issuer: str | None, scope: str) -> None:
    with pytest.raises(NoAuthority):
        admitted(
            issuer=issuer,
            scope=scope,
            authorities={"acme": {"tool_call"}},
            observed_by="us",
            integrity="none",
        )
