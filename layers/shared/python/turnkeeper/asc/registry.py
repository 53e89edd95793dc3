"""The registered codes of Agent Status Codes 0.1, each with its name (REG-1); 0.1 is experimental (CMP-7)."""

from enum import IntEnum

SPEC_VERSION = "0.1.0"
EXPERIMENTAL = True
"""Assignments may still change before the first stable release; whoever speaks of the version says so (CMP-7)."""

CLASSES = {
    1: "lifecycle",
    2: "success",
    3: "interrupted",
    4: "request_or_policy",
    5: "transient_failure",
    6: "fatal_or_indeterminate",
    7: "quality_or_verification",
    8: "event",
    9: "extension",
}


class Code(IntEnum):
    """A registered code: its value and its name always travel together."""

    ACCEPTED = 1000
    RUNNING = 1010
    WAITING_DEPENDENCY = 1020
    RETRY_SCHEDULED = 1030
    SUCCESS = 2000
    SUCCESS_WITH_WARNINGS = 2001
    PARTIAL_SUCCESS = 2002
    NO_ACTION_REQUIRED = 2003
    HUMAN_INPUT_REQUIRED = 3001
    HUMAN_APPROVAL_REQUIRED = 3002
    AUTHENTICATION_REQUIRED = 3003
    CANCELLED = 3004
    INVALID_REQUEST = 4000
    FAILED_PRECONDITION = 4001
    PERMISSION_DENIED = 4002
    GUARDRAIL_BLOCKED = 4003
    POLICY_REDACTED = 4004
    CONFLICT = 4005
    NOT_FOUND = 4006
    UNSUPPORTED_CAPABILITY = 4007
    RETRYABLE_ERROR = 5000
    RATE_LIMITED = 5001
    RESOURCE_EXHAUSTED = 5002
    DEPENDENCY_UNAVAILABLE = 5003
    TIMEOUT = 5004
    TOOL_EXECUTION_FAILED = 5005
    ABORTED_CONCURRENCY = 5006
    FATAL_ERROR = 6000
    INTERNAL_ERROR = 6001
    MODEL_BEHAVIOUR_ERROR = 6002
    DATA_LOSS = 6003
    MAX_ITERATIONS_EXCEEDED = 6004
    RESULT_STATE_UNKNOWN = 6005
    OUTPUT_UNVERIFIED = 7000
    LOW_CONFIDENCE = 7001
    HALLUCINATION_SUSPECTED = 7002
    HALLUCINATION_DETECTED = 7003
    PROVENANCE_INCOMPLETE = 7004
    INTEGRITY_CHECK_FAILED = 7005
    PROMPT_CACHE_HIT = 8000
    PROMPT_CACHE_MISS = 8001
    FALLBACK_USED = 8002
    RETRY_ATTEMPTED = 8003

    @property
    def label(self) -> str:
        """The code as people read it, such as `ASC-5001`."""
        return f"ASC-{self.value}"


def class_of(code: int) -> str:
    """The class of any code, registered or not, by its first digit (INV-6, REG-3)."""
    return CLASSES[code // 1000]


def registered(code: int) -> Code | None:
    """The registered code of that value, if there is one."""
    return _BY_VALUE.get(code)


def named(name: str) -> Code | None:
    """The registered code of that name, if there is one."""
    return Code.__members__.get(name)


_BY_VALUE = {code.value: code for code in Code}
