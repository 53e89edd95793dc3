"""What hosts send is read as strictly as what people send, and where nothing is to say nothing need be sent."""

import base64
import json
from typing import Any

import pytest

from tests.support.hosting import Host, text
from tests.support.laboratory import Laboratory

TO_SAY = {"outputs": {"fence": 1, "number": 1, **text("one")}, "finish": {"fence": 1, **text("two")}}
HELD = {"heartbeat": {"fence": 1}, "fail": {"fence": 1}, **TO_SAY}
NOTHING = ["turns", "interrupt", "complete", "error", "restrict"]
ROUTES = [*HELD, *NOTHING, "reconcile"]


@pytest.mark.parametrize("what", ROUTES)
@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        '"fence"',
        "null",
        "nonsense",
        '{"fence":1,"fence":1}',
        '{"fence":NaN}',
        '{"fence":1e999}',
        '{"fence":100000000000000000000}',
        '{"a":"\\ud800"}',
        "[" * 500,
        "\x1d",
        "\u2003",
    ],
)
def test_a_body_that_is_no_json_object_is_malformed(
    host: Host, live_lab: Laboratory, what: str, body: str
) -> None:
    task_id, _ = host.running()
    before = live_lab.everything()

    reply = host.ask(task_id, what, body)

    assert reply.status == 400
    assert [place["at"] for place in reply.json["errors"]] == ["body"]
    assert live_lab.everything() == before


@pytest.mark.parametrize("what", ROUTES)
def test_a_field_of_nobodys_is_refused_by_its_place(host: Host, live_lab: Laboratory, what: str) -> None:
    task_id, _ = host.running()
    body: dict[str, Any] = {**HELD.get(what, {}), **({"answer": "done"} if what == "reconcile" else {})}
    before = live_lab.everything()

    replies = [host.ask(task_id, what, {**body, name: 1}) for name in ("owner", "responsible_user", "Fence")]

    assert {reply.status for reply in replies} == {422}
    assert [reply.json["errors"] for reply in replies] == [
        [{"at": name, "problem": "is unknown here"}] for name in ("owner", "responsible_user", "Fence")
    ]
    assert live_lab.everything() == before


@pytest.mark.parametrize("what", HELD)
def test_a_fence_that_is_none_is_refused_by_its_place(host: Host, live_lab: Laboratory, what: str) -> None:
    task_id, _ = host.running()
    wrong: list[object] = ["1", True, 0, -1, 1.0, 1.5, None, [1], {"fence": 1}, 10**12 + 1, 2**63 - 1]
    before = live_lab.everything()

    replies = [host.ask(task_id, what, {**HELD[what], "fence": fence}) for fence in wrong]
    missing = {name: value for name, value in HELD[what].items() if name != "fence"}
    replies.append(host.ask(task_id, what, missing or None))

    assert {reply.status for reply in replies} == {422}
    assert {place["at"] for reply in replies for place in reply.json["errors"]} == {"fence"}
    assert live_lab.everything() == before


def test_the_number_of_an_output_that_is_none_is_refused_by_its_place(
    host: Host, live_lab: Laboratory
) -> None:
    task_id, _ = host.running()
    wrong: list[object] = ["1", True, 0, -1, 1.0, None, 2, 10**12 + 1]
    before = live_lab.everything()

    replies = [host.ask(task_id, "outputs", {**TO_SAY["outputs"], "number": number}) for number in wrong]

    assert {reply.status for reply in replies} == {422}
    assert {place["at"] for reply in replies for place in reply.json["errors"]} == {"number"}
    assert live_lab.everything() == before


