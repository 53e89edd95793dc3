"""Codes that are mistaken for one another, and the fact that decides which one it is."""

from collections.abc import Sequence

from turnkeeper.asc.registry import Code


def of_access(*, existence_is_protected: bool) -> Code:
    """A principal may not do this to a resource: PERMISSION_DENIED (REG-5), or no sign that it exists (SEC-2)."""
    return Code.NOT_FOUND if existence_is_protected else Code.PERMISSION_DENIED


def of_policy() -> Code:
    """Content or an action is against a policy, whoever asks: never the same as a lack of rights (REG-5)."""
    return Code.GUARDRAIL_BLOCKED


def of_success(*, requested: int, reached: int, warnings: int = 0) -> Code:
    """The goal was reached, if need be with warnings; or some requested unit was not reached (REG-6)."""
    if reached < requested:
        return Code.PARTIAL_SUCCESS
    return Code.SUCCESS_WITH_WARNINGS if warnings else Code.SUCCESS


def of_timeout(*, has_side_effects: bool, may_have_arrived: bool) -> Code:
    """Time ran out: nothing can have changed, or nobody knows what did (RET-4)."""
    return Code.RESULT_STATE_UNKNOWN if has_side_effects and may_have_arrived else Code.TIMEOUT


def of_detector(*, found: bool | None, method: str | None, evidence: Sequence[str]) -> Code:
    """What a detector of hallucinations said; None is its silence, which proves nothing (REG-7, REG-8)."""
    if found is None:
        return Code.OUTPUT_UNVERIFIED
    if not found:
        return Code.SUCCESS
    return Code.HALLUCINATION_DETECTED if method and evidence else Code.HALLUCINATION_SUSPECTED
