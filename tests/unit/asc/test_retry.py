"""Nothing is tried again unless the report, the operation and our own budgets all allow it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import product
from typing import Any

import pytest

from tests.unit.asc.specimens import NOW
from turnkeeper.asc.refusals import StatusRefused
from turnkeeper.asc.registry import Code
from turnkeeper.asc.retry import (
    AFTER_TRANSITION,
    Budget,
    Contract,
    SideEffects,
    Verdict,
    should_retry,
    verdict,
)

PROMISED = Contract(
    retryable=True, safe=True, idempotency_key="k", side_effect_state=SideEffects.NONE, after_ms=1000
)
PLENTY = Budget(attempts_left=3, now=NOW, deadline=NOW + timedelta(minutes=1))


def judged(
    contract: Contract | None = PROMISED,
    *,
    code: Code = Code.DEPENDENCY_UNAVAILABLE,
    budget: Budget = PLENTY,
    idempotent: bool = False,
    happened: frozenset[str] = frozenset(),
) -> Verdict:
    """The verdict on an operation that has everything for a retry, but for what is given."""
    said: dict[str, Any] = {"code": code.value, "name": code.name, "budget": budget}
    said |= {"idempotent": idempotent, "happened": happened}
    found = verdict(contract, **said)
    assert should_retry(contract, **said) is (found is Verdict.RETRY)
    return found


@pytest.mark.clause("RET-3")
def test_it_is_tried_again_when_all_allow_it() -> None:
    assert judged() is Verdict.RETRY


@pytest.mark.clause("RET-2", "INV-4")
@pytest.mark.parametrize("code", Code)
def test_no_code_alone_is_ever_a_reason(code: Code) -> None:
    assert judged(None, code=code) is not Verdict.RETRY
    assert judged(Contract(idempotency_key="k"), code=code, idempotent=True) is not Verdict.RETRY


@pytest.mark.clause("RET-2", "RET-3")
@pytest.mark.parametrize(("retryable", "safe"), [(True, False), (False, True), (False, False)])
def test_half_a_promise_is_none(*, retryable: bool, safe: bool) -> None:
    against = Verdict.NOT_SAFE if retryable else Verdict.NOT_RETRYABLE

    assert judged(replace(PROMISED, retryable=retryable, safe=safe)) is against


@pytest.mark.clause("RET-3")
def test_what_is_neither_idempotent_nor_keyed_is_not_repeated() -> None:
    bare = replace(PROMISED, idempotency_key=None)

    assert judged(bare) is Verdict.NO_KEY
    assert judged(bare, idempotent=True) is Verdict.RETRY


@pytest.mark.clause("RET-3")
@pytest.mark.parametrize(
    ("attempt", "most", "found"),
    [
        (1, 3, Verdict.RETRY),
        (2, 3, Verdict.RETRY),
        (3, 3, Verdict.NO_ATTEMPTS),
        (4, 3, Verdict.NO_ATTEMPTS),
        (None, 1, Verdict.NO_ATTEMPTS),
        (None, 0, Verdict.NO_ATTEMPTS),
        (None, 2, Verdict.RETRY),
        (9, None, Verdict.RETRY),
    ],
)
def test_attempts_run_out(attempt: int | None, most: int | None, found: Verdict) -> None:
    assert judged(replace(PROMISED, attempt=attempt, max_attempts=most)) is found


@pytest.mark.clause("RET-3")
@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"attempts_left": 0}, Verdict.NO_ATTEMPTS),
        ({"attempts_left": 1}, Verdict.RETRY),
        ({"cost": 2, "cost_left": 1}, Verdict.TOO_COSTLY),
        ({"cost": 1, "cost_left": 1}, Verdict.RETRY),
        ({"deadline": NOW + timedelta(milliseconds=999)}, Verdict.TOO_LATE),
        ({"deadline": NOW + timedelta(milliseconds=1000)}, Verdict.RETRY),
        ({"deadline": NOW - timedelta(days=1)}, Verdict.TOO_LATE),
    ],
)
def test_our_own_budgets_are_asked_too(changed: dict[str, Any], found: Verdict) -> None:
    assert judged(budget=replace(PLENTY, **changed)) is found


@pytest.mark.clause("RET-3")
@pytest.mark.parametrize(
    ("deadline", "found"),
    [
        (NOW + timedelta(milliseconds=1000), Verdict.RETRY),
        (NOW + timedelta(milliseconds=999), Verdict.TOO_LATE),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=23))), Verdict.TOO_LATE),
        (datetime.max.replace(tzinfo=timezone(-timedelta(hours=23))), Verdict.RETRY),
    ],
)
def test_a_deadline_of_the_report_counts_as_ours_does(deadline: datetime, found: Verdict) -> None:
    assert judged(replace(PROMISED, deadline=deadline)) is found


def test_no_delay_is_too_long_to_be_understood() -> None:
    assert judged(replace(PROMISED, after_ms=2**63)) is Verdict.TOO_LATE


@pytest.mark.clause("RET-3", "RET-4")
@pytest.mark.parametrize(
    ("code", "name"),
    [(6005, "RESULT_STATE_UNKNOWN"), (9500, "RESULT_STATE_UNKNOWN"), (6005, "SOMETHING_ELSE")],
)
def test_an_unknown_result_is_never_repeated_whatever_is_promised(code: int, name: str) -> None:
    said = verdict(
        PROMISED,
        code=code,
        name=name,
        budget=PLENTY,
        idempotent=True,
        happened=frozenset({"reconciled"}),
    )

    assert said is Verdict.RECONCILE_FIRST


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize(
    ("state", "found"),
    [
        (SideEffects.NONE, Verdict.RETRY),
        (SideEffects.CONFIRMED, Verdict.RETRY),
        (SideEffects.POSSIBLE, Verdict.RECONCILE_FIRST),
        (SideEffects.UNKNOWN, Verdict.RECONCILE_FIRST),
    ],
)
def test_a_timeout_that_may_have_changed_something_is_an_unknown_result(
    state: SideEffects, found: Verdict
) -> None:
    contract = replace(PROMISED, side_effect_state=state)

    assert judged(contract, code=Code.TIMEOUT) is found
    assert verdict(contract, code=5004, name="TIME_RAN_OUT", budget=PLENTY) is found
    assert verdict(contract, code=5999, name="TIMEOUT", budget=PLENTY) is found


@pytest.mark.clause("RET-5")
@pytest.mark.parametrize("code", sorted(AFTER_TRANSITION))
def test_what_no_waiting_mends_is_repeated_after_the_named_transition_and_not_before(code: Code) -> None:
    contract = replace(PROMISED, retryable=False, strategy="after_approval")

    assert judged(contract, code=code) is Verdict.TRANSITION_FIRST
    assert judged(replace(contract, retryable=True), code=code) is Verdict.TRANSITION_FIRST
    assert judged(contract, code=code, happened=frozenset({"something_else"})) is Verdict.TRANSITION_FIRST
    assert judged(contract, code=code, happened=frozenset({"after_approval"})) is Verdict.RETRY
    assert judged(replace(contract, strategy=None), code=code) is Verdict.TRANSITION_FIRST


@pytest.mark.clause("RET-5")
def test_after_the_transition_no_delay_counts_any_more() -> None:
    contract = replace(PROMISED, strategy="after_approval", after_ms=10**9)
    happened = frozenset({"after_approval"})

    assert judged(contract, code=Code.HUMAN_APPROVAL_REQUIRED, happened=happened) is Verdict.RETRY


@pytest.mark.clause("RET-5")
def test_a_transition_is_waited_for_by_name_as_by_code() -> None:
    said: dict[str, Any] = {"code": 4999, "name": "FAILED_PRECONDITION", "budget": PLENTY}

    assert verdict(PROMISED, **said) is Verdict.TRANSITION_FIRST


@pytest.mark.clause("RET-5", "RET-3")
def test_after_the_transition_the_other_rules_still_hold() -> None:
    contract = replace(PROMISED, retryable=False, strategy="after_approval")
    said: dict[str, Any] = {"code": Code.HUMAN_APPROVAL_REQUIRED, "happened": frozenset({"after_approval"})}

    assert judged(replace(contract, safe=False), **said) is Verdict.NOT_SAFE
    assert judged(replace(contract, idempotency_key=None), **said) is Verdict.NO_KEY
    assert judged(contract, budget=replace(PLENTY, attempts_left=0), **said) is Verdict.NO_ATTEMPTS
    assert judged(contract, budget=replace(PLENTY, deadline=NOW - timedelta(1)), **said) is Verdict.TOO_LATE
    assert judged(replace(contract, deadline=NOW - timedelta(1)), **said) is Verdict.TOO_LATE


@pytest.mark.clause("RET-5")
def test_a_transition_makes_nothing_else_retryable() -> None:
    contract = replace(PROMISED, retryable=False, strategy="after_approval")

    assert judged(contract, happened=frozenset({"after_approval"})) is Verdict.NOT_RETRYABLE


@pytest.mark.clause("RET-3")
def test_of_all_promises_only_whole_ones_are_kept() -> None:
    kept = [
        (retryable, safe, key, left)
        for retryable, safe, key, left in product((True, False), (True, False), ("k", None), (0, 1))
        if judged(
            replace(PROMISED, retryable=retryable, safe=safe, idempotency_key=key),
            budget=replace(PLENTY, attempts_left=left),
        )
        is Verdict.RETRY
    ]

    assert kept == [(True, True, "k", 1)]


@pytest.mark.clause("RET-1")
def test_a_contract_that_says_nothing_promises_nothing() -> None:
    assert Contract() == Contract(retryable=False, safe=False, side_effect_state=SideEffects.UNKNOWN)


@pytest.mark.clause("RET-1")
@pytest.mark.parametrize(
    "wrong",
    [
        {"retryable": 1},
        {"safe": "true"},
        {"after_ms": -1},
        {"attempt": -1},
        {"max_attempts": -1},
        {"deadline": NOW.replace(tzinfo=None)},
        {"idempotency_key": ""},
    ],
)
def test_a_contract_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(StatusRefused, match=rf"^retry\.{next(iter(wrong))} "):
        Contract(**wrong)
    assert NOW.tzinfo is UTC
