"""One report, four readers: each is told what the table grants and nothing else."""

import json
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from tests.unit.asc.specimens import CONFIDENCE, EVALUATION, NOW, condition, everything, report, status
from turnkeeper.asc.disclosure import MEDIA_TYPE, SHOWN_FROM, disclosed
from turnkeeper.asc.parts import Boundary, Composition, Message, Provenance, Reference, Remediation, Unit
from turnkeeper.asc.registry import CLASSES, Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import Contract, SideEffects
from turnkeeper.asc.status import Mask, Profile, Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope

PUBLIC = {
    "spec_version": "0.1.0",
    "status": {
        "code": 5003,
        "name": "DEPENDENCY_UNAVAILABLE",
        "class": "transient_failure",
        "kind": "status",
        "scope": "task",
        "terminal": True,
        "phase": "FINISHED",
    },
    "occurred_at": "2026-03-01T12:00:00Z",
    "message": {"user": "Try again later.", "locale": "en"},
    "remediation": [{"action": "try_later"}],
    "provenance": {"correlation_id": "c-1"},
}
BLOCKED_WITH_ITS_REASONS = report(
    Code.GUARDRAIL_BLOCKED,
    message=Message(user="Leave out the account number.", developer="Rule pii-3 matched."),
    remediation=(Remediation(action="shorten_request"),),
    confidence=CONFIDENCE,
    provenance=Provenance(evaluation=EVALUATION, policy_version="p-7"),
    details={"org.example.rule": "score > 0.7"},
)
BLOCKED_UNIT = Unit(
    unit="answer", code=4003, name="GUARDRAIL_BLOCKED", terminal=True, side_effect_state=SideEffects.NONE
)


@dataclass(frozen=True, kw_only=True)
class Chatty(Report):
    """A report with fields that the table does not know."""

    rumour: str
    gossip: dict[str, list[str]]


def paths(value: Any, at: str = "") -> set[str]:
    """Every path in *value*, of leaves and of what contains them; places in lists are not told apart."""
    if isinstance(value, list):
        return set().union(*(paths(one, at) for one in value))
    if not isinstance(value, dict):
        return {at}
    return {at} | set().union(*(paths(one, f"{at}.{key}" if at else key) for key, one in value.items()))


def test_the_media_type_is_the_specifications() -> None:
    assert MEDIA_TYPE == "application/agent-status+json"


@pytest.mark.clause("SEC-1", "SEC-5")
def test_the_public_sees_a_code_a_safe_message_a_way_out_and_an_opaque_id() -> None:
    assert disclosed(everything(), Profile.PUBLIC) == PUBLIC


@pytest.mark.clause("SEC-1")
def test_each_reader_sees_what_those_before_it_see_and_more() -> None:
    seen = [paths(disclosed(everything(), profile)) for profile in sorted(Profile)]

    assert seen[0] < seen[1] < seen[2] < seen[3]
    assert {"retry.safe", "causes.status.code", "provenance.provider", "message.developer"} <= seen[1] - seen[
        0
    ]
    assert {"provenance.dependency", "provenance.trace_id", "provenance.resource_state"} <= seen[2] - seen[1]
    assert {
        "provenance.policy_version",
        "provenance.evaluation.version",
        "provenance.approver",
        "provenance.history",
    } <= seen[3] - seen[2]


@pytest.mark.clause("SEC-1", "INV-7")
def test_an_auditor_sees_everything_that_a_report_can_say() -> None:
    made = everything()
    for part in fields(made):
        if part.name != "mask":
            assert getattr(made, part.name), f"{part.name} is not in the specimen"
    audit = disclosed(made, Profile.AUDIT)

    assert {top.split(".")[0] for top in SHOWN_FROM} == set(audit)
    assert audit["provenance"].keys() == {part.name for part in fields(Provenance)}
    assert audit["retry"].keys() == {part.name for part in fields(Contract)}
    assert audit["status"].keys() == {part.name for part in fields(Status)} | {"class"}
    assert audit["details"] == {"org.example.queue_depth": 12}
    assert audit["issuer"] == "acme"


@pytest.mark.clause("SEC-1")
def test_no_field_is_without_a_decision_on_who_sees_it() -> None:
    decided = set(SHOWN_FROM)
    flat = [(Report, ""), (Status, "status."), (Message, "message."), (Remediation, "remediation.")]
    flat += [(Provenance, "provenance."), (Boundary, "")]
    split = {"status", "message", "remediation", "provenance", "boundary", "mask"}

    for kind, prefix in flat:
        assert is_dataclass(kind)
        assert {f"{prefix}{part.name}" for part in fields(kind)} - split <= decided


@pytest.mark.clause("SEC-1")
def test_what_nobody_decided_on_is_withheld_even_from_an_auditor() -> None:
    made = Chatty(status=status(Code.SUCCESS), occurred_at=NOW, rumour="r", gossip={"status": ["g"]})

    assert disclosed(made, Profile.AUDIT) == disclosed(report(Code.SUCCESS), Profile.AUDIT)


