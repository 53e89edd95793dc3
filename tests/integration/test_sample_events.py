"""The sample events are what the functions get, and what they answer is said here."""

import json
from pathlib import Path

import pytest

from tests.support.gateway import ROUTES, Gateway
from tests.support.laboratory import Laboratory

EVENTS = Path(__file__).parents[2] / "events"
SAMPLE_ID = "5f0c1e9a7b3d4826a1c0de5f9b7e3d24"
SAMPLE_REVISION = "b7e23ec29af22b0b4e41da31e868d572"
ANSWERS = {
    "status/poll": 200,
    "status/poll_anothers_task": 404,
    "status/poll_known_revision": 304,
    "status/poll_malformed_id": 404,
    "status/poll_without_a_human": 403,
    "tasks/accept_input": 202,
    "tasks/accept_input_for_anothers_task": 404,
    "tasks/create": 201,
    "tasks/create_by_a_machine": 403,
    "tasks/create_in_base64": 202,
    "tasks/create_invalid": 422,
    "tasks/create_malformed": 400,
    "tasks/create_with_input": 202,
    "tasks/list": 200,
    "tasks/list_repeated_parameter": 400,
    "tasks/messages": 200,
    "tasks/messages_bad_cursor": 400,
    "tasks/unknown_route": 404,
}


def test_every_route_and_every_sample_is_here() -> None:
    paths = [*EVENTS.glob("status/*.json"), *EVENTS.glob("tasks/*.json")]
    samples = {f"{path.parent.name}/{path.stem}": path for path in paths}
    routes = {json.loads(path.read_text(encoding="utf-8"))["routeKey"] for path in samples.values()}

    assert samples.keys() == ANSWERS.keys()
    assert routes == {*ROUTES, "$default"}


@pytest.mark.parametrize(("name", "status"), ANSWERS.items(), ids=ANSWERS.keys())
def test_a_sample_event_is_answered(api: Gateway, live_lab: Laboratory, name: str, status: int) -> None:
    task = live_lab.create().task
    sample = (EVENTS / f"{name}.json").read_text(encoding="utf-8")

    reply = api.send(json.loads(sample.replace(SAMPLE_ID, task.id).replace(SAMPLE_REVISION, task.revision)))

    assert reply.status == status
