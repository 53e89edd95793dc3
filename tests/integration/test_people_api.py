"""The people's API through the functions: what each route answers, and that a refusal stores nothing."""

import json
import re
from typing import Any

import pytest

from tests.support.gateway import REQUEST_ID, Gateway
from tests.support.laboratory import Laboratory, said, texts
from tests.support.reply import Reply
from turnkeeper.domain.status import status_object

HELLO = {"message": [{"mimeType": "text/plain", "text": "hello"}]}
FILE = {"name": "a.csv", "mimeType": "text/csv", "sizeBytes": 3}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
NO_SUCH_TASK = "0" * 32


def problem(reply: Reply) -> dict[str, Any]:
    """The problem that *reply* is."""
    assert reply.headers["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = reply.json
    assert body["status"] == reply.status
    return body


@pytest.mark.clause("BND-HTTP-2")
@pytest.mark.clause("TS-9")
def test_a_task_made_with_an_input_is_accepted_and_shown(api: Gateway, live_lab: Laboratory) -> None:
    reply = api.post("/v1/tasks", {"agent": "echo", "input": HELLO})
    task = live_lab.stored(reply.json["id"])

    assert reply.status == 202
    assert reply.json == status_object(task)
    assert reply.json["status"]["phase"] == "processing"
    assert reply.headers["Location"] == f"tasks/{task.id}"
    assert reply.headers["ETag"] == f'"{task.revision}"'
    assert reply.headers["Poll-After"] == "1"
    assert INSTANT.fullmatch(reply.headers["Received-At"])
    assert reply.headers["Cache-Control"] == "private, no-store"
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.headers["X-Correlation-Id"] == REQUEST_ID


def test_a_task_made_without_an_input_is_created_and_idle(api: Gateway) -> None:
    reply = api.post("/v1/tasks", {"agent": "echo"})

    assert reply.status == 201
    assert reply.json["status"]["phase"] == "idle"
    assert reply.json["responsible_user"] == "alice-sub"
    assert reply.headers["Location"] == f"tasks/{reply.json['id']}"
    assert reply.headers["Poll-After"] == "5"
    assert "Received-At" not in reply.headers


@pytest.mark.clause("IN-1c")
def test_an_input_is_accepted_while_the_task_is_busy(api: Gateway, live_lab: Laboratory) -> None:
    first = api.post("/v1/tasks", {"agent": "echo", "input": HELLO})

    second = api.post(f"/v1/tasks/{first.json['id']}/inputs", HELLO)

    assert second.status == 202
    assert second.json == status_object(live_lab.stored(first.json["id"]))
    assert second.headers["Received-At"] > first.headers["Received-At"]
    assert second.headers["ETag"] not in {first.headers["ETag"], None}
    assert second.headers["Poll-After"] == "1"
    assert "Location" not in second.headers


@pytest.mark.clause("IO-1")
def test_the_conversation_comes_as_it_was_sent_with_the_revision_it_has(
    api: Gateway, live_lab: Laboratory
) -> None:
    text = 'quotes "\\" and é😀\u2028'
    made = api.post("/v1/tasks", {"agent": "echo", "input": json.loads(said(text))})
    live_lab.clock.forward(seconds=5)
    live_lab.work()

    reply = api.get(f"/v1/tasks/{made.json['id']}/messages")

    entries = reply.json["messages"]
    assert reply.status == 200
    assert next(texts(entries)) == ("input", text)
    assert [entry["type"] for entry in entries] == ["input", "output"]
    assert entries[0]["received_at"] == made.headers["Received-At"]
    assert reply.json.keys() == {"messages", "next", "more"}
    assert reply.json["more"] is False
    assert reply.headers["ETag"] == f'"{live_lab.stored(made.json["id"]).revision}"'
    assert reply.headers["Cache-Control"] == "private, no-store"


def test_the_conversation_is_paged_by_a_cursor(api: Gateway) -> None:
    task_id = api.post("/v1/tasks", {"agent": "echo"}).json["id"]
    for text in "abc":
        api.post(f"/v1/tasks/{task_id}/inputs", json.loads(said(text)))

    first = api.get(f"/v1/tasks/{task_id}/messages", query={"limit": "2"}).json
    rest = api.get(f"/v1/tasks/{task_id}/messages", query={"limit": "2", "after": first["next"]}).json

    assert [text for _, text in texts(first["messages"] + rest["messages"])] == ["a", "b", "c"]
    assert (first["more"], rest["more"]) == (True, False)


def test_a_page_full_of_quotes_still_leaves_the_function(api: Gateway) -> None:
    """Lambda wraps an answer in JSON of its own and lets no more than 6 MB go."""
    task_id = api.post("/v1/tasks", {"agent": "echo"}).json["id"]
    quotes = {"message": [{"mimeType": "text/plain", "text": '"' * 60_000}] * 2}
    for _ in range(17):
        assert api.post(f"/v1/tasks/{task_id}/inputs", quotes).status == 202

    reply = api.get(f"/v1/tasks/{task_id}/messages")

    assert reply.status == 200
    assert len(reply.body.encode()) > 3_000_000
    assert api.sent_bytes < 6_291_556


def test_my_tasks_come_newest_first_page_by_page(api: Gateway, live_lab: Laboratory) -> None:
    ids = [api.post("/v1/tasks", {"agent": "echo"}).json["id"] for _ in range(3)]
    api.post("/v1/tasks", {"agent": "echo"}, person="bob-sub")

    first = api.get("/v1/tasks", query={"limit": "2"})
    rest = api.get("/v1/tasks", query={"limit": "2", "cursor": first.json["next"]})

    assert first.status == 200
    assert first.headers["Cache-Control"] == "private, no-store"
    assert [task["id"] for task in first.json["tasks"] + rest.json["tasks"]] == ids[::-1]
    assert first.json["tasks"][0] == status_object(live_lab.stored(ids[2]))
    assert rest.json["next"] is None


def test_my_tasks_are_filtered_by_phase_and_agent(api: Gateway) -> None:
    idle = api.post("/v1/tasks", {"agent": "echo"}).json["id"]
    busy = api.post("/v1/tasks", {"agent": "echo", "input": HELLO}).json["id"]
    slow = api.post("/v1/tasks", {"agent": "slow_echo"}).json["id"]

    def found(**query: str) -> set[str]:
        return {task["id"] for task in api.get("/v1/tasks", query=query).json["tasks"]}

    assert found() == {idle, busy, slow}
    assert found(phase="idle") == {idle, slow}
    assert found(phase="processing") == {busy}
    assert found(phase="terminal") == set()
    assert found(agent="slow_echo", phase="idle") == {slow}


def test_a_repeat_with_the_same_key_answers_the_same_status_and_makes_nothing_new(
    api: Gateway, live_lab: Laboratory
) -> None:
    key = {"Idempotency-Key": "k-1"}
    made = api.post("/v1/tasks", {"agent": "echo", "input": HELLO}, headers=key)
    sent = api.post(f"/v1/tasks/{made.json['id']}/inputs", HELLO, headers=key)
    before = live_lab.everything()

    again = api.post("/v1/tasks", {"agent": "echo", "input": HELLO}, headers=key)
    sent_again = api.post(f"/v1/tasks/{made.json['id']}/inputs", HELLO, headers=key)

    assert (again.status, sent_again.status) == (202, 202)
    assert again.json["id"] == made.json["id"]
    assert again.headers["Received-At"] == made.headers["Received-At"]
    assert sent_again.headers["Received-At"] == sent.headers["Received-At"]
    assert live_lab.everything() == before


def test_a_key_with_another_body_is_a_conflict_and_stores_nothing(api: Gateway, live_lab: Laboratory) -> None:
    key = {"Idempotency-Key": "k-1"}
    api.post("/v1/tasks", {"agent": "echo", "input": HELLO}, headers=key)
    before = live_lab.everything()

    reply = api.post("/v1/tasks", {"agent": "echo"}, headers=key)

    assert reply.status == 409
    assert problem(reply)["agent_status"]["code"] == 4005
    assert live_lab.everything() == before


@pytest.mark.clause("SEC-2")
def test_anothers_task_an_unknown_one_a_malformed_id_and_no_route_look_the_same_byte_for_byte(
    api: Gateway,
) -> None:
    mine = api.post("/v1/tasks", {"agent": "echo"}).json["id"]

    replies = [
        api.get(path, person="bob-sub")
        for task_id in (
            mine,
            NO_SUCH_TASK,
            "nonsense",
            mine.upper(),
            "%00",
            "%F0%9F%98%80",
            "a%2Fb",
            "." * 900,
        )
        for path in (
            f"/v1/tasks/{task_id}",
            f"/v1/tasks/{task_id}/messages",
            f"/v1/tasks/{task_id}/files",
        )
    ]
    replies += [
        api.post(f"/v1/tasks/{mine}/inputs", HELLO, person="bob-sub"),
        api.post(f"/v1/tasks/{NO_SUCH_TASK}/inputs", HELLO, headers={"Idempotency-Key": "k"}),
        api.get("/v1/nothing"),
        api.get("/", person=None),
        api.post(f"/v1/tasks/{mine}/files", FILE, person="bob-sub"),
        api.post(f"/v1/tasks/{NO_SUCH_TASK}/files", FILE, headers={"Idempotency-Key": "k"}),
        api.get(f"/v1/tasks/{mine}/files", query={"ref": "task://nothing/there.csv"}),
        api.get(f"/v1/tasks/{mine}/nothing"),
        api.post(f"/v1/tasks/{mine}", HELLO),
    ]

    assert {reply.status for reply in replies} == {404}
    assert len({reply.body for reply in replies}) == 1


def test_a_line_break_after_a_path_makes_it_another(api: Gateway, live_lab: Laboratory) -> None:
    mine = api.post("/v1/tasks", {"agent": "echo"}).json["id"]
    before = live_lab.everything()

    paths = ("/v1/tasks", "/v1/agents/echo", f"/v1/tasks/{mine}", f"/v1/tasks/{mine}/messages")
    replies = [api.get(f"{path}%0A") for path in paths]
    replies += [api.post(f"{path}%0A", HELLO) for path in ("/v1/tasks", f"/v1/tasks/{mine}/inputs")]
    unknown = api.get(f"/v1/tasks/{NO_SUCH_TASK}")

    assert {(reply.status, reply.body) for reply in replies} == {(404, unknown.body)}
    assert live_lab.everything() == before
    assert len({json.dumps(dict(reply.headers)) for reply in replies}) == 1
    assert mine not in replies[0].body


@pytest.mark.clause("TS-5c")
def test_an_ended_task_takes_no_input_and_says_so(api: Gateway, live_lab: Laboratory) -> None:
    task_id = api.post("/v1/tasks", {"agent": "mayfly"}).json["id"]
    live_lab.clock.forward(days=8)
    live_lab.poll(task_id)
    before = live_lab.everything()

    reply = api.post(f"/v1/tasks/{task_id}/inputs", HELLO)

    assert reply.status == 409
    assert problem(reply)["agent_status"] == {
        "code": 4001,
        "name": "FAILED_PRECONDITION",
        "scope": "turnkeeper.request",
        "terminal": True,
    }
    assert live_lab.everything() == before


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        (None, 400, "body"),
        ("{", 400, "body"),
        ("[]", 400, "body"),
        ('{"agent":"echo","agent":"echo"}', 400, "body"),
        ('{"agent":"\\ud800"}', 400, "body"),
        ({}, 422, "agent"),
        ({"agent": "nobody"}, 422, "agent"),
        ({"agent": "echo", "input": {"message": [{"mimeType": "text/plain"}]}}, 422, "input.message[0].text"),
        ({"agent": "echo", "owner": "bob-sub"}, 422, "owner"),
        ({"agent": "echo", "input": {**HELLO, "received_at": "now"}}, 422, "input.received_at"),
    ],
)
def test_a_body_that_is_wrong_is_refused_by_its_place_and_nothing_is_stored(
    api: Gateway, live_lab: Laboratory, body: object, status: int, place: str
) -> None:
    reply = api.post("/v1/tasks", body)

    assert reply.status == status
    assert [one["at"] for one in problem(reply)["errors"]] == [place]
    assert live_lab.everything() == {}