@pytest.mark.clause("ENV-1")
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("code", [code for code in Code if code not in (Code.LOW_CONFIDENCE, 7003)])
def test_the_minimum_is_always_there(code: Code, profile: Profile) -> None:
    kind = Kind.EVENT if code // 1000 == 8 else Kind.STATUS
    made = Report(status=status(code, kind=kind, terminal=False), occurred_at=NOW)
    told = disclosed(made, profile)

    assert told["spec_version"] == "0.1.0"
    assert told["occurred_at"] == "2026-03-01T12:00:00Z"
    assert told["status"]["code"] == code.value
    assert told["status"]["name"] == code.name
    assert told["status"]["class"] == CLASSES[code // 1000]
    assert (told["status"]["kind"], told["status"]["scope"], told["status"]["terminal"]) == (
        kind,
        "task",
        False,
    )
    json.dumps(told)


@pytest.mark.clause("ENV-1")
def test_an_instant_keeps_the_offset_it_had() -> None:
    here = NOW.astimezone(timezone(timedelta(hours=5, minutes=30)))

    assert disclosed(replace(report(), occurred_at=here), Profile.PUBLIC)["occurred_at"] == (
        "2026-03-01T17:30:00+05:30"
    )


@pytest.mark.clause("MOD-6")
def test_severity_is_the_default_unless_the_deployment_said_otherwise() -> None:
    assert disclosed(report(Code.DATA_LOSS), Profile.DEVELOPER)["status"]["severity"] == "critical"
    assert disclosed(everything(), Profile.DEVELOPER)["status"]["severity"] == "critical"


@pytest.mark.clause("SEC-1", "SEC-5")
@pytest.mark.parametrize("profile", [Profile.DEVELOPER, Profile.OPERATOR])
def test_what_is_inside_a_report_is_disclosed_to_the_same_reader_only(profile: Profile) -> None:
    inner = everything()
    told = disclosed(report(causes=(inner,)), profile)

    assert told["causes"] == [disclosed(inner, profile)]
    assert "approver" not in json.dumps(told)


@pytest.mark.clause("SEC-3")
@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(
    "made",
    [
        BLOCKED_WITH_ITS_REASONS,
        replace(everything(), causes=(BLOCKED_WITH_ITS_REASONS,)),
        replace(everything(), causes=(Reference(ref="r", code=4003, name="GUARDRAIL_BLOCKED"),)),
        report(Code.GUARDRAIL_BLOCKED, causes=(everything(),)),
        replace(
            everything(),
            provenance=Provenance(
                evaluation=EVALUATION, composition=Composition(rule="every_unit", units=(BLOCKED_UNIT,))
            ),
        ),
        report(
            conditions=(
                replace(
                    condition(Code.GUARDRAIL_BLOCKED),
                    confidence=CONFIDENCE,
                    provenance=Provenance(evaluation=EVALUATION),
                ),
            )
        ),
    ],
)
def test_nobody_is_told_a_guardrails_threshold_or_expression(made: Report, profile: Profile) -> None:
    told = paths(disclosed(made, profile))

    assert not [path for path in told if "threshold" in path or "confidence" in path or "details" in path]


@pytest.mark.clause("SEC-3")
def test_a_guardrail_says_enough_to_mend_the_request() -> None:
    told = disclosed(BLOCKED_WITH_ITS_REASONS, Profile.PUBLIC)

    assert told["message"] == {"user": "Leave out the account number."}
    assert told["remediation"] == [{"action": "shorten_request"}]


@pytest.mark.clause("SEC-2")
def test_a_resource_whose_existence_is_protected_looks_like_none() -> None:
    denied = replace(
        everything(),
        status=status(Code.PERMISSION_DENIED),
        message=Message(user="You may not read task t-1."),
        mask=Mask(status=status(Code.NOT_FOUND), below=Profile.OPERATOR),
    )

    for profile in (Profile.PUBLIC, Profile.DEVELOPER):
        told = disclosed(denied, profile)
        bare = disclosed(report(Code.NOT_FOUND, provenance=Provenance(correlation_id="c-1")), profile)
        assert told == bare
    assert disclosed(denied, Profile.OPERATOR)["status"]["name"] == "PERMISSION_DENIED"
    assert disclosed(denied, Profile.OPERATOR)["message"]["user"] == "You may not read task t-1."


@pytest.mark.clause("SEC-1")
def test_the_public_is_not_told_of_a_wait_that_is_none_of_its_business() -> None:
    running = status(Code.RUNNING, terminal=False, phase=Phase.EXECUTING)
    waiting = Report(
        status=status(Code.WAITING_DEPENDENCY, terminal=False, phase=Phase.WAITING),
        occurred_at=NOW,
        message=Message(user="It waits for bob."),
        mask=Mask(status=running, below=Profile.DEVELOPER),
    )
    public, developer = disclosed(waiting, Profile.PUBLIC), disclosed(waiting, Profile.DEVELOPER)

    assert (public["status"]["code"], public["status"]["phase"]) == (1010, "EXECUTING")
    assert "message" not in public
    assert (developer["status"]["code"], developer["status"]["phase"]) == (1020, "WAITING")


@pytest.mark.clause("SEC-2", "SEC-1")
def test_a_mask_holds_inside_other_reports_too() -> None:
    hidden = replace(
        report(Code.PERMISSION_DENIED), mask=Mask(status=status(Code.NOT_FOUND), below=Profile.OPERATOR)
    )

    assert disclosed(report(causes=(hidden,)), Profile.DEVELOPER)["causes"][0]["status"]["code"] == 4006


def test_one_report_gives_each_reader_the_same_answer_twice() -> None:
    made = everything()

    for profile in Profile:
        assert disclosed(made, profile) == disclosed(made, profile)
    assert made == everything()
    assert made.status.scope == Scope.TASK
