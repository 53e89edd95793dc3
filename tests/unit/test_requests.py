"""What people may send: every wrong place is named at once, in our words."""

import base64
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnkeeper.domain.errors import InputTooLarge, InvalidInput, MalformedRequest, TaskError
from turnkeeper.domain.task import Phase
from turnkeeper.edge import bodies, requests
from turnkeeper.edge.problems import MOST_PLACES
from turnkeeper.edge.requests import ListQuery, MessagesQuery
from turnkeeper.service.rules import UNRULED, normalised

PART = {"mimeType": "text/plain", "text": "hi"}
OUR_NUMBERS = {"message": [{**PART, "metadata": {"pi": 3.140, "n": 2**63 - 1, "e": "é"}}]}


def post(body: object) -> dict[str, Any]:
    """An event with *body* as JSON, escaped as many clients do."""
    return {"body": json.dumps(body), "isBase64Encoded": False}


def ask(**parameters: str) -> dict[str, Any]:
    """An event with a query string, as the gateway takes it apart."""
    return {"queryStringParameters": parameters or None}


def refused(body: object) -> dict[str, str]:
    """What is wrong with *body* as an input of an agent that declares nothing, by place."""
    with pytest.raises(InvalidInput) as error:
        normalised(UNRULED, requests.input_content(post(body)))
    return {place.at: place.problem for place in error.value.places}


def refused_part(**changes: object) -> dict[str, str]:
    """What is wrong with a part that differs from a good one by *changes*; None takes a key away."""
    part = {name: value for name, value in {**PART, **changes}.items() if value is not ...}
    return refused({"message": [part]})


@pytest.mark.clause("IN-1a")
def test_an_input_is_kept_as_the_very_object_that_was_sent() -> None:
    event = post(OUR_NUMBERS)

    assert requests.input_content(event) == (
        '{"message":[{"mimeType":"text/plain","text":"hi","metadata":'
        '{"pi":3.14,"n":9223372036854775807,"e":"é"}}]}'
    )


def test_a_base64_body_is_the_same_input() -> None:
    body = base64.b64encode(json.dumps(OUR_NUMBERS).encode()).decode()

    packed = requests.input_content({"body": body, "isBase64Encoded": True})

    assert packed == requests.input_content(post(OUR_NUMBERS))


@pytest.mark.parametrize("event", [{}, {"body": None}, {"body": ""}, {"body": None, "isBase64Encoded": True}])
def test_a_missing_body_is_malformed(event: dict[str, Any]) -> None:
    with pytest.raises(MalformedRequest, match="body: is empty"):
        requests.input_content(event)


@pytest.mark.clause("CP-1")
def test_every_wrong_place_is_named_at_once_and_in_our_words() -> None:
    assert refused(
        {
            "message": [{"mimeType": "text/html", "text": 7}, PART, "text", {"sizeBytes": "2", "kind": 1}],
        }
    ) == {
        "message[0].mimeType": "must be 'text/plain'",
        "message[0].text": "must be a string",
        "message[2]": "must be an object",
        "message[3].mimeType": "is missing",
        "message[3].text": "is missing; a part has a text or a file",
        "message[3].sizeBytes": "must be a whole number",
        "message[3].kind": "is unknown here",
    }


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({}, "must be a list"),
        ("hi", "must be a list"),
        (None, "must be a list"),
        ([], "must have at least 1 entry"),
        ([PART] * 65, "may have at most 64 entries"),
    ],
)
def test_a_message_is_a_list_of_1_to_64_parts(message: object, problem: str) -> None:
    assert refused({"message": message}) == {"message": problem}


def test_64_parts_are_taken() -> None:
    assert requests.input_content(post({"message": [PART] * 64}))


def test_an_input_needs_a_message() -> None:
    assert refused({}) == {"message": "is missing"}


