"""The registry of codes against a frozen copy of its assignments: a meaning never changes (CMP-1, CMP-2)."""

import json
from pathlib import Path

import pytest

from turnkeeper.asc.registry import CLASSES, SPEC_VERSION, Code, class_of

FROZEN = json.loads((Path(__file__).parents[1] / "conformance" / "asc_registry.json").read_text())


@pytest.mark.clause("CMP-1", "CMP-2", "REG-1", "REG-2")
def test_the_codes_and_names_are_the_assigned_ones() -> None:
    assert {code.value: code.name for code in Code} == {
        assigned["code"]: assigned["name"] for assigned in FROZEN["codes"]
    }
    assert len(Code.__members__) == len(FROZEN["codes"])


@pytest.mark.clause("INV-6")
def test_each_code_is_in_its_assigned_class() -> None:
    assert {code.value: class_of(code) for code in Code} == {
        assigned["code"]: assigned["class"] for assigned in FROZEN["codes"]
    }


@pytest.mark.clause("REG-3", "CMP-6")
@pytest.mark.parametrize(
    ("code", "named"), [(1999, "lifecycle"), (5999, "transient_failure"), (9500, "extension")]
)
def test_a_code_nobody_knows_has_the_class_of_its_first_digit(code: int, named: str) -> None:
    assert class_of(code) == named


@pytest.mark.clause("CMP-7")
def test_the_version_and_the_classes_are_the_specifications() -> None:
    assert FROZEN["spec_version"] == SPEC_VERSION
    assert {str(digit): name for digit, name in CLASSES.items()} == FROZEN["classes"]


def test_people_read_a_code_with_its_prefix() -> None:
    assert Code.RATE_LIMITED.label == "ASC-5001"
