"""Envelopes by the thousand: valid ones, ones with what nobody knows yet, and damaged ones. One seed, one sequence."""

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from random import Random
from typing import Any

from tests.unit.asc.specimens import CONFIDENCE, EVALUATION, NOW
from turnkeeper.asc.disclosure import disclosed
from turnkeeper.asc.parts import Fails, Message, Provenance, Reference, Remediation
from turnkeeper.asc.registry import Code
from turnkeeper.asc.report import Report
from turnkeeper.asc.retry import AFTER_TRANSITION, Contract, SideEffects
from turnkeeper.asc.status import Profile, Status
from turnkeeper.asc.vocabulary import Kind, Phase, Scope

JUNK: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2000,
    6005,
    2**53,
    1.5,
    "",
    "true",
    "SUCCESS",
    "task",
    "\x00",
    "é" * 200,
    [],
    [[]],
    {},
    {"status": {}},
    {"ref": "r"},
)


def valid(chance: Random) -> dict[str, Any]:
    """An envelope that we might have emitted, to one of the four readers."""
    return disclosed(_report(chance, depth=chance.randrange(4)), chance.choice(list(Profile)))


def extended(chance: Random) -> dict[str, Any]:
    """A valid envelope with codes, scopes, phases and fields of a version that nobody knows yet."""
    said = valid(chance)
    for one in _objects(said):
        if chance.random() < 0.4:
            one[f"x_{chance.randrange(10)}"] = deepcopy(chance.choice(JUNK))
    for status in [one for one in _objects(said) if "kind" in one and "terminal" in one]:
        if chance.random() < 0.6:
            digit = 8 if status["code"] // 1000 == 8 else chance.choice([1, 2, 3, 4, 5, 6, 7, 9])
            status |= {
                "code": digit * 1000 + chance.randrange(500, 1000),
                "name": f"NEW_{chance.randrange(99)}",
            }
            status.pop("class", None)
        if chance.random() < 0.3:
            status["scope"] = chance.choice(["galaxy", "org.example.x", "?", "a b"])
        if chance.random() < 0.3:
            status["phase"] = deepcopy(chance.choice(JUNK))
    said["spec_version"] = chance.choice(["0.1.0", "0.1.9", "0.2.0", "1.0.0", "2.3.4-rc.1"])
    return said


def damaged(chance: Random) -> str | bytes:
    """What a line, a proxy, a bug or somebody with an interest might make of an envelope."""
    said = extended(chance) if chance.random() < 0.5 else valid(chance)
    for _ in range(chance.randrange(1, 4)):
        chance.choice(_IN_THE_OBJECT)(said, chance)
    text = json.dumps(said)
    return chance.choice(_IN_THE_TEXT)(text, chance) if chance.random() < 0.5 else text