@pytest.mark.clause("IN-1a")
@pytest.mark.parametrize("sent", [{}, {"city": "Bern"}, {"message": [PART], "city": {"error": 1}}])
def test_an_input_is_offered_with_anything_beside_its_message(sent: dict[str, Any]) -> None:
    assert json.loads(requests.input_content(post(sent))) == sent


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize(
    ("message", "at"),
    [
        (None, "message"),
        ([], "message"),
        ([PART] * 65, "message"),
        ([PART, {**PART, "role": 1}], "message[1].role"),
    ],
)
def test_the_message_of_an_offer_is_held_to_its_bounds(message: object, at: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        requests.input_content(post({"message": message, "city": "Bern"}))

    assert [place.at for place in refusal.value.places] == [at]


@pytest.mark.clause("IO-6")
@pytest.mark.parametrize("name", ["type", "received_at", "committed_at", "error"])
def test_what_the_task_itself_says_of_an_entry_cannot_be_sent(name: str) -> None:
    assert refused({"message": [PART], name: "x"}) == {name: "is reserved for what the task itself says"}


@pytest.mark.clause("CP-2")
@pytest.mark.parametrize("character", ["a", "é", "😀"])
def test_a_text_of_100_000_bytes_is_taken_and_one_more_is_refused_with_its_size(character: str) -> None:
    size = len(character.encode())
    text = character * (100_000 // size)

    requests.input_content(post({"message": [{**PART, "text": text}]}))

    assert refused_part(text=text + "a") == {
        "message[0].text": "is 100001 bytes of UTF-8; at most 100000 are taken in one part, so split it"
    }


@pytest.mark.clause("CP-2")
@pytest.mark.parametrize("mime_type", ["text/html", "text/plain; charset=utf-8", "TEXT/PLAIN", "", 7, True])
def test_only_plain_text_is_taken(mime_type: object) -> None:
    assert refused_part(mimeType=mime_type) == {"message[0].mimeType": "must be 'text/plain'"}


@pytest.mark.clause("CP-1")
@pytest.mark.clause("CP-4")
@pytest.mark.parametrize("file", ["task://a.csv", "https://example.com/a", "no URI"])
@pytest.mark.parametrize("kind", ["text/csv", "text/plain", "application/vnd.ms-excel", "image/svg+xml"])
def test_a_part_may_name_a_file_of_any_type_and_which_there_are_is_for_the_task_to_say(
    file: str, kind: str
) -> None:
    part = {"mimeType": kind, "file": file, "sizeBytes": 7, "metadata": {"a": 1}}

    assert json.loads(requests.input_content(post({"message": [part]}))) == {"message": [part]}


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize("text", ["hi", ""])
def test_a_part_has_a_text_or_a_file_and_never_both(text: str) -> None:
    assert refused_part(file="task://a.csv", text=text) == {
        "message[0].text": "stands beside a file; a part has one of them"
    }
    assert refused_part(text=...) == {"message[0].text": "is missing; a part has a text or a file"}


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    ("file", "problem"),
    [
        (None, "must be a string"),
        (7, "must be a string"),
        ({"a": 1}, "must be a string"),
        ("", "is empty; leave it out"),
    ],
)
def test_a_file_is_named_by_a_text(file: object, problem: str) -> None:
    assert refused_part(file=file, text=...) == {"message[0].file": problem}


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize(
    "kind", ["text", "text/", "/csv", "text/csv; a=b", "a b/c", "text/c\n", "t/" + "c" * 254, 7]
)
def test_the_type_of_a_file_is_a_type_and_a_subtype(kind: object) -> None:
    assert refused_part(file="task://a", text=..., mimeType=kind) == {
        "message[0].mimeType": "must be a type of files, such as application/pdf, without parameters"
    }
    assert refused_part(file="task://a", text=..., mimeType=...) == {"message[0].mimeType": "is missing"}
    requests.input_content(post({"message": [{"file": "task://a", "mimeType": "t/" + "c" * 253}]}))


@pytest.mark.clause("CP-1")
def test_the_size_of_a_file_is_no_less_than_nothing() -> None:
    problem = {"message[0].sizeBytes": "must be at least 0"}

    assert refused_part(file="task://a", text=..., sizeBytes=-1) == problem
    requests.input_content(post({"message": [{"file": "task://a", "mimeType": "t/c", "sizeBytes": 0}]}))


@pytest.mark.clause("CP-5")
@pytest.mark.parametrize("name", ["data", "bytes", "blob", "mime_type", "size_bytes"])
def test_a_part_has_no_other_fields(name: str) -> None:
    assert refused_part(**{name: "aGk="}) == {f"message[0].{name}": "is unknown here"}


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize(("text", "size"), [("hi", 2), ("é", 2), ("", 0)])
def test_the_size_of_a_part_is_taken_when_it_is_true(text: str, size: int) -> None:
    assert requests.input_content(post({"message": [{**PART, "text": text, "sizeBytes": size}]}))


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize("size", [1, 3, 0, -2, 2**63 - 1])
def test_a_size_that_is_not_the_texts_is_refused(size: int) -> None:
    assert refused_part(sizeBytes=size) == {
        "message[0].sizeBytes": "must be the size of the text, which is 2 bytes of UTF-8"
    }


@pytest.mark.parametrize("size", [True, 2.0, "2", None, [2]])
def test_a_size_is_a_whole_number_and_nothing_that_looks_like_one(size: object) -> None:
    assert refused_part(sizeBytes=size) == {"message[0].sizeBytes": "must be a whole number"}


@pytest.mark.clause("CP-3")
@pytest.mark.parametrize("character", ["a", "é"])
def test_metadata_of_8_kb_is_taken_and_one_more_byte_is_refused(character: str) -> None:
    fits = {"k": character * ((8192 - len('{"k":""}')) // len(character.encode()))}

    requests.input_content(post({"message": [{**PART, "metadata": fits}]}))

    assert refused_part(metadata={"k": fits["k"] + "a"}) == {
        "message[0].metadata": "is 8193 bytes serialised; at most 8192 are taken"
    }


@pytest.mark.parametrize("metadata", [[], "a", None, 1])
def test_metadata_is_an_object(metadata: object) -> None:
    assert refused_part(metadata=metadata) == {"message[0].metadata": "must be an object"}


@pytest.mark.clause("CP-5")
def test_an_input_of_256_kb_is_taken_and_one_more_byte_is_too_large() -> None:
    def with_size(size: int) -> dict[str, Any]:
        parts = [{**PART, "text": "a" * 85_000} for _ in range(3)]
        rest = size - len(json.dumps({"message": parts}, separators=(",", ":")))
        parts[0]["text"] += "a" * rest
        return {"message": parts}

    assert len(requests.input_content(post(with_size(256 * 1024)))) == 256 * 1024

    with pytest.raises(InputTooLarge) as refusal:
        requests.input_content(post(with_size(256 * 1024 + 1)))
    assert (refusal.value.size, refusal.value.limit) == (256 * 1024 + 1, 256 * 1024)


def test_the_size_of_an_input_is_that_of_what_is_kept_not_of_what_was_sent() -> None:
    text = "é" * 49_000
    sent = json.dumps({"message": [{**PART, "text": text}] * 2}, indent=40)

    assert len(sent) > 256 * 1024
    assert len(requests.input_content({"body": sent}).encode()) < 256 * 1024


def test_an_input_that_fits_is_taken_with_every_character_escaped() -> None:
    text = "".join(f"\\u{ord(character):04x}" for character in "a" * 60_000)
    part = f'{{"mimeType":"text/plain","text":"{text}"}}'

    kept = requests.input_content({"body": f'{{"message":[{",".join([part] * 4)}]}}'})

    assert len(kept) < 256 * 1024


def test_a_body_that_can_hold_no_input_is_not_even_parsed() -> None:
    with pytest.raises(InputTooLarge):
        requests.input_content({"body": "{ this is no JSON " + " " * 2 * 1024 * 1024})


def test_a_packed_body_is_as_large_as_what_was_packed() -> None:
    packed = base64.b64encode(b"a" * 3_000_000).decode()

    with pytest.raises(InputTooLarge) as refusal:
        requests.input_content({"body": packed, "isBase64Encoded": True})

    assert refusal.value.size == 3_000_000


def test_no_more_places_are_looked_up_than_an_answer_names() -> None:
    started = time.perf_counter()

    assert len(refused({f"x{number}": 1 for number in range(9_000)})) == MOST_PLACES + 1
    assert time.perf_counter() - started < 2


def test_what_a_stranger_sent_never_comes_back_at_length() -> None:
    assert refused_part(mimeType="m" * 5000) == {"message[0].mimeType": "must be 'text/plain'"}
    assert refused({"k" * 5000: 1, 'q"\n]': 1, "message": [PART]}) == {
        f'["{"k" * 40}\\u2026"]': "is an unknown parameter",
        '["q\\"\\n]"]': "is an unknown parameter",
    }


def test_a_new_task_names_an_agent_and_may_bring_an_input() -> None:
    assert requests.creation(post({"agent": "echo"})) == requests.Creation(agent="echo", content=None)
    assert requests.creation(
        post({"agent": "slow_echo-2", "input": {"message": [PART]}})
    ) == requests.Creation(agent="slow_echo-2", content='{"message":[{"mimeType":"text/plain","text":"hi"}]}')


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, {"agent": "is missing"}),
        ({"agent": 7}, {"agent": "must be a string"}),
        ({"agent": "echo", "input": None}, {"input": "must be an object"}),
        ({"agent": "echo", "input": []}, {"input": "must be an object"}),
        (
            {"agent": "echo", "input": {"message": [{**PART, "text": 1}], "city": "Bern"}},
            {"input.message[0].text": "must be a string"},
        ),
        ({"agent": "echo", "responsible_user": "bob"}, {"responsible_user": "is unknown here"}),
        ({"agent": "echo", "message": [PART]}, {"message": "is unknown here"}),
    ],
)
def test_a_new_task_that_is_wrong_is_refused_with_its_places(body: object, places: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as refusal:
        requests.creation(post(body))

    assert {place.at: place.problem for place in refusal.value.places} == places


@pytest.mark.parametrize(
    "agent", ["", "Echo", "-echo", "_echo", "echo\n", "e" * 65, "é", "a.b", "a/b", "\u0663"]
)
def test_an_agents_name_has_a_pattern(agent: str) -> None:
    with pytest.raises(InvalidInput, match="agent: must be 1 to 64 of a-z, 0-9, _ and -"):
        requests.creation(post({"agent": agent}))


def test_a_list_is_asked_for_with_filters_a_limit_and_a_cursor() -> None:
    assert bodies.query(ListQuery, ask()) == ListQuery(phase=None, agent=None, limit=20, cursor=None)
    assert bodies.query(
        ListQuery, ask(phase="idle", agent="echo", limit="100", cursor="abc_-=")
    ) == ListQuery(phase=Phase.IDLE, agent="echo", limit=100, cursor="abc_-=")


def test_messages_are_asked_for_with_a_limit_and_a_cursor() -> None:
    assert bodies.query(MessagesQuery, {}) == MessagesQuery(after=None, limit=100)
    assert bodies.query(MessagesQuery, ask(after="abc", limit="1000")) == MessagesQuery(
        after="abc", limit=1000
    )


@pytest.mark.parametrize(
    "limit", ["0", "101", "-1", "+5", "05", "1.0", " 5", "5 ", "1_0", "", "five", "\u0665", "9" * 5000]
)
def test_a_limit_is_a_whole_number_within_its_range(limit: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        bodies.query(ListQuery, ask(limit=limit))

    assert [str(place.at) for place in refusal.value.places] == ["limit"]
    assert refusal.value.places[0].problem == "must be a whole number from 1 to 100"


def test_every_wrong_parameter_of_a_query_is_named() -> None:
    with pytest.raises(MalformedRequest) as refusal:
        bodies.query(ListQuery, ask(phase="over", agent="Echo", cursor="", offset="3", **{"x" * 99: ""}))

    assert {place.at: place.problem for place in refusal.value.places} == {
        "phase": "must be 'idle', 'processing' or 'terminal'",
        "agent": "must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or a digit",
        "cursor": "is empty; leave it out",
        "offset": "is unknown here",
        f'["{"x" * 40}\\u2026"]': "is unknown here",
    }


@pytest.mark.parametrize("name", ["phase", "agent", "limit", "cursor"])
def test_a_parameter_is_given_once(name: str) -> None:
    """The gateway joins what was given twice with a comma."""
    value = {"phase": "idle", "agent": "echo", "limit": "5", "cursor": "abc"}[name]

    with pytest.raises(MalformedRequest) as refusal:
        bodies.query(ListQuery, ask(**{name: f"{value},{value}"}))

    assert [(place.at, place.problem) for place in refusal.value.places] == [
        (name, "must be one value, given once")
    ]


@pytest.mark.parametrize("key", ["k", "k" * 255, "!~,;\"'"])
def test_an_idempotency_key_is_1_to_255_visible_characters(key: str) -> None:
    assert bodies.idempotency_key({"headers": {"idempotency-key": key}}) == key


@pytest.mark.parametrize("event", [{}, {"headers": None}, {"headers": {"accept": "*/*"}}])
def test_an_idempotency_key_may_be_left_out(event: dict[str, Any]) -> None:
    assert bodies.idempotency_key(event) is None


@pytest.mark.parametrize("key", ["", "k" * 256, "a b", "a\t", "é", "a\n", "\x7f"])
def test_any_other_idempotency_key_is_refused_by_the_headers_name(key: str) -> None:
    with pytest.raises(
        MalformedRequest, match="Idempotency-Key: must be one key of 1 to 255 visible ASCII characters"
    ):
        bodies.idempotency_key({"headers": {"idempotency-key": key}})


SCALAR = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=9)
NAMES = st.sampled_from(
    ["message", "mimeType", "text", "file", "sizeBytes", "metadata", "agent", "input", "type", "error", "x.y"]
)
ANYTHING = st.recursive(
    SCALAR | st.just(PART) | st.just("text/plain"),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, ANYTHING, max_size=4))
def test_whatever_is_wrong_is_said_in_our_words(body: dict[str, Any]) -> None:
    for read in (requests.creation, requests.input_content):
        try:
            read(post(body))
        except InvalidInput as refusal:
            words = [place.problem for place in refusal.places]
            assert words
            assert not [problem for problem in words if "Input should" in problem or "acceptable" in problem]
        except TaskError:
            pass
