"""The list of clauses, and what a run says of each: which were shown to hold, which were not, which nobody tried."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("clauses.toml")


@dataclass(frozen=True)
class Clause:
    """One rule of the contract."""

    id: str
    level: str
    rule: str
    deferred: str | None = None
    """What of it cannot be shown yet."""
    is_deferred_whole: bool = False


@dataclass(frozen=True)
class Result:
    """How one test ended, and which clauses it is about."""

    test: str
    clauses: tuple[str, ...]
    passed: bool


@dataclass(frozen=True)
class Row:
    """What a run says of one clause."""

    clause: Clause
    passed: int
    failed: int

    @property
    def tests(self) -> int:
        """How many were about it."""
        return self.passed + self.failed

    @property
    def verdict(self) -> str:
        """Whether it was shown to hold, in a word or two."""
        if self.failed:
            return "FAILS"
        if self.clause.is_deferred_whole:
            return "deferred"
        if not self.tests:
            return "NOT TESTED"
        return "holds so far" if self.clause.deferred else "holds"


def clauses(listed: Mapping[str, Any] | None = None) -> tuple[Clause, ...]:
    """The clauses of *listed*, which is the suite's own list when none is given."""
    told = tomllib.loads(LIST.read_text(encoding="utf-8")) if listed is None else listed
    return tuple(_clause(name, **fields) for name, fields in told.items())


def _clause(name: str, *, level: str, rule: str, deferred: Mapping[str, Any] | None = None) -> Clause:
    left = deferred or {}
    return Clause(name, level, rule, left.get("what"), is_deferred_whole=left.get("all", False))


def rows(known: Iterable[Clause], results: Iterable[Result]) -> list[Row]:
    """What *results* say of each clause, in the order of the list."""
    counted = list(results)

    def count(clause: Clause, *, passed: bool) -> int:
        return sum(clause.id in one.clauses and one.passed is passed for one in counted)

    return [Row(clause, count(clause, passed=True), failed=count(clause, passed=False)) for clause in known]


def gaps(known: Iterable[Clause], results: Iterable[Result]) -> list[str]:
    """What is wrong with a run of the whole suite besides tests that failed; empty when nothing is."""
    listed, counted = tuple(known), list(results)
    names = {clause.id for clause in listed}
    scored = rows(listed, counted)
    return [
        *(
            f"{row.clause.id} has no test"
            for row in scored
            if not (row.tests or row.clause.is_deferred_whole)
        ),
        *(
            f"{row.clause.id} is listed as deferred, and has tests"
            for row in scored
            if row.tests and row.clause.is_deferred_whole
        ),
        *(
            f"{one.test} names {clause}, which is no clause"
            for one in counted
            for clause in one.clauses
            if clause not in names
        ),
        *(f"{one.test} names no clause" for one in counted if not one.clauses),
    ]
