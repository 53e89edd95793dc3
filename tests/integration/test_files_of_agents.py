"""Files by reference: what agents and their hosts send, name and get."""

from typing import Any

import pytest

from tests.support.filing import FILE, NOT_THERE, get, make, named, problems, send, version_of
from tests.support.gateway import Gateway
from tests.support.hosting import ACME, AGENT, Host, Hosts, manifest
from tests.support.laboratory import Laboratory


class TestAgents:
    """What agents' manifests mount, and what their hosts may do."""

    @pytest.fixture
    def roots(self, hosts: Hosts, live_lab: Laboratory) -> Host:
        """A host with an agent that mounts all there is, and a file in each root but the task's."""
        body = manifest(repeatable=True) | {"mount": ["workspace", "agent", "task"]}
        assert hosts.acme.send("PUT", f"agents/{AGENT}", body).status == 200
        live_lab.lay(f"agent/{ACME.principal}/{AGENT}/a.csv", b"of the agent")
        live_lab.lay("workspace/w.csv", b"of the workspace")
        return hosts.acme

    @pytest.mark.clause("AG-1")
    def test_what_an_agent_mounts_may_be_named_from_the_first_input_on(
        self, api: Gateway, roots: Host
    ) -> None:
        body = {"agent": AGENT, "input": named("agent://a.csv", "workspace://w.csv")}

        made = api.post("/v1/tasks", body)

        assert made.status == 202, made.body
        (entry,) = roots.lab.conversation(made.json["id"])
        assert [part["sizeBytes"] for part in entry["message"]] == [12, 16]
        for file in ("agent://a.csv", "workspace://w.csv"):
            assert get(api, made.json["id"], file).status == 200
            by_its_host = roots.send("GET", f"tasks/{made.json['id']}/files", query={"ref": file})
            assert version_of(by_its_host)
            assert get(api, roots.task("hi"), file).status == 404

    @pytest.mark.clause("CP-4")
    def test_a_new_task_has_no_file_of_its_own_yet(self, api: Gateway, roots: Host) -> None:
        before = roots.lab.everything()

        refused = api.post("/v1/tasks", {"agent": AGENT, "input": named("agent://a.csv", "task://x/a.csv")})

        assert problems(refused) == {"input.message[1].file": NOT_THERE}
        assert roots.lab.everything() == before

    @pytest.mark.clause("AG-1")
    @pytest.mark.parametrize(
        ("mount", "said"),
        [
            ([], "no root for files is available"),
            ("none", "no root for files is available"),
            (["agent"], "available roots: agent://"),
            ("workspace", "available roots: workspace://"),
            (["workspace", "agent"], "available roots: agent://, workspace://"),
        ],
    )
    def test_what_an_agent_does_not_mount_is_not_available(
        self, api: Gateway, host: Host, mount: object, said: str
    ) -> None:
        assert host.send("PUT", "agents/other", manifest("other") | {"mount": mount}).status == 200

        refused = send(api, make(api, "other"), "task://x/a.csv")

        assert problems(refused) == {"message[0].file": f"is in a root that is not available here; {said}"}

    def test_a_task_keeps_the_roots_that_it_began_with(self, api: Gateway, roots: Host) -> None:
        task_id = roots.task()
        assert roots.send("PUT", f"agents/{AGENT}", manifest() | {"mount": []}).status == 200

        assert send(api, task_id, "agent://a.csv").status == 202
        assert send(api, roots.task(), "agent://a.csv").status == 422

    def test_an_agent_of_the_same_name_and_another_owner_has_other_files(
        self, hosts: Hosts, api: Gateway
    ) -> None:
        body = manifest("other") | {"mount": ["agent"]}
        assert hosts.rival.send("PUT", "agents/other", body).status == 200
        hosts.rival.lab.lay(f"agent/{ACME.principal}/other/a.csv", b"acme's")

        assert problems(send(api, make(api, "other"), "agent://a.csv")) == {"message[0].file": NOT_THERE}

    @pytest.mark.parametrize("route", ["outputs", "finish", "reconcile"])
    def test_a_host_answers_with_a_file_that_people_get(self, api: Gateway, hosts: Hosts, route: str) -> None:
        host = hosts.acme
        host.register(repeatable=route != "reconcile")
        task_id, fence = host.running()
        if route == "reconcile":
            host.sweep_after(seconds=61)
        offered = host.send("POST", f"tasks/{task_id}/files", FILE)
        file = offered.json["file"]
        more: dict[str, dict[str, Any]] = {
            "outputs": {"fence": fence, "number": 1},
            "finish": {"fence": fence},
            "reconcile": {"answer": "done"},
        }
        body = {**more[route], **named(file)}

        early = host.ask(task_id, route, body)
        version = host.lab.lay(f"task/{task_id}/{file.removeprefix('task://')}", b"123")
        answered = host.ask(task_id, route, body)

        assert problems(early) == {"message[0].file": NOT_THERE}
        assert answered.status == 200, answered.body
        said = host.lab.conversation(task_id)[-1]
        assert said["message"] == [{"mimeType": "text/csv", "file": file, "sizeBytes": 3}]
        assert version_of(get(api, task_id, file)) == version
        assert version_of(get(api, task_id, file, at=said["committed_at"])) == version
        assert version_of(host.send("GET", f"tasks/{task_id}/files", query={"ref": file})) == version

    def test_an_output_that_was_there_before_is_not_looked_at_again(self, host: Host) -> None:
        task_id, fence = host.running()
        host.lab.lay(f"task/{task_id}/x/a.csv", b"123")
        body = {"fence": fence, "number": 1, **named("task://x/a.csv")}
        assert host.ask(task_id, "outputs", body).status == 200
        host.lab.s3.delete_object(Bucket=host.lab.bucket, Key=f"task/{task_id}/x/a.csv")
        before = host.lab.everything()

        assert host.ask(task_id, "outputs", body).status == 200
        assert host.lab.everything() == before

    def test_a_stale_fence_is_told_before_any_file_is(self, host: Host) -> None:
        task_id, fence = host.running()

        assert host.ask(task_id, "finish", {"fence": fence + 1, **named("task://no")}).status == 409

    def test_a_host_answers_with_what_its_agent_mounts(self, api: Gateway, roots: Host) -> None:
        task_id, fence = roots.running()

        answered = roots.ask(task_id, "finish", {"fence": fence, **named("agent://a.csv")})

        assert answered.status == 200, answered.body
        assert version_of(get(api, task_id, "agent://a.csv"))

    def test_a_child_gets_what_its_agent_mounts(self, roots: Host) -> None:
        task_id, fence = roots.running()
        child = manifest("child", delegates_from=[AGENT]) | {"mount": ["workspace"]}
        assert roots.send("PUT", "agents/child", child).status == 200
        call = {"fence": fence, "call": "c", "agent": "child"}

        refused = roots.ask(task_id, "children", {**call, "input": named("agent://a.csv")})
        made = roots.ask(task_id, "children", {**call, "input": named("workspace://w.csv")})

        assert problems(refused) == {
            "input.message[0].file": "is in a root that is not available here; available roots: workspace://"
        }
        assert made.status == 202, made.body
        assert (
            roots.send("GET", f"tasks/{made.json['id']}/files", query={"ref": "workspace://w.csv"}).status
            == 200
        )
        assert get(roots.api, task_id, "workspace://w.csv").status == 404

    def test_the_host_of_its_parent_gets_what_a_child_answers_with(self, hosts: Hosts) -> None:
        host = hosts.acme
        host.register()
        host.register("child", delegates_from=[AGENT])
        task_id, fence = host.running()
        asked = {"fence": fence, "call": "c", "agent": "child"}
        child = host.ask(task_id, "children", asked).json["id"]
        host.lab.send_file(child, "x/a.csv")
        query = {"ref": "task://x/a.csv"}

        found = host.send("GET", f"tasks/{task_id}/children/{child}/files", query=query)
        of_the_parent = host.send("GET", f"tasks/{task_id}/files", query=query)
        of_no_child = host.send("GET", f"tasks/{child}/children/{task_id}/files", query=query)

        assert f"/task/{child}/x/a.csv" in found.json["url"]
        assert {of_the_parent.status, of_no_child.status} == {404}

    def test_the_turn_sees_the_file_by_its_name(self, lab: Laboratory) -> None:
        task_id = lab.create().task.id
        lab.send_file(task_id, "x/a.csv", b"123")
        lab.work()

        entries = lab.conversation(task_id)

        assert [entry["type"] for entry in entries] == ["input", "output"]
        assert entries[0]["message"] == [{"mimeType": "text/csv", "file": "task://x/a.csv", "sizeBytes": 3}]
