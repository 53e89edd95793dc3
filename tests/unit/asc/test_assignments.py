"""What the registry says beyond names, against the frozen copy, and what it says of codes nobody assigned."""

import json
from pathlib import Path

import pytest

from turnkeeper.asc.assignments import (
    RANGES,
    RETRY_HINTS,
    Range,
    Terminality,
    check_pair,
    range_of,
    severity,
    typical_terminality,
)
from turnkeeper.asc.refusals import PairMismatch
from turnkeeper.asc.registry import EXPERIMENTAL, Code, class_of, named, registered
from turnkeeper.asc.vocabulary import Severity

FROZEN = json.loads((Path(__file__).parents[2] / "conformance" / "asc_registry.json").read_text())


@pytest.mark.clause("CMP-1", "MOD-5")
def test_each_code_is_as_terminal_as_its_assignment_says() -> None:
    assert {code.value: typical_terminality(code) for code in Code} == {
        assigned["code"]: assigned["default_terminal"] for assigned in FROZEN["codes"]
    }


@pytest.mark.clause("CMP-1", "RET-2")
def test_each_code_has_the_words_about_repeating_that_were_assigned() -> None:
    assert {code.value: RETRY_HINTS[code] for code in Code} == {
        assigned["code"]: assigned["retry"] for assigned in FROZEN["codes"]
    }


@pytest.mark.clause("REG-4")
def test_the_ranges_of_extensions_are_the_specifications_and_leave_no_gap() -> None:
    assert {str(found): [codes[0], codes[-1]] for found, codes in RANGES.items()} == FROZEN[
        "extension_ranges"
    ]
    assert [code for codes in RANGES.values() for code in codes] == list(range(9000, 10_000))


@pytest.mark.clause("REG-4")
@pytest.mark.parametrize(
    ("code", "found"),
    [
        (8999, None),
        (9000, Range.REGISTERED),
        (9499, Range.REGISTERED),
        (9500, Range.PRIVATE),
        (9799, Range.PRIVATE),
        (9800, Range.EXPERIMENTAL),
        (9900, Range.RESERVED),
        (9999, Range.RESERVED),
    ],
)
def test_an_extension_lies_in_one_range(code: int, found: Range | None) -> None:
    assert range_of(code) is found


@pytest.mark.clause("REG-1")
def test_a_code_is_found_by_its_value_and_by_its_name() -> None:
    assert all(registered(code.value) is code and named(code.name) is code for code in Code)
    assert registered(5999) is None
    assert named("NOBODY_KNOWS") is None


@pytest.mark.clause("REG-2")
@pytest.mark.parametrize(
    ("code", "name"),
    [(2000, "FATAL_ERROR"), (6000, "SUCCESS"), (2000, "TRIUMPH"), (2999, "SUCCESS"), (9500, "SUCCESS")],
)
def test_a_registered_code_with_another_name_is_no_pair(code: int, name: str) -> None:
    with pytest.raises(PairMismatch):
        check_pair(code, name)


@pytest.mark.clause("REG-2", "REG-3", "CMP-5")
def test_a_pair_that_nobody_registered_is_not_ours_to_judge() -> None:
    assert check_pair(5999, "BRAND_NEW") is None
    assert check_pair(5001, "RATE_LIMITED") is Code.RATE_LIMITED


@pytest.mark.clause("MOD-6", "INV-3")
def test_a_deployment_says_how_urgent_a_code_is_and_the_code_stays_what_it_is() -> None:
    ours = {Code.RATE_LIMITED: Severity.CRITICAL, 9500: Severity.DEBUG}

    assert severity(Code.RATE_LIMITED) is Severity.WARNING
    assert severity(Code.RATE_LIMITED, ours) is Severity.CRITICAL
    assert severity(9500, ours) is Severity.DEBUG
    assert severity(Code.TIMEOUT, ours) is Severity.WARNING
    assert class_of(Code.RATE_LIMITED) == "transient_failure"


@pytest.mark.clause("MOD-6", "CMP-6", "INV-6")
def test_a_code_nobody_knows_is_as_urgent_and_as_terminal_as_its_class() -> None:
    assert severity(6999) is Severity.ERROR
    assert typical_terminality(1999) is Terminality.NO
    assert typical_terminality(9500) is Terminality.CONTEXTUAL


@pytest.mark.clause("CMP-7")
def test_it_is_advertised_that_the_version_is_experimental() -> None:
    assert EXPERIMENTAL is True
