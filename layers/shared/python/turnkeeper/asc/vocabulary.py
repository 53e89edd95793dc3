"""The words of the status model beside the codes: phases, kinds, scopes and severities (MOD-1 to MOD-3, MOD-6)."""

import re
from enum import StrEnum


class Phase(StrEnum):
    """How far the work is; it never stands in for the status (MOD-1)."""

    QUEUED = "QUEUED"
    EXECUTING = "EXECUTING"
    WAITING = "WAITING"
    FINISHED = "FINISHED"
    UNKNOWN = "UNKNOWN"


class Kind(StrEnum):
    """Whether a report is the outcome, something true beside it, or something that happened (MOD-2)."""

    STATUS = "status"
    CONDITION = "condition"
    EVENT = "event"


class Scope(StrEnum):
    """What a status speaks of (MOD-3); any other scope is a namespaced identifier, see `is_scope`."""

    TASK = "task"
    STEP = "step"
    TOOL_CALL = "tool_call"
    MODEL_CALL = "model_call"
    HANDOFF = "handoff"
    POLICY_DECISION = "policy_decision"
    EVALUATION = "evaluation"
    ARTEFACT = "artefact"


class Severity(StrEnum):
    """How urgent it is to the deployment, most urgent first; no part of what a code means (MOD-6)."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"
    INFO = "info"
    DEBUG = "debug"


LONGEST_NAME = 100
"""How long a name or a scope may be, in what we say and in what we hear."""

_NAMESPACED = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9_-]*)+", re.ASCII)
_NAME = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*", re.ASCII)
_REVERSE_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(?:\.[a-z0-9][a-z0-9_-]*){2,}", re.ASCII)


def is_scope(text: str) -> bool:
    """*text* is one of the scopes, or namespaced, such as `turnkeeper.request`."""
    return text in _SCOPES or (len(text) <= LONGEST_NAME and _NAMESPACED.fullmatch(text) is not None)


def is_name(text: str) -> bool:
    """*text* is written as the name of a code: upper SNAKE_CASE (REG-1)."""
    return len(text) <= LONGEST_NAME and _NAME.fullmatch(text) is not None


def is_reverse_domain(text: str) -> bool:
    """*text* is an extension key such as `org.example.queue_depth` (ENV-6)."""
    return len(text) <= LONGEST_NAME and _REVERSE_DOMAIN.fullmatch(text) is not None


_SCOPES = frozenset(Scope)
