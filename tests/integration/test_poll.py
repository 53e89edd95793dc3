"""The poll: one task's status object through the function that does nothing else."""

import pytest

from tests.support.gateway import Gateway
from tests.support.hosting import Host, text
from tests.support.laboratory import Laboratory
from turnkeeper.domain.status import status_object


def made(lab: Laboratory) -> str:
    """A task of alice's, idle."""
    return lab.create().task.id


@pytest.mark.clause("TS-9")
@pytest.mark.clause("PO-1")
def test_a_poll_is_the_status_object_its_revision_and_when_to_look_again(
    api: Gateway, live_lab: Laboratory
) -> None:
    task = live_lab.stored(made(live_lab))

    reply = api.get(f"/v1/tasks/{task.id}")

    assert reply.status == 200
    assert reply.json == status_object(task)
    assert reply.headers == {
        "Content-Type": "application/json",
        "ETag": f'"{task.revision}"',
        "Poll-After": "5",
        "Agent-Status": "3001;name=HUMAN_INPUT_REQUIRED;phase=WAITING;terminal=?0",
        "Cache-Control": "private, no-cache",
        "X-Correlation-Id": "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
    }


@pytest.mark.clause("TS-6a")
def test_who_knows_the_revision_gets_a_304_without_a_body_until_it_changes(
    api: Gateway, live_lab: Laboratory
) -> None:
    task_id = made(live_lab)
    known = api.get(f"/v1/tasks/{task_id}").headers["ETag"]

    unchanged = api.get(f"/v1/tasks/{task_id}", headers={"If-None-Match": f'"other", W/{known}'})
    live_lab.send(task_id, "hi")
    changed = api.get(f"/v1/tasks/{task_id}", headers={"If-None-Match": known})

    assert (unchanged.status, unchanged.body) == (304, "")
    assert unchanged.headers["ETag"] == known
    assert unchanged.headers["Poll-After"] == "5"
    assert unchanged.headers["Cache-Control"] == "private, no-cache"
    assert "Content-Type" not in unchanged.headers
    assert (changed.status, changed.json["status"]["phase"]) == (200, "processing")


@pytest.mark.parametrize(("header", "status"), [("*", 304), ("nonsense", 200), ('"other"', 200), ("", 200)])
def test_a_star_names_any_revision_and_nonsense_names_none(
    api: Gateway, live_lab: Laboratory, header: str, status: int
) -> None:
    assert api.get(f"/v1/tasks/{made(live_lab)}", headers={"If-None-Match": header}).status == status


@pytest.mark.clause("TS-8c")
def test_an_ended_task_need_not_be_looked_at_again(api: Gateway, live_lab: Laboratory) -> None:
    task_id = made(live_lab)
    live_lab.clock.forward(days=8)
    live_lab.poll(task_id)

    reply = api.get(f"/v1/tasks/{task_id}")

    assert reply.json["status"]["phase"] == "terminal"
    assert "Poll-After" not in reply.headers


def test_a_busy_task_is_looked_at_each_second(api: Gateway, live_lab: Laboratory) -> None:
    task_id = made(live_lab)
    live_lab.send(task_id, "hi")

    assert api.get(f"/v1/tasks/{task_id}").headers["Poll-After"] == "1"


def test_a_poll_says_nothing_of_the_conversation(api: Gateway, live_lab: Laboratory) -> None:
    task_id = made(live_lab)
    live_lab.send(task_id, "a word to the wise")

    assert "wise" not in api.get(f"/v1/tasks/{task_id}").body


@pytest.mark.parametrize("parameters", [None, {}, {"task_id": ""}])
def test_a_poll_that_names_no_task_finds_none(api: Gateway, parameters: dict[str, str] | None) -> None:
    request = api.event("GET", "/v1/tasks/x")
    request["pathParameters"] = parameters

    assert api.send(request).status == 404


@pytest.mark.clause("INV-2")
def test_every_answer_about_a_task_says_where_it_stands(host: Host) -> None:
    task_id = host.task("hi")
    host.start(task_id)
    path = f"/v1/tasks/{task_id}"
    known = host.api.get(path).headers["ETag"]

    replies = [
        host.api.get(path),
        host.api.get(path, headers={"If-None-Match": known}),
        host.api.get(f"{path}/messages"),
        host.api.post(f"{path}/inputs", text("more")),
        host.send("GET", f"tasks/{task_id}"),
        host.send("GET", f"tasks/{task_id}/messages"),
    ]
    ended = host.ask(task_id, "error", {"outcome": 5003})

    running = "1010;name=RUNNING;phase=EXECUTING;terminal=?0"
    assert [reply.headers["Agent-Status"] for reply in replies] == [running] * 6
    assert ended.headers["Agent-Status"] == "5003;name=DEPENDENCY_UNAVAILABLE;phase=FINISHED;terminal"
    assert host.api.get(path).status == 200


@pytest.mark.clause("SEC-1")
def test_the_header_hides_from_everybody_what_only_insiders_know(host: Host) -> None:
    task_id, fence = host.running()

    reply = host.ask(task_id, "wait", {"fence": fence, "waits": [{"id": "w", "kind": "host"}]})

    assert reply.json["agent_status"]["name"] == "WAITING_DEPENDENCY"
    assert reply.headers["Agent-Status"].startswith("1010;name=RUNNING;phase=EXECUTING")
