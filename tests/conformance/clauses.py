"""The list of clauses, and what a run says of each: which were shown to hold, which were not, which nobody tried."""

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("clauses.toml")


class ListRefused(ValueError):
    """The list of clauses says something that makes no sense."""


@dataclass(frozen=True)
class Clause:
    """One rule of the contract, or a profile: some clauses under one name."""

    id: str
    level: str
    rule: str
    deferred: str | None = None
    """What of it cannot be shown yet."""
    is_deferred_whole: bool = False
    is_inside: bool = False
    """No answer over HTTP shows it: only tests that look inside can. A profile asks for that beside its parts."""
    parts: tuple[str, ...] = ()
    """The clauses that make up a profile; it holds when each of them does."""


@dataclass(frozen=True)
class Result:
    """How one test ended, and which clauses it is about."""

    test: str
    clauses: tuple[str, ...]
    passed: bool
    is_inside: bool = False
    """It looked inside, and not at a deployment over HTTP."""


class Verdict(StrEnum):
    """Whether a clause was shown to hold, in a word or two; of a profile's clauses the first of these counts."""

    FAILS = "FAILS"
    NOT_TESTED = "NOT TESTED"
    NOT_OF_THIS_RUN = "not of this run"
    """Only tests inside can show it, and they did not run: they say nothing of somebody else's deployment."""
    DEFERRED = "deferred"
    HOLDS_SO_FAR = "holds so far"
    HOLDS = "holds"


@dataclass(frozen=True)
class Row:
    """What a run says of one clause."""

    clause: Clause
    over_http: int
    """How many tests were about it and looked from outside."""
    inside: int
    failed: int
    """How many of both failed."""
    verdict: Verdict
    because_of: tuple[str, ...] = ()
    """The clauses of a profile for which it does not simply hold."""

    @property
    def tests(self) -> int:
        """How many were about it."""
        return self.over_http + self.inside


def clauses(listed: Mapping[str, Any] | None = None) -> tuple[Clause, ...]:
    """The clauses of *listed*, which is the suite's own list when none is given; or ListRefused."""
    told = tomllib.loads(LIST.read_text(encoding="utf-8")) if listed is None else listed
    found = tuple(_clause(name, **fields) for name, fields in told.items())
    plain = {one.id for one in found if not one.parts}
    for profile in found:
        if strange := [part for part in profile.parts if part not in plain]:
            raise ListRefused(f"{profile.id} is made of {', '.join(strange)}, which is no clause")
    return found


def _clause(
    name: str,
    *,
    level: str,
    rule: str,
    deferred: Mapping[str, Any] | None = None,
    inside: bool = False,
    parts: Collection[str] | None = None,
) -> Clause:
    if parts is not None and not parts:
        raise ListRefused(f"{name} is a profile of nothing")
    left = deferred or {}
    return Clause(
        name,
        level,
        rule,
        left.get("what"),
        is_deferred_whole=left.get("all", False),
        is_inside=inside,
        parts=tuple(parts or ()),
    )


def rows(known: Iterable[Clause], results: Iterable[Result], *, looked_inside: bool = True) -> list[Row]:
    """What *results* say of each clause, in the order of the list; *looked_inside*: all tests inside ran too."""
    listed, counted = tuple(known), tuple(results)
    own = {one.id: _row(one, counted, looked_inside=looked_inside) for one in listed}
    return [_profile(one, counted, own) if one.parts else own[one.id] for one in listed]


def _row(clause: Clause, results: Iterable[Result], *, looked_inside: bool) -> Row:
    about = [one for one in results if clause.id in one.clauses]
    inside, failed = sum(one.is_inside for one in about), sum(not one.passed for one in about)
    over_http = len(about) - inside
    if failed:
        verdict = Verdict.FAILS
    elif clause.is_deferred_whole:
        verdict = Verdict.DEFERRED
    elif not (inside if clause.is_inside else over_http):
        is_elsewhere = clause.is_inside and not looked_inside
        verdict = Verdict.NOT_OF_THIS_RUN if is_elsewhere else Verdict.NOT_TESTED
    else:
        verdict = Verdict.HOLDS_SO_FAR if clause.deferred else Verdict.HOLDS
    return Row(clause, over_http, inside, failed, verdict)


def _profile(profile: Clause, results: Iterable[Result], own: Mapping[str, Row]) -> Row:
    """It holds when each of its clauses does, and no test that is about the whole of it fails.

    What it asks for beside them needs such a test.
    """
    names = {profile.id, *profile.parts}
    about = [one for one in results if names.intersection(one.clauses)]
    inside, failed = sum(one.is_inside for one in about), sum(not one.passed for one in about)
    order = list(Verdict)
    asked = (*profile.parts, profile.id) if profile.is_inside else profile.parts
    worst = min((own[name].verdict for name in asked), key=order.index)
    verdict = Verdict.FAILS if failed else worst
    because_of = tuple(part for part in profile.parts if own[part].verdict is verdict is not Verdict.HOLDS)
    return Row(profile, len(about) - inside, inside, failed, verdict, because_of)


def gaps(known: Iterable[Clause], results: Iterable[Result], *, looked_inside: bool = True) -> list[str]:
    """What is wrong with a run of the whole suite besides tests that failed; empty when nothing is."""
    listed, counted = tuple(known), list(results)
    names = {clause.id for clause in listed}
    scored = [
        _row(clause, counted, looked_inside=looked_inside)
        for clause in listed
        if clause.is_inside or not clause.parts
    ]
    return [
        *(
            f"{row.clause.id} has no test"
            for row in scored
            if _lacks_a_test(row, looked_inside=looked_inside)
        ),
        *(
            f"{row.clause.id} is listed as deferred, and has tests"
            for row in scored
            if row.tests and row.clause.is_deferred_whole
        ),
        *(
            f"{row.clause.id} is listed as shown inside only, and has tests over HTTP"
            for row in scored
            if row.over_http and row.clause.is_inside
        ),
        *(
            f"{one.test} names {clause}, which is no clause"
            for one in counted
            for clause in one.clauses
            if clause not in names
        ),
        *(f"{one.test} names no clause" for one in counted if not one.clauses),
    ]


def _lacks_a_test(row: Row, *, looked_inside: bool) -> bool:
    """Nobody tried it from where it can be seen, whatever failed elsewhere."""
    clause = row.clause
    if clause.is_deferred_whole:
        return False
    return (looked_inside and not row.inside) if clause.is_inside else not row.over_http
