"""Parameters beside a message: judged by the version of the manifest that the task began with, defaults filled in."""

from typing import Any

import pytest

from tests.support.hosting import AGENT, Host, manifest, text
from tests.support.laboratory import Laboratory

PARAMETERS = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": ["Bern", "Lyon"]},
        "copies": {"type": "integer", "default": 1, "minimum": 1},
        "style": {"type": "object", "default": {"bold": False}},
    },
    "required": ["city"],
}


@pytest.fixture
def ruled(host: Host) -> Host:
    """The host `acme`, whose agent `helper` wants to know a city."""
    assert register(host, PARAMETERS).status == 200
    return host


def register(host: Host, parameters: object, agent: str = AGENT, **ours: Any) -> Any:
    return host.send("PUT", f"agents/{agent}", {**manifest(agent, **ours), "parameters": parameters})


def create(host: Host, **beside: Any) -> Any:
    return host.api.post("/v1/tasks", {"agent": AGENT, "input": {**text("hi"), **beside}})


def send(host: Host, task_id: str, **beside: object) -> Any:
    return host.api.post(f"/v1/tasks/{task_id}/inputs", {**text("more"), **beside})


@pytest.mark.clause("IN-1a", "IO-7", "AG-1")
def test_an_input_carries_what_was_given_and_what_defaults_fill_in(ruled: Host) -> None:
    task_id = create(ruled, city="Bern").json["id"]
    assert send(ruled, task_id, city="Lyon", copies=3, style={}).status == 202

    entries = ruled.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]

    assert [{name: entry[name] for name in ("city", "copies", "style")} for entry in entries] == [
        {"city": "Bern", "copies": 1, "style": {"bold": False}},
        {"city": "Lyon", "copies": 3, "style": {}},
    ]


@pytest.mark.clause("AG-1", "IO-6")
@pytest.mark.parametrize(
    ("beside", "places"),
    [
        ({}, ["city"]),
        ({"city": "Rome"}, ["city"]),
        ({"city": "Bern", "copies": 0}, ["copies"]),
        ({"city": "Bern", "copies": "1"}, ["copies"]),
        ({"city": "Bern", "town": "x"}, ["town"]),
        ({"city": "Bern", "error": "x"}, ["error"]),
    ],
)
def test_parameters_that_do_not_match_are_refused_by_their_places_and_nothing_is_stored(
    ruled: Host, live_lab: Laboratory, beside: dict[str, object], places: list[str]
) -> None:
    task_id = create(ruled, city="Bern").json["id"]
    before = live_lab.everything()

    created, sent = create(ruled, **beside), send(ruled, task_id, **beside)

    assert (created.status, sent.status) == (422, 422)
    assert [place["at"] for place in created.json["errors"]] == [f"input.{place}" for place in places]
    assert [place["at"] for place in sent.json["errors"]] == places
    assert live_lab.everything() == before


def test_a_task_keeps_to_the_version_it_began_with(ruled: Host) -> None:
    task_id = create(ruled, city="Bern").json["id"]
    register(ruled, {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]})

    assert send(ruled, task_id, city="Lyon").status == 202
    assert send(ruled, task_id, town="Lyon").status == 422
    assert create(ruled, town="Lyon").status == 202
    assert create(ruled, city="Lyon").status == 422


def test_a_key_stands_for_what_was_sent_and_not_for_what_was_filled_in(ruled: Host) -> None:
    body = {"agent": AGENT, "input": {**text("hi"), "city": "Bern"}}
    filled = {**body, "input": {**text("hi"), "city": "Bern", "copies": 1}}

    def ask(sent: object) -> Any:
        return ruled.api.post("/v1/tasks", sent, headers={"Idempotency-Key": "k"})

    first, again, other = ask(body), ask(body), ask(filled)

    assert (first.status, again.status, other.status) == (202, 202, 409)
    assert first.json["id"] == again.json["id"]


def test_a_message_may_come_by_default(host: Host) -> None:
    said = [{"mimeType": "text/plain", "text": "Begin."}]
    register(host, {"type": "object", "properties": {"message": {"default": said}}, "required": []})

    task_id = host.api.post("/v1/tasks", {"agent": AGENT, "input": {}}).json["id"]

    (entry,) = host.api.get(f"/v1/tasks/{task_id}/messages").json["messages"]
    assert entry["message"] == said


def test_a_childs_input_is_judged_by_the_childs_manifest(ruled: Host, live_lab: Laboratory) -> None:
    register(ruled, PARAMETERS, agent="other", delegates_from=[AGENT])
    task_id = create(ruled, city="Bern").json["id"]
    fence = ruled.start(task_id)["fence"]
    before = live_lab.everything()
    body = {"fence": fence, "call": "c", "agent": "other", "input": text("go")}

    refused = ruled.ask(task_id, "children", body)
    assert live_lab.everything() == before
    taken = ruled.ask(task_id, "children", {**body, "input": {**text("go"), "city": "Bern"}})

    assert (refused.status, [place["at"] for place in refused.json["errors"]]) == (422, ["input.city"])
    assert taken.status == 202


def test_an_ended_task_is_ended_before_its_parameters_are_wrong(ruled: Host) -> None:
    task_id = create(ruled, city="Bern").json["id"]
    ruled.ask(task_id, "restrict")

    assert send(ruled, task_id, town="Bern").status == 409
