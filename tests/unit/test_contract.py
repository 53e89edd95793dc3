"""The judge of answers itself: it is shown answers that the document does not describe."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.contract import NotAsDocumented, the_contract
from tests.support.gateway import event
from tests.support.reply import Event, Reply

PATH = "/v1/tasks/5f0c1e9a7b3d4826a1c0de5f9b7e3d24"
HEADERS = {
    "Agent-Status": "1000;name=IDLE;phase=WAITING;terminal=?0",
    "Cache-Control": "private, no-cache",
    "Content-Type": "application/json",
    "ETag": '"b7e2"',
    "X-Correlation-Id": "c6af9ac6",
}


def task(**more: Any) -> dict[str, Any]:
    status: dict[str, Any] = {
        "phase": "idle",
        "terminal_reason": None,
        "revision": "b7e2",
        "notifications": [],
        "idle_expires_at": "2026-12-07T12:00:01.250000Z",
    }
    made = {
        "id": "5f0c1e9a7b3d4826a1c0de5f9b7e3d24",
        "agent": "echo",
        "responsible_user": "alice-sub",
        "created_at": "2026-11-30T12:00:00.000000Z",
        "status": status,
    }
    return {**made, **more}


RIGHT = Reply(200, HEADERS, json.dumps(task()))
ASKED = event("GET", PATH)


def sending(path: str, body: object) -> tuple[Event, Reply]:
    """A request and an answer that says that it was taken."""
    headers = {**HEADERS, "Received-At": "2026-11-30T12:00:00.000000Z"}
    if path == "/v1/tasks":
        headers["Location"] = "tasks/5f0c1e9a7b3d4826a1c0de5f9b7e3d24"
    return event("POST", path, body=body), Reply(202, headers, RIGHT.body)


def test_what_is_as_documented_passes() -> None:
    the_contract().check(ASKED, RIGHT)
    the_contract().check(ASKED, Reply(304, {k: v for k, v in HEADERS.items() if k != "Content-Type"}, ""))
    the_contract().check(*sending("/v1/tasks", {"agent": "echo"}))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (replace(RIGHT, status=206), "is no status"),
        (replace(RIGHT, body=json.dumps(task(secret=1))), "secret"),
        (replace(RIGHT, body=json.dumps(task(created_at="yesterday"))), "created_at"),
        (replace(RIGHT, body=json.dumps({"id": "x"})), "required"),
        (replace(RIGHT, body=json.dumps(task(status=task()["status"] | {"phase": "asleep"}))), "asleep"),
        (replace(RIGHT, headers={**HEADERS, "X-Secret": "1"}), "X-Secret"),
        (replace(RIGHT, headers={k: v for k, v in HEADERS.items() if k != "ETag"}), "lacks"),
        (replace(RIGHT, headers={**HEADERS, "Content-Type": "text/html"}), "text/html"),
        (replace(RIGHT, status=304), "comes with"),
    ],
)
def test_what_the_document_does_not_describe_is_seen(wrong: Reply, says: str) -> None:
    with pytest.raises(NotAsDocumented, match=says):
        the_contract().check(ASKED, wrong)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/tasks", {"agent": "echo", "colour": "red"}),
        ("/v1/tasks", {"agent": "NO"}),
        ("/v1/tasks", ""),
        (f"{PATH}/inputs", {"message": [{"mimeType": "text/plain", "text": "x", "file": "task://x"}]}),
    ],
)
def test_a_body_that_was_taken_and_is_not_described_is_seen(path: str, body: object) -> None:
    with pytest.raises(NotAsDocumented, match=r"sent|wants a body"):
        the_contract().check(*sending(path, body))


def test_a_route_or_a_parameter_that_goes_well_and_is_not_in_it_is_seen() -> None:
    with pytest.raises(NotAsDocumented, match="no such route"):
        the_contract().check(event("GET", "/v1/secrets"), RIGHT)
    with pytest.raises(NotAsDocumented, match="no parameter"):
        the_contract().check(event("GET", PATH, query={"debug": "1"}), RIGHT)
