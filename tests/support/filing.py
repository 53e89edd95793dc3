"""Files as people and hosts send, name and get them through the gateway of the tests."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.gateway import Gateway
from tests.support.laboratory import naming
from tests.support.reply import Reply

FILE = {"name": "week 48.csv", "mimeType": "text/csv", "sizeBytes": 3}
NOT_THERE = "names no file that is there; upload it first"
OF_A_TASK = "; available roots: task://"


def named(*files: str, **more: object) -> dict[str, Any]:
    """An input or output that names *files*."""
    body: dict[str, Any] = json.loads(naming(*files, **more))
    return body


def make(api: Gateway, agent: str = "echo") -> str:
    task_id: str = api.post("/v1/tasks", {"agent": agent}).json["id"]
    return task_id


def offer(api: Gateway, task_id: str, **request: Any) -> Reply:
    body = {**FILE, **request.pop("file", {})}
    return api.post(f"/v1/tasks/{task_id}/files", body, **request)


def send(api: Gateway, task_id: str, *files: str, **more: object) -> Reply:
    return api.post(f"/v1/tasks/{task_id}/inputs", named(*files, **more))


def get(api: Gateway, task_id: str, ref: str, *, person: str = "alice-sub", **query: str) -> Reply:
    return api.get(f"/v1/tasks/{task_id}/files", query={"ref": ref, **query}, person=person)


def version_of(reply: Reply) -> str:
    """The version of a file that an answer lets its receiver have."""
    assert reply.status == 200, reply.body
    version: str
    (version,) = parse_qs(urlsplit(reply.json["url"]).query)["versionId"]
    return version


def problems(reply: Reply) -> dict[str, str]:
    assert reply.status == 422, reply.body
    return {error["at"]: error["problem"] for error in reply.json["errors"]}
