"""Ten thousand envelopes: each is read or refused with a reason, and none comes out better than it says it is."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.asc.generated import damaged, extended, valid
from tests.unit.asc.specimens import NOW
from turnkeeper.asc import envelope
from turnkeeper.asc.envelope import Envelope
from turnkeeper.asc.refusals import EnvelopeRefused
from turnkeeper.asc.registry import CLASSES
from turnkeeper.asc.retry import Budget, should_retry
from turnkeeper.asc.vocabulary import Kind

EACH = 3_334
BUDGET = Budget(attempts_left=5, now=NOW, deadline=NOW + timedelta(days=900))


def may_be_repeated(heard: Envelope) -> bool:
    """A consumer with every budget would repeat an idempotent operation on this report."""
    return should_retry(
        heard.retry, code=heard.status.code, name=heard.status.name, budget=BUDGET, idempotent=True
    )


def assert_no_better_than_it_says(heard: Envelope, said: dict[str, Any]) -> None:
    """Nothing is terminal or to be repeated that does not say so, at any depth."""
    assert heard.document == said
    assert heard.status.terminal is said["status"]["terminal"]
    assert heard.status.code == said["status"]["code"]
    assert heard.status.name == said["status"]["name"]
    assert heard.status.class_ == CLASSES[said["status"]["code"] // 1000]
    if may_be_repeated(heard):
        assert said["retry"]["retryable"] is True
        assert said["retry"]["safe"] is True
        assert said["status"]["code"] != 6005
    for part in ("causes", "conditions", "events"):
        for inner, told in zip(getattr(heard, part), said.get(part) or [], strict=True):
            if isinstance(inner, Envelope):
                assert_no_better_than_it_says(inner, told)


def read_or_refused(source: Any) -> Envelope | EnvelopeRefused:
    """What came of reading *source*; a refusal has its reasons."""
    try:
        return envelope.read(source)
    except EnvelopeRefused as error:
        refused = error
    assert refused.places
    assert all(place.at and place.problem for place in refused.places)
    return refused


@pytest.mark.clause("ENV-2", "CMP-4", "CMP-5", "CMP-6", "INV-6")
@pytest.mark.parametrize("make", [valid, extended])
def test_what_is_whole_is_read_and_kept_to_the_letter(make: Callable[[Random], dict[str, Any]]) -> None:
    chance = Random(1)  # noqa: S311 - it decides nothing but what is tried
    outcomes: Counter[str] = Counter()

    for _ in range(EACH):
        said = make(chance)
        heard = envelope.read(json.dumps(said))
        assert_no_better_than_it_says(heard, said)
        outcomes["terminal"] += heard.status.terminal
        outcomes["repeatable"] += may_be_repeated(heard)
        outcomes["unknown"] += heard.status.known is None

    assert outcomes["terminal"] > EACH // 4, "the specimens say too little to prove anything"
    assert outcomes["repeatable"] > EACH // 20
    assert (outcomes["unknown"] > EACH // 4) is (make is extended)


@pytest.mark.clause("INV-4", "MOD-5", "REG-2")
def test_what_is_damaged_is_refused_with_a_reason_or_read_as_no_more_than_it_says() -> None:
    chance = Random(2)  # noqa: S311 - it decides nothing but what is tried
    outcomes: Counter[str] = Counter()

    for _ in range(EACH):
        source = damaged(chance)
        outcome = read_or_refused(source)
        if isinstance(outcome, Envelope):
            assert_no_better_than_it_says(outcome, json.loads(source))
        outcomes[type(outcome).__name__] += 1

    assert outcomes.keys() == {"Envelope", "EnvelopeRefused", "IntegrityError"}
    assert min(outcomes.values()) > EACH // 20, outcomes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3),
    max_leaves=10,
)
STATUS = st.fixed_dictionaries(
    {
        "code": st.sampled_from([2000, 5000, 6005, 9500]) | JSON,
        "name": st.sampled_from(["SUCCESS", "RETRYABLE_ERROR", "COFFEE"]) | JSON,
        "kind": st.sampled_from(list(Kind)) | JSON,
        "scope": st.just("task") | JSON,
        "terminal": JSON,
    }
)
PARTS = {field.alias or name: JSON for name, field in Envelope.model_fields.items() if name != "document"}
ANY = st.fixed_dictionaries(
    {"spec_version": st.just("0.1.0"), "occurred_at": st.just("2026-03-01T12:00:00Z"), "status": STATUS},
    optional={
        name: made for name, made in PARTS.items() if name not in ("spec_version", "occurred_at", "status")
    },
)


@given(source=st.text() | st.binary() | JSON.map(json.dumps) | ANY)
def test_anything_at_all_is_read_or_refused(source: Any) -> None:
    outcome = read_or_refused(source)

    if isinstance(outcome, Envelope):
        assert_no_better_than_it_says(outcome, outcome.document)
