"""Of two codes that are easily mistaken, the facts choose one."""

import pytest

from turnkeeper.asc import choices
from turnkeeper.asc.registry import Code


@pytest.mark.clause("REG-5")
def test_a_lack_of_rights_and_a_guardrail_are_never_the_same() -> None:
    assert choices.of_access(existence_is_protected=False) is Code.PERMISSION_DENIED
    assert choices.of_policy() is Code.GUARDRAIL_BLOCKED


@pytest.mark.clause("SEC-2")
def test_what_must_not_be_known_to_exist_is_not_found() -> None:
    assert choices.of_access(existence_is_protected=True) is Code.NOT_FOUND


@pytest.mark.clause("REG-6")
@pytest.mark.parametrize(
    ("requested", "reached", "warnings", "code"),
    [
        (2, 2, 0, Code.SUCCESS),
        (2, 2, 3, Code.SUCCESS_WITH_WARNINGS),
        (2, 1, 0, Code.PARTIAL_SUCCESS),
        (2, 1, 3, Code.PARTIAL_SUCCESS),
    ],
)
def test_a_warning_leaves_the_goal_reached_and_a_missing_unit_does_not(
    requested: int, reached: int, warnings: int, code: Code
) -> None:
    assert choices.of_success(requested=requested, reached=reached, warnings=warnings) is code


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize(
    ("effects", "arrived", "code"),
    [
        (True, True, Code.RESULT_STATE_UNKNOWN),
        (True, False, Code.TIMEOUT),
        (False, True, Code.TIMEOUT),
        (False, False, Code.TIMEOUT),
    ],
)
def test_time_ran_out_before_or_after_something_may_have_changed(
    effects: bool,  # noqa: FBT001
    arrived: bool,  # noqa: FBT001
    code: Code,
) -> None:
    assert choices.of_timeout(has_side_effects=effects, may_have_arrived=arrived) is code


@pytest.mark.clause("REG-7", "REG-8")
@pytest.mark.parametrize(
    ("found", "method", "evidence", "code"),
    [
        (True, "nli", ["source:4"], Code.HALLUCINATION_DETECTED),
        (True, "nli", [], Code.HALLUCINATION_SUSPECTED),
        (True, None, ["source:4"], Code.HALLUCINATION_SUSPECTED),
        (False, "nli", [], Code.SUCCESS),
        (None, "nli", ["source:4"], Code.OUTPUT_UNVERIFIED),
    ],
)
def test_a_detector_proves_suspects_clears_or_says_nothing(
    found: bool | None,  # noqa: FBT001
    method: str | None,
    evidence: list[str],
    code: Code,
) -> None:
    assert choices.of_detector(found=found, method=method, evidence=evidence) is code
