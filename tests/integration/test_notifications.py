"""Notifications over all of a person's tasks: exactly what each task's own status says, the longest first."""

from typing import Any

import pytest

from tests.support.hosting import Host
from tests.support.laboratory import ALICE, BOB


def waiting(host: Host, *waits: dict[str, Any]) -> str:
    task_id, fence = host.running()
    assert host.ask(task_id, "wait", {"fence": fence, "waits": list(waits)}).status == 200
    return task_id


def sign_in(wait: str, provider: str) -> dict[str, Any]:
    return {"id": wait, "kind": "auth", "provider": provider}


def review(wait: str, reviewer: str = ALICE) -> dict[str, Any]:
    return {"id": wait, "kind": "review", "reviewer": reviewer, "subject": "Decide"}


def calls(host: Host, person: str = ALICE, **query: str) -> list[dict[str, Any]]:
    reply = host.api.get("/v1/notifications", person=person, query=query)
    assert reply.status == 200
    found: list[dict[str, Any]] = reply.json["notifications"]
    return found


@pytest.mark.clause("TN-3", "TS-7")
def test_they_are_what_every_task_says_of_itself(host: Host) -> None:
    tasks = [
        waiting(host, sign_in("a", "mail"), sign_in("b", "mail"), review("c"), review("d")),
        waiting(host, {"id": "h", "kind": "host"}, review("x", reviewer=BOB)),
        waiting(host, sign_in("a", "calendar"), sign_in("b", "mail")),
        host.running()[0],
        host.task(),
    ]
    owed = [
        {"task": task_id, "agent": "helper", **call}
        for task_id in tasks
        for call in host.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"]
    ]

    assert calls(host) == owed
    assert [(call["kind"], call.get("provider")) for call in owed] == [
        ("review_required", None),
        ("review_required", None),
        ("user_auth_required", "mail"),
        ("user_auth_required", "calendar"),
        ("user_auth_required", "mail"),
    ]
    assert calls(host, BOB) == []


def test_a_task_leaves_the_list_with_the_last_of_its_calls(host: Host) -> None:
    task_id = waiting(host, sign_in("a", "mail"), sign_in("b", "calendar"))

    host.send("POST", "grants", {"user": ALICE, "provider": "mail"})
    one = calls(host)
    host.send("POST", "grants", {"user": ALICE, "provider": "calendar"})

    assert [(call["task"], call["provider"]) for call in one] == [(task_id, "calendar")]
    assert calls(host) == []


def test_they_come_page_by_page_a_task_at_a_time(host: Host) -> None:
    for _ in range(5):
        waiting(host, sign_in("a", "mail"), review("b"))
    pages, cursor = [], None
    while True:
        query = {"limit": "2", **({"cursor": cursor} if cursor else {})}
        page = host.api.get("/v1/notifications", query=query).json
        pages.append(page["notifications"])
        if (cursor := page["next"]) is None:
            break

    assert [len(page) for page in pages] == [4, 4, 2]
    assert [call for page in pages for call in page] == calls(host)