PART = {"mimeType": "text/plain", "text": "hello"}
MESSAGES: dict[str, tuple[object, int, list[str]]] = {
    "a text": ("hello", 422, ["message"]),
    "no parts": ([], 422, ["message"]),
    "65 parts": ([PART] * 65, 422, ["message"]),
    "a part that is none": ([1], 422, ["message[0]"]),
    "no type": ([{"text": "hello"}], 422, ["message[0].mimeType"]),
    "another type": ([{**PART, "mimeType": "text/html"}], 422, ["message[0].mimeType"]),
    "no text": ([{"mimeType": "text/plain"}], 422, ["message[0].text"]),
    "a text too long": ([{**PART, "text": "x" * 100_001}], 422, ["message[0].text"]),
    "a text too long in bytes": ([{**PART, "text": "é" * 50_001}], 422, ["message[0].text"]),
    "another size": ([{**PART, "sizeBytes": 4}], 422, ["message[0].sizeBytes"]),
    "a text and a file": ([{**PART, "file": "task://a"}], 422, ["message[0].text"]),
    "a file that is not there": ([{"mimeType": "a/b", "file": "task://a"}], 422, ["message[0].file"]),
    "a file elsewhere": ([{"mimeType": "a/b", "file": "https://a.example/b"}], 422, ["message[0].file"]),
    "much metadata": ([{**PART, "metadata": {"a": "x" * 8_192}}], 422, ["message[0].metadata"]),
    "an unknown field": ([PART, {**PART, "role": "agent"}], 422, ["message[1].role"]),
    "256 KB": ([{**PART, "text": "x" * 90_000}] * 3, 413, []),
}


@pytest.mark.clause("CP-1")
@pytest.mark.parametrize("what", TO_SAY)
@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_is_held_to_the_limits_of_an_input(
    host: Host, live_lab: Laboratory, what: str, name: str
) -> None:
    message, status, places = MESSAGES[name]
    task_id, _ = host.running()
    before = live_lab.everything()

    reply = host.ask(task_id, what, {**TO_SAY[what], "message": message})

    assert reply.status == status
    assert [place["at"] for place in reply.json.get("errors", [])] == places
    assert live_lab.everything() == before


@pytest.mark.clause("IO-1")
def test_a_message_comes_to_people_as_its_host_sent_it(host: Host) -> None:
    parts = [
        {**PART, "text": 'quotes "\\" and é😀\u2028', "metadata": {"n": [1.50, 10**15, None]}},
        {**PART, "sizeBytes": 5},
    ]
    task_id, fence = host.running()

    host.ask(task_id, "outputs", {"fence": fence, "number": 1, "message": parts})
    host.ask(task_id, "finish", {"fence": fence, "message": parts[::-1]})

    seen = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    assert [entry["message"] for entry in seen[1:]] == [parts, parts[::-1]]
    assert all(entry.keys() == {"type", "message", "committed_at"} for entry in seen[1:])


@pytest.mark.parametrize("what", NOTHING)
@pytest.mark.parametrize("body", [None, "", " \n", "{}"])
def test_where_nothing_is_to_say_nothing_need_be_sent(host: Host, what: str, body: str | None) -> None:
    task_id = host.task("hi") if what == "turns" else host.running()[0]

    reply = host.ask(task_id, what, body)

    assert reply.status == (201 if what == "turns" else 200)


@pytest.mark.parametrize("what", ["outputs", "finish", "heartbeat", "fail", "reconcile"])
@pytest.mark.parametrize("body", [None, "", " ", "{}"])
def test_where_something_is_to_say_it_must_be_sent(host: Host, what: str, body: str | None) -> None:
    task_id, _ = host.running()

    reply = host.ask(task_id, what, body)

    assert reply.status == 422
    assert "is missing" in reply.body


def test_null_for_what_may_be_left_out_is_left_out(host: Host) -> None:
    task_id, fence = host.running()

    reply = host.ask(task_id, "finish", {"fence": fence, "message": None, "usage": None})

    assert reply.status == 200
    assert [entry["type"] for entry in host.messages(task_id)["messages"]] == ["input"]


def test_a_body_in_base64_is_read_like_any_other(host: Host) -> None:
    task_id, fence = host.running()
    packed = base64.b64encode(json.dumps({"fence": fence, **text("é")}).encode()).decode()
    request = host.api.event("POST", f"/v1/host/tasks/{task_id}/finish", signer=host.signer, body=packed)
    request["isBase64Encoded"] = True

    assert host.api.send(request).status == 200


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"after": "!"}, "after"),
        ({"after": ""}, "after"),
        ({"before": "x"}, "before"),
    ],
)
def test_a_query_that_is_wrong_is_refused_by_its_parameter(
    host: Host, query: dict[str, str], place: str
) -> None:
    task_id, _ = host.running()

    reply = host.send("GET", f"tasks/{task_id}/messages", query=query)

    assert reply.status == 400
    assert [one["at"] for one in reply.json["errors"]] == [place]
