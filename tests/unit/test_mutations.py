"""The list of mutations is about the code as it is, and about every promise that a consumer builds on."""

import sys
import tomllib
from pathlib import Path

import pytest

from scripts.mutations import LIST, PACKAGE, Mutation, Run, TextNotFound, Verdict, copy_of, mutations, run
from tests.conformance.clauses import clauses

ROOT = Path(__file__).parents[2]
PROMISED = ("TS-", "TN-", "IN-")
FAULTS = "FAULTS"
"""The group of what stands between a fault and whoever relies on us."""
BROKEN = Mutation(clause="TS-1", breaks="Add wrongly", file="sum.py", old="1 + 1", new="1 - 1")


@pytest.mark.parametrize("mutation", mutations(), ids=lambda one: f"{one.clause} {one.breaks}")
def test_what_a_mutation_breaks_is_there_once_and_so_are_its_tests(mutation: Mutation) -> None:
    text = (ROOT / PACKAGE / mutation.file).read_text(encoding="utf-8")

    assert mutation.applied(text) != text
    assert all(is_there(test) for test in mutation.selection if not test.startswith("--"))


def is_there(test: str) -> bool:
    """There is such a file or folder, and in it such a test where one is named."""
    path, _, name = test.partition("::")
    return (ROOT / path).exists() and (not name or f"def {name}(" in (ROOT / path).read_text("utf-8"))


def test_every_promise_of_the_contract_is_broken_once_at_least() -> None:
    promised = {
        clause.id
        for clause in clauses()
        if clause.id.startswith(PROMISED) and clause.level == "must" and not clause.is_deferred_whole
    }

    assert promised - {mutation.clause for mutation in mutations()} == set()
    assert {mutation.clause for mutation in mutations()} <= {clause.id for clause in clauses()} | {FAULTS}


def test_a_dozen_defences_against_faults_are_removed_and_each_names_who_notices() -> None:
    group = [mutation for mutation in mutations() if mutation.clause == FAULTS]

    assert len(group) >= 12
    assert all(test.startswith("tests/faults/") for mutation in group for test in mutation.selection)


def test_the_list_says_each_thing_once() -> None:
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["mutation"]
    changes = [(one["file"], one["old"], one["new"]) for one in listed]

    assert len(set(changes)) == len(changes)


@pytest.mark.parametrize("text", ["2 + 2", "1 + 1 == 1 + 1"], ids=["nowhere", "twice"])
def test_a_text_that_is_not_there_once_is_refused(text: str) -> None:
    with pytest.raises(TextNotFound, match=r"sum\.py"):
        BROKEN.applied(text)


@pytest.mark.parametrize(
    ("code", "failed", "verdict"),
    [
        (1, "test_sum", Verdict.RED),
        (0, "", Verdict.SURVIVED),
        (1, "", Verdict.BROKE_THE_RUN),
        (2, "", Verdict.BROKE_THE_RUN),
        (4, "", Verdict.BROKE_THE_RUN),
    ],
)
def test_only_a_test_that_failed_counts(code: int, failed: str, verdict: Verdict) -> None:
    assert Run(code, failed, seconds=1, said="").verdict is verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("def test_sum(): assert 1 + 1 == 2", Verdict.SURVIVED),
        ("def test_sum(): assert 1 - 1 == 2", Verdict.RED),
        ("def test_sum(): assert (", Verdict.BROKE_THE_RUN),
    ],
)
def test_a_run_tells_a_test_that_failed_from_one_that_could_not_run(
    tmp_path: Path, text: str, verdict: Verdict
) -> None:
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o700)
    (tmp_path / "pyproject.toml").write_text("[tool.pytest]\n")
    (tmp_path / "test_it.py").write_text(text)

    assert run(tmp_path, ["test_it.py"]).verdict is verdict


def test_a_copy_leaves_the_tree_as_it_is_and_is_gone_afterwards(tmp_path: Path) -> None:
    for name in (".venv", ".engine", "node_modules", ".git", "layers"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)

    with copy_of(tmp_path) as copy:
        (copy / "layers" / "file").write_text("changed")
        copied = sorted(path.name for path in copy.iterdir())

    assert copied == [".engine", ".venv", "layers", "node_modules"]
    assert not copy.exists()
    assert (tmp_path / "layers" / "file").read_text() == "layers"
