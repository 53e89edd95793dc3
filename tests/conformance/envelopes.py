"""Envelopes as a stranger reads them who knows the specification and nothing of the product."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import httpx

from tests.conformance.client import Json, answered
from tests.conformance.instants import here, instant

MEDIA_TYPE = "application/agent-status+json"
REGISTRY: Json = json.loads(Path(__file__).with_name("asc_registry.json").read_text(encoding="utf-8"))
NAMES: dict[int, str] = {one["code"]: one["name"] for one in REGISTRY["codes"]}
CLASSES: dict[str, str] = REGISTRY["classes"]
PHASES = frozenset({"QUEUED", "EXECUTING", "WAITING", "FINISHED", "UNKNOWN"})
SCOPES = frozenset(
    {"task", "step", "tool_call", "model_call", "handoff", "policy_decision", "evaluation", "artefact"}
)
SEVERITIES = frozenset({"critical", "error", "warning", "notice", "info", "debug"})
STATUS = frozenset({"code", "name", "class", "kind", "scope", "terminal", "phase", "severity"})
FIELDS = frozenset(
    {
        *("spec_version", "status", "occurred_at", "message", "retry", "remediation", "provenance", "causes"),
        *("conditions", "events", "confidence", "details", "issuer", "observed_by", "authority", "integrity"),
    }
)
CONTRACT = frozenset(
    {
        *(
            "retryable",
            "safe",
            "after_ms",
            "strategy",
            "attempt",
            "max_attempts",
            "deadline",
            "idempotency_key",
        ),
        *("side_effect_state", "reconciliation_action"),
    }
)
SIDE_EFFECTS = frozenset({"none", "possible", "confirmed", "unknown"})
EXTENSIONS, RESERVED = range(9000, 9900), range(9900, 10_000)
DEEPEST = 8

_NAMESPACED = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")
_REVERSE_DOMAIN = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9_-]+){2,}")


class Reader(Protocol):
    """Whoever may ask where a task stands."""

    def ask_status(self, task_id: str, etag: str | None = None) -> httpx.Response:
        """The answer."""


def told(reader: Reader, task_id: str) -> Json:
    """What *reader* is told of the task, which must be an envelope of the specification."""
    answer = reader.ask_status(task_id)
    envelope = answered(answer, 200)
    assert answer.headers["content-type"] == MEDIA_TYPE
    assert_is_envelope(envelope)
    assert envelope["status"]["kind"] == "status"
    assert envelope["status"]["scope"] == "task"
    return envelope


def said(envelope: Json) -> tuple[int, str, str, bool]:
    """Code, name, phase and whether that is the end."""
    status = envelope["status"]
    return status["code"], status["name"], status["phase"], status["terminal"]


def assert_is_envelope(envelope: Json, *, depth: int = 1) -> None:
    """*envelope* says the minimum, nothing but what there are fields for, and nothing that contradicts itself."""
    assert depth <= DEEPEST
    assert envelope.keys() <= FIELDS, f"{envelope.keys() - FIELDS} is no field of an envelope"
    assert envelope["spec_version"] == REGISTRY["spec_version"]
    assert instant(envelope["occurred_at"]) <= here() or depth > 1
    assert_is_status(envelope["status"])
    if contract := envelope.get("retry"):
        assert_is_contract(contract)
    assert all(_REVERSE_DOMAIN.fullmatch(key) for key in envelope.get("details", {}))
    for part, kind in (("conditions", "condition"), ("events", "event")):
        assert {one["status"]["kind"] for one in envelope.get(part, [])} <= {kind}
    instants = [instant(event["occurred_at"]) for event in envelope.get("events", [])]
    assert instants == sorted(instants), "events are in order of occurrence"
    for cause in envelope.get("causes", []):
        assert "status" in cause or cause.keys() >= {"ref", "code", "name"}
    for inner in inside(envelope):
        assert_is_envelope(inner, depth=depth + 1)


def assert_is_status(status: Json) -> None:
    """*status* is one: a code and its name, what it speaks of, and whether that has ended."""
    assert status.keys() >= {"code", "name", "kind", "scope", "terminal"}
    assert status.keys() <= STATUS
    code = status["code"]
    assert code in EXTENSIONS or NAMES[code] == status["name"]
    assert re.fullmatch(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*", status["name"])
    assert status.get("class", CLASSES[str(code)[0]]) == CLASSES[str(code)[0]]
    assert status["kind"] in {"status", "condition", "event"}
    assert code // 1000 != 8 or status["kind"] == "event"
    assert status["scope"] in SCOPES or _NAMESPACED.fullmatch(status["scope"])
    assert isinstance(status["terminal"], bool)
    if "phase" in status:
        assert status["phase"] in PHASES
        assert status["phase"] == "UNKNOWN" or (status["phase"] == "FINISHED") is status["terminal"]
    assert status.get("severity", "info") in SEVERITIES


def assert_is_contract(contract: Json) -> None:
    """*contract* promises in the fields that there are, and says what may have changed."""
    assert contract.keys() <= CONTRACT
    assert isinstance(contract["retryable"], bool)
    assert isinstance(contract["safe"], bool)
    assert contract["side_effect_state"] in SIDE_EFFECTS


def inside(envelope: Json) -> Iterator[Json]:
    """The envelopes directly inside *envelope*."""
    yield from (cause for cause in envelope.get("causes", []) if "status" in cause)
    yield from envelope.get("conditions", [])
    yield from envelope.get("events", [])


def paths(value: Any, at: str = "") -> Iterator[str]:
    """The path of each value in *value*; entries of a list share one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, f"{at}.{key}" if at else key)
    elif isinstance(value, list):
        for inner in value:
            yield from paths(inner, at)
    else:
        yield at


def report(code: int = 2000, name: str | None = None, **more: Any) -> Json:
    """An envelope that a host passes on; *more* stands beside its status, and `scope` and the like in it."""
    own = {"kind": "status", "scope": "tool_call", "terminal": True}
    status = {"code": code, "name": name or NAMES[code]}
    status |= {each: more.pop(each, usual) for each, usual in own.items()}
    return {"spec_version": "0.1.0", "status": status, "occurred_at": "2026-01-02T03:04:05Z", **more}