def test_an_input_over_256_kb_is_too_large_and_nothing_is_stored(api: Gateway, live_lab: Laboratory) -> None:
    task_id = api.post("/v1/tasks", {"agent": "echo"}).json["id"]
    before = live_lab.everything()
    large = {"message": [{"mimeType": "text/plain", "text": "a" * 95_000}] * 3}

    reply = api.post(f"/v1/tasks/{task_id}/inputs", large)

    assert reply.status == 413
    assert problem(reply)["agent_status"]["code"] == 4000
    assert live_lab.everything() == before


@pytest.mark.parametrize(
    ("path", "query", "places"),
    [
        ("/v1/tasks", {"limit": "101"}, ["limit"]),
        ("/v1/tasks", {"phase": "done", "page": "2"}, ["phase", "page"]),
        ("/v1/tasks", "limit=5&limit=6", ["limit"]),
        ("/v1/tasks", {"cursor": "nonsense"}, ["cursor"]),
        ("/v1/tasks/{id}/messages", {"limit": "0"}, ["limit"]),
        ("/v1/tasks/{id}/messages", {"after": "!"}, ["after"]),
        ("/v1/tasks/{id}/messages", {"before": "x"}, ["before"]),
    ],
)
def test_a_query_that_is_wrong_is_refused_by_its_parameters(
    api: Gateway, path: str, query: dict[str, str] | str, places: list[str]
) -> None:
    task_id = api.post("/v1/tasks", {"agent": "echo"}).json["id"]

    reply = api.get(path.format(id=task_id), query=query)

    assert reply.status == 400
    assert [one["at"] for one in problem(reply)["errors"]] == places


