"""Content parts: text in bounded pieces, refused and never cut where it is too much (CP-1 to CP-5)."""

import json
import ssl
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.conformance.client import Json, answered, text_part
from tests.conformance.host import Host
from tests.conformance.person import Person
from tests.conformance.target import Target

LARGEST_TEXT, LARGEST_METADATA = 100_000, 8 * 1024
TWO_BYTES = "é"
DATA_URI = "data:text/plain;base64,aGVsbG8="


def metadata_of(size: int) -> Json:
    """Metadata that is *size* bytes of compact JSON."""
    bare = len(json.dumps({"note": ""}, separators=(",", ":")))
    return {"note": "m" * (size - bare)}


def refused_at(owner: Person, task: str, part: Any) -> tuple[str, str]:
    """Where *part* is refused and why; it changes nothing."""
    before = owner.sees(task)
    answer = owner.ask("POST", f"tasks/{task}/inputs", {"message": [part]})
    assert answer.status_code == 422, answer.text
    assert owner.sees(task) == before
    error = answer.json()["errors"][0]
    return error["at"], error["problem"]


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize(
    ("part", "at"),
    [
        pytest.param({"mimeType": "text/plain"}, "message[0].text", id="neither text nor file"),
        pytest.param({**text_part("a"), "file": "task://a.txt"}, "message[0].text", id="both"),
        pytest.param({"text": "a"}, "message[0].mimeType", id="no type"),
        pytest.param({**text_part("a"), "colour": "red"}, "message[0].colour", id="an unknown key"),
        pytest.param({**text_part("a"), "text": 1}, "message[0].text", id="a number"),
        pytest.param({**text_part("a"), "sizeBytes": 2}, "message[0].sizeBytes", id="another size"),
        pytest.param({**text_part("a"), "metadata": []}, "message[0].metadata", id="metadata that is a list"),
        pytest.param("just text", "message[0]", id="no object"),
    ],
)
def test_a_part_of_another_shape_is_refused_with_where(
    owner: Person, idle: str, part: object, at: str
) -> None:
    assert refused_at(owner, idle, part)[0] == at


@pytest.mark.clause("CP-1")
def test_a_part_comes_back_as_it_was_sent(owner: Person, idle: str) -> None:
    part = {**text_part('\u00fcber \U0001f41d "quoted"\n\ttab'), "metadata": {"a": [1, None, {"b": True}]}}

    answered(owner.ask("POST", f"tasks/{idle}/inputs", {"message": [part]}), 202)

    assert owner.messages(idle)[0]["message"] == [part]