def _report(chance: Random, *, depth: int, kind: Kind = Kind.STATUS) -> Report:
    code = chance.choice([one for one in Code if kind is Kind.EVENT or one // 1000 != 8])
    terminal = kind is not Kind.EVENT and chance.random() < 0.5
    phase = Phase.FINISHED if terminal else chance.choice([None, Phase.QUEUED, Phase.WAITING, Phase.UNKNOWN])
    events = [_report(chance, depth=0, kind=Kind.EVENT) for _ in range(chance.randrange(3) if depth else 0)]
    return Report(
        status=Status.of(code, scope=chance.choice(list(Scope)), terminal=terminal, kind=kind, phase=phase),
        occurred_at=NOW + timedelta(milliseconds=chance.randrange(10**9)),
        message=Message(user="Sorry.", developer="It broke.") if chance.random() < 0.5 else None,
        retry=_contract(chance, code) if chance.random() < 0.7 else None,
        remediation=(Remediation(action="wait"),) * chance.randrange(3),
        provenance=Provenance(evaluation=EVALUATION, correlation_id="c"),
        causes=tuple(
            _report(chance, depth=depth - 1)
            if chance.random() < 0.6
            else Reference(ref=f"r-{chance.randrange(99)}", code=code, name=code.name)
            for _ in range(chance.randrange(3) if depth else 0)
        ),
        conditions=tuple(
            _report(chance, depth=0, kind=Kind.CONDITION) for _ in range(chance.randrange(3) if depth else 0)
        ),
        events=tuple(sorted(events, key=lambda one: one.occurred_at)),
        confidence=CONFIDENCE if code is Code.LOW_CONFIDENCE or chance.random() < 0.2 else None,
        details={"org.example.fails": str(Fails.OPEN)} if chance.random() < 0.3 else {},
    )


def _contract(chance: Random, code: Code) -> Contract:
    waits = code in AFTER_TRANSITION
    settled = [SideEffects.NONE, SideEffects.CONFIRMED]
    return Contract(
        retryable=not waits and chance.random() < 0.6,
        safe=chance.random() < 0.6,
        after_ms=None if waits else chance.choice([None, 0, 500]),
        strategy=chance.choice([None, "after_approval"]),
        attempt=1,
        max_attempts=chance.choice([None, 1, 3]),
        idempotency_key=chance.choice([None, "k"]),
        side_effect_state=chance.choice(settled if code is Code.TIMEOUT else list(SideEffects)),
        reconciliation_action="look_up",
    )


def _objects(value: Any) -> list[dict[str, Any]]:
    """Every object in *value*, itself included."""
    found: list[dict[str, Any]] = []
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found.append(one)
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)
    return found


def _place(said: dict[str, Any], chance: Random) -> tuple[dict[str, Any], str]:
    filled = [one for one in _objects(said) if one]
    where = chance.choice(filled or [said | {"x": 1}])
    return where, chance.choice(list(where))


def _replace(said: dict[str, Any], chance: Random) -> None:
    where, key = _place(said, chance)
    where[key] = deepcopy(chance.choice(JUNK))


def _remove(said: dict[str, Any], chance: Random) -> None:
    where, key = _place(said, chance)
    where.pop(key, None)


def _rename(said: dict[str, Any], chance: Random) -> None:
    where, key = _place(said, chance)
    where[chance.choice(["status", "retry", "causes", "code", key.upper()])] = where.pop(key, None)


def _swap_code(said: dict[str, Any], chance: Random) -> None:
    for one in _objects(said):
        if "code" in one and chance.random() < 0.5:
            one["code"] = chance.choice(list(Code)).value


def _swap_half_of_a_promise(said: dict[str, Any], chance: Random) -> None:
    for one in _objects(said):
        for key in ("terminal", "safe", "retryable"):
            if key in one and chance.random() < 0.4:
                one[key] = deepcopy(chance.choice(JUNK))


def _enclose(said: dict[str, Any], chance: Random) -> None:
    inner = deepcopy(said)
    said["causes"] = [inner] * chance.choice([1, 2, 65])


def _cut(text: str, chance: Random) -> str:
    return text[: chance.randrange(len(text))]


def _flip(text: str, chance: Random) -> bytes:
    raw = bytearray(text.encode())
    for _ in range(chance.randrange(1, 5)):
        raw[chance.randrange(len(raw))] = chance.randrange(256)
    return bytes(raw)


def _deepen(text: str, chance: Random) -> str:
    deep = chance.choice([70, 5_000, 100_000])
    return '{"x":' + "[" * deep + "]" * deep + "," + text[1:]


def _repeat_a_key(text: str, chance: Random) -> str:
    return chance.choice(['{"status":{},', '{"occurred_at":"2026-03-01T12:00:00Z",']) + text[1:]


def _unwritable(text: str, chance: Random) -> str:
    return (
        chance.choice(['{"x":NaN,', '{"x":"\\ud800",', '{"x":1e999,', '{"x":' + "9" * 6000 + ","]) + text[1:]
    )


_IN_THE_OBJECT: tuple[Callable[[dict[str, Any], Random], None], ...] = (
    _replace,
    _remove,
    _rename,
    _swap_code,
    _swap_half_of_a_promise,
    _enclose,
)
_IN_THE_TEXT: tuple[Callable[[str, Random], str | bytes], ...] = (
    _cut,
    _flip,
    _deepen,
    _repeat_a_key,
    _unwritable,
)
