"""An agent's manifest: durations, terms with their defaults, and a version that is its content."""

import json
from datetime import timedelta

import pytest

from turnkeeper.agents import builtin
from turnkeeper.domain.manifest import ATTEMPTS, BACKOFF, LIFESPAN, MAX_AGE, duration, parse


@pytest.mark.parametrize(
    ("text", "lasts"),
    [
        ("500ms", timedelta(milliseconds=500)),
        ("30s", timedelta(seconds=30)),
        ("30m", timedelta(minutes=30)),
        ("2h", timedelta(hours=2)),
        ("7d", timedelta(days=7)),
        ("0s", timedelta(0)),
        ("90m", timedelta(hours=1, minutes=30)),
    ],
)
def test_a_duration_is_a_number_and_its_unit(text: str, lasts: timedelta) -> None:
    assert duration(text) == lasts


@pytest.mark.parametrize(
    "text", ["", "7", "d", "7 d", "7D", "-1s", "1.5h", "1h30m", "7days", "٣s", "7d\n", " 7d", "1e3s"]
)
def test_anything_else_is_no_duration_and_the_refusal_says_how_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="write a number and ms, s, m, h or d"):
        duration(text)


@pytest.mark.parametrize("text", ["3651d", "999999999d", "9999999999999999999d", "9" * 5_000 + "ms"])
def test_a_duration_that_no_calendar_holds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is too long; at most 3650d"):
        duration(text)


def test_ten_years_are_a_duration() -> None:
    assert duration("3650d") == timedelta(days=3_650)


def manifest_of(**fields: object) -> str:
    return json.dumps({"name": "a", "description": "b", **fields})


def test_an_agent_that_says_nothing_lives_on_the_default_terms_and_is_not_repeated() -> None:
    terms = parse(manifest_of()).terms

    assert (terms.lifespan, terms.max_age, terms.backoff) == (LIFESPAN, MAX_AGE, BACKOFF)
    assert (terms.repeatable, terms.attempts) == (False, 1)


def test_an_agent_that_may_be_repeated_gets_three_attempts() -> None:
    assert parse(manifest_of(turnkeeper={"repeatable": True})).terms.attempts == ATTEMPTS == 3


def test_an_agents_own_terms_are_taken() -> None:
    ours = {"lifespan": "5s", "repeatable": True, "attempts": 5, "backoff": ["1s", "2s"]}

    terms = parse(manifest_of(limits={"max_age": "2h"}, turnkeeper=ours)).terms

    assert (terms.lifespan, terms.max_age) == (timedelta(seconds=5), timedelta(hours=2))
    assert (terms.attempts, terms.backoff) == (5, (timedelta(seconds=1), timedelta(seconds=2)))


def test_a_version_depends_on_what_a_manifest_says_and_not_on_how_it_is_written() -> None:
    one = parse('{"name": "a", "description": "b"}')
    same = parse('{\n  "description": "b",\n  "name": "a"}')
    other = parse('{"name": "a", "description": "c"}')

    assert one.version == same.version
    assert one.document == same.document
    assert one.version != other.version


@pytest.mark.parametrize("name", sorted(builtin.AGENTS))
def test_every_built_in_agent_has_a_manifest_of_its_name(name: str) -> None:
    manifest = builtin.manifest(name)

    assert manifest
    assert manifest.name == name
    assert manifest.description


def test_an_agent_that_is_not_built_in_has_none() -> None:
    assert builtin.manifest("nobody") is None
