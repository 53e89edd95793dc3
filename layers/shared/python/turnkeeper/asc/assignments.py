"""What the registry says of a code beyond its name: what is typical, where extensions live, how urgent it is.

Typical is not actual: a report says for itself whether it is terminal (MOD-5) and whether a retry is safe (RET-2).
"""

from collections.abc import Mapping
from enum import StrEnum

from turnkeeper.asc.refusals import PairMismatch
from turnkeeper.asc.registry import CLASSES, Code, class_of, named, registered
from turnkeeper.asc.vocabulary import Severity


class Terminality(StrEnum):
    """Whether a code usually ends its scope."""

    YES = "yes"
    NO = "no"
    CONTEXTUAL = "contextual"
    EVENT = "event"


class Range(StrEnum):
    """Who may use which codes above 9000 (REG-4)."""

    REGISTERED = "registered"
    PRIVATE = "private"
    EXPERIMENTAL = "experimental"
    RESERVED = "reserved"


RANGES = {
    Range.REGISTERED: range(9000, 9500),
    Range.PRIVATE: range(9500, 9800),
    Range.EXPERIMENTAL: range(9800, 9900),
    Range.RESERVED: range(9900, 10_000),
}
CODES = range(min(CLASSES) * 1000, 10_000)
"""Every value that has a class, assigned or not."""

# The class's own answer, and then the codes that differ from it.
_TERMINAL = {
    "lifecycle": Terminality.NO,
    "success": Terminality.YES,
    "interrupted": Terminality.NO,
    "request_or_policy": Terminality.YES,
    "transient_failure": Terminality.CONTEXTUAL,
    "fatal_or_indeterminate": Terminality.YES,
    "quality_or_verification": Terminality.CONTEXTUAL,
    "event": Terminality.EVENT,
    "extension": Terminality.CONTEXTUAL,
}
_TERMINAL_BUT = {
    Code.CANCELLED: Terminality.YES,
    Code.POLICY_REDACTED: Terminality.CONTEXTUAL,
    Code.ABORTED_CONCURRENCY: Terminality.YES,
    Code.MODEL_BEHAVIOUR_ERROR: Terminality.CONTEXTUAL,
}
_SEVERITY = {
    "lifecycle": Severity.INFO,
    "success": Severity.INFO,
    "interrupted": Severity.NOTICE,
    "request_or_policy": Severity.WARNING,
    "transient_failure": Severity.WARNING,
    "fatal_or_indeterminate": Severity.ERROR,
    "quality_or_verification": Severity.WARNING,
    "event": Severity.DEBUG,
    "extension": Severity.NOTICE,
}
_SEVERITY_BUT = {
    Code.SUCCESS_WITH_WARNINGS: Severity.WARNING,
    Code.PARTIAL_SUCCESS: Severity.WARNING,
    Code.DATA_LOSS: Severity.CRITICAL,
    Code.HALLUCINATION_DETECTED: Severity.ERROR,
    Code.INTEGRITY_CHECK_FAILED: Severity.ERROR,
    Code.FALLBACK_USED: Severity.NOTICE,
    Code.RETRY_ATTEMPTED: Severity.NOTICE,
}
RETRY_HINTS: Mapping[Code, str] = {
    Code.ACCEPTED: "n/a",
    Code.RUNNING: "n/a",
    Code.WAITING_DEPENDENCY: "conditional",
    Code.RETRY_SCHEDULED: "yes",
    Code.SUCCESS: "no",
    Code.SUCCESS_WITH_WARNINGS: "no",
    Code.PARTIAL_SUCCESS: "per failed unit",
    Code.NO_ACTION_REQUIRED: "no",
    Code.HUMAN_INPUT_REQUIRED: "after input",
    Code.HUMAN_APPROVAL_REQUIRED: "after approval",
    Code.AUTHENTICATION_REQUIRED: "after authentication",
    Code.CANCELLED: "normally no",
    Code.INVALID_REQUEST: "after correction",
    Code.FAILED_PRECONDITION: "after state repair",
    Code.PERMISSION_DENIED: "after permission change",
    Code.GUARDRAIL_BLOCKED: "normally no",
    Code.POLICY_REDACTED: "no",
    Code.CONFLICT: "conditional",
    Code.NOT_FOUND: "normally no",
    Code.UNSUPPORTED_CAPABILITY: "no",
    Code.RETRYABLE_ERROR: "with policy",
    Code.RATE_LIMITED: "after delay",
    Code.RESOURCE_EXHAUSTED: "conditional",
    Code.DEPENDENCY_UNAVAILABLE: "usually",
    Code.TIMEOUT: "conditional",
    Code.TOOL_EXECUTION_FAILED: "tool-specific",
    Code.ABORTED_CONCURRENCY: "at a higher level",
    Code.FATAL_ERROR: "no",
    Code.INTERNAL_ERROR: "not automatically",
    Code.MODEL_BEHAVIOUR_ERROR: "conditional fallback",
    Code.DATA_LOSS: "no",
    Code.MAX_ITERATIONS_EXCEEDED: "only under revised policy",
    Code.RESULT_STATE_UNKNOWN: "never blindly",
    Code.OUTPUT_UNVERIFIED: "conditional",
    Code.LOW_CONFIDENCE: "conditional",
    Code.HALLUCINATION_SUSPECTED: "regeneration possible",
    Code.HALLUCINATION_DETECTED: "repair or regenerate",
    Code.PROVENANCE_INCOMPLETE: "conditional",
    Code.INTEGRITY_CHECK_FAILED: "normally no",
    Code.PROMPT_CACHE_HIT: "n/a",
    Code.PROMPT_CACHE_MISS: "n/a",
    Code.FALLBACK_USED: "n/a",
    Code.RETRY_ATTEMPTED: "n/a",
}
"""What the registry tells a reader about repeating; words for people, and nothing decides by them (RET-2)."""


def typical_terminality(code: int) -> Terminality:
    """Whether *code*, or its class, usually ends its scope; a report says for itself (MOD-5)."""
    return _lookup(code, _TERMINAL_BUT, _TERMINAL)


def severity(code: int, overrides: Mapping[int, Severity] | None = None) -> Severity:
    """How urgent *code* is here: the deployment's word, else the code's default, else its class's (MOD-6)."""
    return (overrides or {}).get(code) or _lookup(code, _SEVERITY_BUT, _SEVERITY)


def range_of(code: int) -> Range | None:
    """The range of extensions that *code* lies in, if it is one (REG-4)."""
    return next((found for found, codes in RANGES.items() if code in codes), None)


def check_pair(code: int, name: str) -> Code | None:
    """The registered code that *code* and *name* both mean; None if neither is registered; else PairMismatch."""
    found = registered(code)
    if found is not named(name):
        raise PairMismatch(code, name)
    return found


def _lookup[Word](code: int, own: Mapping[Code, Word], by_class: Mapping[str, Word]) -> Word:
    found = registered(code)
    return own[found] if found is not None and found in own else by_class[class_of(code)]
