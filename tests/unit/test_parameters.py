"""Parameters beside a message: defaults filled in, and every wrong place named."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from turnkeeper.domain.errors import InvalidInput
from turnkeeper.domain.uris import Root
from turnkeeper.guards.parameters import MOST_VALUES, NONE, Parameters, check_input, read, shown

MESSAGE = {"message": [{"mimeType": "text/plain", "text": "hi"}]}


def declared(required: list[str] | None = None, **properties: dict[str, Any]) -> Parameters:
    """Parameters as a manifest declares them, in the newer form when *required* is given."""
    newer = {} if required is None else {"required": required}
    return read({"type": "object", "properties": properties, **newer})


def refused(
    parameters: Parameters, given: Mapping[str, object] | None = None, at: tuple[str, ...] = ()
) -> dict[str, str]:
    with pytest.raises(InvalidInput) as error:
        check_input(parameters, {**MESSAGE, **(given or {})}, at=at)
    found = {place.at: place.problem for place in error.value.places}
    assert len(found) == len(error.value.places)
    return found


@pytest.mark.clause("IN-1a")
@pytest.mark.clause("IO-7")
def test_defaults_are_filled_in_and_what_is_optional_may_be_missing() -> None:
    parameters = declared(
        ["number"],
        number={"type": "string"},
        amount={"type": "number", "default": 0},
        note={"type": "string"},
        tags={"type": "array", "default": ["new"]},
        nothing={"default": None},
    )

    assert check_input(parameters, {**MESSAGE, "number": "A-1"}) == {
        **MESSAGE,
        "number": "A-1",
        "amount": 0,
        "tags": ["new"],
        "nothing": None,
    }
    assert check_input(parameters, {**MESSAGE, "number": "A-1", "amount": 3, "tags": []})["amount"] == 3


@pytest.mark.clause("IN-1a")
def test_defaults_within_an_object_that_was_sent_are_filled_in_too() -> None:
    parameters = declared([], to={"type": "object", "properties": {"country": {"default": "CH"}}})

    assert check_input(parameters, {**MESSAGE, "to": {"city": "Bern"}})["to"] == {
        "city": "Bern",
        "country": "CH",
    }
    assert "to" not in check_input(parameters, MESSAGE)


@pytest.mark.clause("IN-1a")
def test_what_was_sent_is_not_changed_by_filling_it() -> None:
    sent: dict[str, Any] = {**MESSAGE, "to": {}}

    check_input(declared([], to={"properties": {"x": {"default": 1}}}, y={"default": 2}), sent)

    assert sent == {**MESSAGE, "to": {}}


@pytest.mark.clause("IO-7")
def test_in_the_older_form_what_has_no_default_is_required() -> None:
    parameters = declared(version={"type": "string"}, tone={"type": "string", "default": "neutral"})

    assert refused(parameters) == {"version": "is missing"}
    assert check_input(parameters, {**MESSAGE, "version": "1"}) == {
        **MESSAGE,
        "version": "1",
        "tone": "neutral",
    }


@pytest.mark.clause("IO-7")
def test_a_required_parameter_with_a_default_is_there_always() -> None:
    assert check_input(declared(["a"], a={"default": 1}), MESSAGE) == {**MESSAGE, "a": 1}


@pytest.mark.clause("IN-1a")
def test_an_agent_without_parameters_takes_none() -> None:
    assert check_input(NONE, MESSAGE) == MESSAGE
    assert refused(NONE, {"city": "Bern"}) == {"city": "is an unknown parameter"}
    assert read(None) == NONE


@pytest.mark.clause("IO-6")
@pytest.mark.parametrize("name", ["type", "received_at", "committed_at", "error"])
def test_what_the_task_itself_says_is_no_parameter(name: str) -> None:
    assert refused(NONE, {name: "x"}) == {name: "is reserved for what the task itself says"}


@pytest.mark.clause("IO-6")
def test_a_message_may_be_declared_to_give_it_a_default() -> None:
    parameters = declared([], message={"default": MESSAGE["message"]})

    assert check_input(parameters, {}) == MESSAGE
    other = {"message": [{"mimeType": "text/plain", "text": "other"}]}
    assert check_input(parameters, other) == other


@pytest.mark.clause("IN-1a")
def test_an_input_without_a_message_is_refused_where_there_is_none_by_default() -> None:
    with pytest.raises(InvalidInput, match=r"input\.message: is missing"):
        check_input(declared([], a={"default": 1}), {"a": 2}, at=("input",))


ONE_OF_EACH: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "minLength": 2, "maxLength": 3},
    "amount": {"type": "number", "minimum": 0, "maximum": 500},
    "count": {"type": "integer"},
    "sure": {"type": "boolean"},
    "channel": {"enum": ["web", 1]},
    "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
    "to": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
        "required": ["city", "zip"],
    },
    "any": {},
}


@pytest.mark.clause("IN-1a")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text", "ab"),
        ("text", "éé"),
        ("amount", 0),
        ("amount", 499.5),
        ("count", 7),
        ("count", 7.0),
        ("sure", False),
        ("channel", "web"),
        ("channel", 1),
        ("tags", ["a"]),
        ("to", {"city": "Bern", "zip": "3000", "street": "x"}),
        ("any", None),
    ],
)
def test_what_matches_its_schema_is_taken(name: str, value: object) -> None:
    assert check_input(declared([], **ONE_OF_EACH), {**MESSAGE, name: value})[name] == value


@pytest.mark.clause("IN-1a")
@pytest.mark.parametrize(
    ("name", "value", "places"),
    [
        ("text", 1, {"text": "must be a string"}),
        ("text", "a", {"text": "must have at least 2 characters"}),
        ("text", "abcd", {"text": "may have at most 3 characters"}),
        ("text", None, {"text": "must be a string"}),
        ("amount", "3", {"amount": "must be a number"}),
        ("amount", True, {"amount": "must be a number"}),
        ("amount", -0.5, {"amount": "must be at least 0"}),
        ("amount", 501, {"amount": "must be at most 500"}),
        ("count", 1.5, {"count": "must be a whole number"}),
        ("sure", 1, {"sure": "must be true or false"}),
        ("channel", "fax", {"channel": "must be one of those that the agent declares"}),
        ("channel", True, {"channel": "must be one of those that the agent declares"}),
        ("tags", "a", {"tags": "must be a list"}),
        ("tags", [], {"tags": "must have at least 1 entries"}),
        (
            "tags",
            ["a", 2, 3],
            {
                "tags": "may have at most 2 entries",
                "tags[1]": "must be a string",
                "tags[2]": "must be a string",
            },
        ),
        ("to", {}, {"to.city": "is missing", "to.zip": "is missing"}),
        ("to", {"zip": 3000}, {"to.city": "is missing", "to.zip": "must be a string"}),
    ],
)
def test_what_does_not_match_is_refused_with_its_place(
    name: str, value: object, places: dict[str, str]
) -> None:
    assert refused(declared([], **ONE_OF_EACH), {name: value}) == places


@pytest.mark.clause("AG-1")
def test_every_wrong_place_is_named_at_once_below_where_the_input_stands() -> None:
    parameters = declared(["a", "b"], a={"type": "string"}, b={"type": "string"})

    assert refused(parameters, {"a": 1, "c": 2, "error": "x"}, ("input",)) == {
        "input.a": "must be a string",
        "input.b": "is missing",
        "input.c": "is an unknown parameter",
        "input.error": "is reserved for what the task itself says",
    }


@pytest.mark.clause("CP-4")
def test_a_parameter_that_is_a_file_is_held_to_the_roots_there_are() -> None:
    parameters = declared([], doc={"type": "file"}, more={"type": "array", "items": {"type": "file"}})
    sent = {**MESSAGE, "doc": "task://a.pdf"}

    assert check_input(parameters, sent, roots={Root.TASK}) == sent
    assert refused(parameters, {"doc": "task://a.pdf", "more": ["https://a.b/c"]}) == {
        "doc": "is in a root that is not available here; no root for files is available",
        "more[0]": "has a scheme that no root has, and nothing remote is fetched; no root for files is available",
    }
    assert refused(parameters, {"doc": 7}) == {"doc": "must be a string"}


def test_the_parameters_of_an_input_hold_10_000_values_and_not_one_more() -> None:
    parameters = declared([], a={"type": "array", "items": {"type": "array"}})

    fits = [[0] * (MOST_VALUES - 2)]
    assert check_input(parameters, {**MESSAGE, "a": fits})["a"] is fits
    assert refused(parameters, {"a": [[0] * (MOST_VALUES - 1)]}) == {
        "body": "may hold at most 10000 values in its parameters"
    }


def test_no_input_that_is_taken_is_checked_for_long() -> None:
    """The most values, each against the longest list of choices, the last of which it is."""
    choices = [f"{number:04}" for number in range(100)]
    parameters = declared([], a={"type": "array", "items": {"type": "string", "enum": choices}})
    started = time.perf_counter()

    assert check_input(parameters, {**MESSAGE, "a": [choices[-1]] * (MOST_VALUES - 1)})
    assert len(refused(parameters, {"a": ["x"] * (MOST_VALUES - 1)})) == 21
    assert time.perf_counter() - started < 2


def test_what_is_shown_of_parameters_is_json_schema_with_all_that_the_published_form_leaves_to_know() -> None:
    parameters = declared(
        to={"type": "string", "title": "Where to", "description": "A town.", "require_binding": True},
        price={"type": "number", "default": 0, "maximum": 1000, "minimum": None},
        ticket={"type": "file"},
        seats={
            "type": "array",
            "maxItems": 4,
            "items": {
                "type": "object",
                "properties": {
                    "row": {"type": "integer"},
                    "plan": {"type": "file"},
                    "kind": {"default": "aisle"},
                },
                "required": ["row", "kind"],
            },
        },
        message={"default": [{"mimeType": "text/plain", "text": "Book it."}]},
    )

    found = shown(parameters)

    Draft202012Validator.check_schema(found)
    assert found == {
        "type": "object",
        "properties": {
            "to": {"type": "string", "title": "Where to", "description": "A town."},
            "price": {"type": "number", "default": 0, "maximum": 1000},
            "ticket": {"type": "string", "format": "file"},
            "seats": {
                "type": "array",
                "maxItems": 4,
                "items": {
                    "type": "object",
                    "properties": {
                        "row": {"type": "integer"},
                        "plan": {"type": "string", "format": "file"},
                        "kind": {"default": "aisle"},
                    },
                    "required": ["row"],
                },
            },
        },
        "required": ["to", "ticket", "seats"],
        "additionalProperties": False,
    }


def test_an_agent_without_parameters_shows_that_it_takes_none() -> None:
    assert shown(NONE) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


SCHEMAS = st.recursive(
    st.sampled_from(
        [{"type": "string"}, {"type": "integer", "minimum": 1}, {"default": 1}, {"enum": ["a", 2]}]
    ),
    lambda inner: st.dictionaries(st.sampled_from("ab"), inner).map(
        lambda inside: {"type": "object", "properties": inside, "required": [*inside][:1]}
    ),
    max_leaves=4,
)
VALUES = st.recursive(
    st.sampled_from([1, 0, "a", "b", None]), lambda inner: st.dictionaries(st.sampled_from("ab"), inner)
)


@given(
    st.dictionaries(st.sampled_from("abc"), SCHEMAS),
    st.none() | st.just(["a"]),
    st.dictionaries(st.sampled_from("abcd"), VALUES),
)
def test_what_fits_the_shown_schema_is_what_is_taken(
    properties: dict[str, Any], required: list[str] | None, sent: dict[str, Any]
) -> None:
    parameters = declared(required, **properties)
    fits = Draft202012Validator(shown(parameters)).is_valid(sent)

    try:
        check_input(parameters, {**MESSAGE, **sent})
    except InvalidInput:
        assert not fits
    else:
        assert fits