@pytest.mark.clause("CP-2")
@pytest.mark.parametrize("letter", ["a", TWO_BYTES])
def test_text_of_the_greatest_size_is_kept_whole(owner: Person, idle: str, letter: str) -> None:
    text = letter * (LARGEST_TEXT // len(letter.encode()))

    owner.tell(idle, text)

    assert owner.texts(idle) == [text]


@pytest.mark.clause("CP-2")
@pytest.mark.parametrize("letter", ["a", TWO_BYTES])
def test_one_letter_more_is_refused_with_how_much_is_taken(owner: Person, idle: str, letter: str) -> None:
    text = letter * (LARGEST_TEXT // len(letter.encode()) + 1)

    at, problem = refused_at(owner, idle, text_part(text))

    assert at == "message[0].text"
    assert str(LARGEST_TEXT) in problem.replace(",", "")


@pytest.mark.clause("CP-2")
@pytest.mark.parametrize("mime_type", ["text/html", "application/json", "TEXT/PLAIN", ""])
def test_text_is_plain(owner: Person, idle: str, mime_type: str) -> None:
    assert refused_at(owner, idle, {"mimeType": mime_type, "text": "a"})[0] == "message[0].mimeType"


@pytest.mark.clause("CP-2")
def test_what_an_agent_says_is_held_to_the_same_sizes(owner: Person, host: Host, queued: str) -> None:
    fence = host.start(queued)
    before = owner.sees(queued)

    refused = host.post(queued, "finish", fence=fence, message=[text_part("a" * (LARGEST_TEXT + 1))])

    assert refused.status_code == 422, refused.text
    assert owner.sees(queued) == before
    host.finish(queued, fence, "a" * LARGEST_TEXT)
    assert owner.texts(queued) == ["first", "a" * LARGEST_TEXT]


@pytest.mark.clause("CP-3")
def test_metadata_of_the_greatest_size_is_kept_whole(owner: Person, idle: str) -> None:
    part = {**text_part("a"), "metadata": metadata_of(LARGEST_METADATA)}

    answered(owner.ask("POST", f"tasks/{idle}/inputs", {"message": [part]}), 202)

    assert owner.messages(idle)[0]["message"] == [part]


@pytest.mark.clause("CP-3")
def test_one_byte_more_is_refused_with_how_much_is_taken(owner: Person, idle: str) -> None:
    part = {**text_part("a"), "metadata": metadata_of(LARGEST_METADATA + 1)}

    at, problem = refused_at(owner, idle, part)

    assert at == "message[0].metadata"
    assert str(LARGEST_METADATA) in problem


@pytest.mark.clause("CP-4")
@pytest.mark.parametrize(
    "uri",
    [
        "https://example.com/a.txt",
        "file:///etc/passwd",
        "s3://bucket/key",
        "task://../escapes.txt",
        "nowhere://a.txt",
        "a.txt",
    ],
)
def test_a_file_from_anywhere_else_is_refused_with_the_roots_there_are(
    owner: Person, idle: str, uri: str
) -> None:
    before = owner.sees(idle)

    answer = owner.ask("POST", f"tasks/{idle}/inputs", {"message": [{"mimeType": "text/plain", "file": uri}]})

    assert answer.status_code == 422, answer.text
    problems = {error["at"]: error["problem"] for error in answer.json()["errors"]}
    assert "root" in problems["message[0].file"]
    assert "task://" in problems["message[0].file"]
    assert owner.sees(idle) == before


@pytest.mark.clause("CP-4")
def test_a_file_that_was_never_sent_or_is_in_no_root_of_the_agent_is_refused(
    owner: Person, idle: str
) -> None:
    before = owner.sees(idle)

    for uri in ("task://never/sent.txt", "agent://a.txt", "workspace://a.txt"):
        part = {"mimeType": "text/plain", "file": uri}
        answer = owner.ask("POST", f"tasks/{idle}/inputs", {"message": [part]})

        assert answer.status_code == 422, answer.text
        assert [error["at"] for error in answer.json()["errors"]] == ["message[0].file"]
    assert owner.sees(idle) == before


@pytest.mark.clause("CP-5")
def test_what_is_large_travels_by_reference(owner: Person, other: Person, idle: str, target: Target) -> None:
    content = b"a" * (LARGEST_TEXT + 1)
    trust = ssl.create_default_context(cafile=target.certificate) if target.certificate else True
    new = {"name": "large.txt", "mimeType": "text/plain", "sizeBytes": len(content)}
    offer = owner.ask("POST", f"tasks/{idle}/files", new).json()
    with httpx.Client(verify=trust) as anybody:
        put = offer["upload"]
        sent = [anybody.put(put["url"], headers=put["headers"], content=content + b"a").status_code]
        sent += [anybody.put(put["url"], headers=put["headers"], content=content).status_code]

        part = {"mimeType": "text/plain", "file": offer["file"]}
        accepted = owner.ask("POST", f"tasks/{idle}/inputs", {"message": [part]})
        asked = f"tasks/{idle}/files?ref={quote(offer['file'], safe='')}"
        found, others = owner.ask("GET", asked), other.ask("GET", asked)
        got = anybody.get(found.json()["url"])

    assert sent == [403, 200]
    assert accepted.status_code == 202, accepted.text
    assert (got.status_code, got.content) == (200, content)
    assert others.status_code == 404


@pytest.mark.clause("CP-5")
@pytest.mark.parametrize("name", ["data", "bytes", "blob", "file"])
def test_no_bytes_travel_inside_a_part(owner: Person, idle: str, name: str) -> None:
    before = owner.sees(idle)

    part = {"mimeType": "image/png", name: DATA_URI}
    answer = owner.ask("POST", f"tasks/{idle}/inputs", {"message": [part]})

    assert answer.status_code == 422, answer.text
    assert f"message[0].{name}" in {error["at"] for error in answer.json()["errors"]}
    assert owner.sees(idle) == before


@pytest.mark.clause("CP-5")
def test_an_input_that_is_too_large_as_a_whole_is_refused(owner: Person, idle: str) -> None:
    before = owner.sees(idle)

    answer = owner.ask(
        "POST", f"tasks/{idle}/inputs", {"message": [text_part("a" * LARGEST_TEXT) for _ in range(3)]}
    )

    assert answer.status_code == 413, answer.text
    assert owner.sees(idle) == before