def test_a_bad_idempotency_key_is_refused_by_the_headers_name(api: Gateway, live_lab: Laboratory) -> None:
    reply = api.post("/v1/tasks", {"agent": "echo"}, headers={"Idempotency-Key": "two words"})

    assert reply.status == 400
    assert [one["at"] for one in problem(reply)["errors"]] == ["Idempotency-Key"]
    assert live_lab.everything() == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/tasks"),
        ("POST", "/v1/tasks"),
        ("GET", f"/v1/tasks/{NO_SUCH_TASK}"),
        ("GET", f"/v1/tasks/{NO_SUCH_TASK}/messages"),
        ("POST", f"/v1/tasks/{NO_SUCH_TASK}/inputs"),
    ],
)
def test_a_token_without_a_human_is_refused_on_every_route_before_anything_is_read(
    api: Gateway, live_lab: Laboratory, method: str, path: str
) -> None:
    request = api.event(method, path, body="{" if method == "POST" else None)
    request["requestContext"]["authorizer"]["jwt"]["claims"] = {"sub": "app", "client_id": "app"}

    reply = api.send(request)

    assert reply.status == 403
    assert problem(reply)["agent_status"]["code"] == 4002
    assert live_lab.everything() == {}


def test_a_body_in_base64_is_read_like_any_other(api: Gateway) -> None:
    """So the gateway hands on what curl -d sends without a content type."""
    request = api.event("POST", "/v1/tasks", body="eyJhZ2VudCI6ICJlY2hvIn0=")
    request["isBase64Encoded"] = True

    assert api.send(request).status == 201
