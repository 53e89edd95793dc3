"""Files by reference: where they may be sent, what a message may name, what it pins, and who gets it back."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from tests.support.counting import Counting
from tests.support.engines import Engine
from tests.support.gateway import Gateway, Reply
from tests.support.hosting import ACME, AGENT, Host, Hosts, manifest, text
from tests.support.laboratory import ALICE, LARGEST_FILE, Laboratory, naming
from turnkeeper.domain.errors import InvalidInput, StoreIsUnavailable
from turnkeeper.service import rules
from turnkeeper.service.files import Upload, download, upload
from turnkeeper.service.inputs import accept

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


class TestUpload:
    """A place for one file, once."""

    def test_a_file_gets_a_place_of_its_own_and_a_url_for_exactly_that(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id = make(api)
        before = live_lab.everything()

        first, second = offer(api, task_id), offer(api, task_id)

        assert (first.status, second.status) == (201, 201)
        assert first.json["file"] != second.json["file"]
        folder, name = first.json["file"].removeprefix("task://").split("/")
        assert (len(folder), name) == (22, "week 48.csv")
        url, said = urlsplit(first.json["upload"]["url"]), first.json["upload"]
        asked = parse_qs(url.query)
        assert url.hostname == f"{live_lab.bucket}.s3.eu-central-1.amazonaws.com"
        assert unquote(url.path) == f"/task/{task_id}/{folder}/{name}"
        assert asked["X-Amz-SignedHeaders"] == [
            "content-disposition;content-length;content-type;host;if-none-match"
        ]
        assert asked["X-Amz-Expires"] == ["900"]
        assert (said["method"], said["headers"]) == (
            "PUT",
            {
                "Content-Type": "text/csv",
                "Content-Disposition": "attachment; filename=\"week 48.csv\"; filename*=UTF-8''week%2048.csv",
                "If-None-Match": "*",
            },
        )
        left = datetime.fromisoformat(first.json["expires_at"]) - live_lab.clock()
        assert timedelta(minutes=14) < left < timedelta(minutes=16)
        # Asking for a place leaves nothing.
        assert live_lab.everything() == before

    @pytest.mark.clause("CP-5")
    def test_the_largest_file_has_a_place_and_one_byte_more_has_none(self, api: Gateway) -> None:
        task_id = make(api)

        assert offer(api, task_id, file={"sizeBytes": LARGEST_FILE}).status == 201
        assert offer(api, task_id, file={"sizeBytes": 0}).status == 201
        assert problems(offer(api, task_id, file={"sizeBytes": LARGEST_FILE + 1})) == {
            "sizeBytes": f"must be at most {LARGEST_FILE}, the bytes of the largest file"
        }

    @pytest.mark.clause("CP-4")
    @pytest.mark.parametrize(
        "name",
        [
            *("../a", "a/b", "/a", "..", ".", " ", "a\\b", "a%2fb", "a?b", "a#b", "a\nb"),
            *("gpj\u202e.exe", "\u200ba", "é" * 128, "a" * 256),
        ],
    )
    def test_a_name_that_leads_elsewhere_or_looks_like_another_has_no_place(
        self, api: Gateway, live_lab: Laboratory, name: str
    ) -> None:
        task_id = make(api)
        before = live_lab.everything()

        assert {*problems(offer(api, task_id, file={"name": name}, headers={"Idempotency-Key": "k"}))} == {
            "name"
        }
        assert live_lab.everything() == before

    @pytest.mark.parametrize("name", ["é" * 127 + "a", 'a"b;c,d.csv', "…", "a" * 255, "~$x (1).xlsx"])
    def test_any_other_name_has_one(self, api: Gateway, name: str) -> None:
        reply = offer(api, make(api), file={"name": name})

        assert reply.status == 201
        assert reply.json["file"].endswith(f"/{name}")
        assert reply.json["upload"]["headers"]["Content-Disposition"].isascii()

    def test_every_wrong_place_is_named_at_once(self, api: Gateway) -> None:
        task_id = make(api)
        wrong = {"name": 7, "mimeType": "csv", "sizeBytes": -1, "path": "x"}

        assert {*problems(offer(api, task_id, file=wrong))} == {"name", "mimeType", "sizeBytes", "path"}
        assert {*problems(offer(api, task_id, file={"name": "a/b", "sizeBytes": LARGEST_FILE + 1}))} == {
            "name",
            "sizeBytes",
        }

    @pytest.mark.clause("TS-5c")
    def test_a_task_that_has_ended_has_no_place_for_a_file(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id = make(api, "mayfly")
        asked = {"Idempotency-Key": "k"}
        assert offer(api, task_id, headers=asked).status == 201
        live_lab.clock.forward(days=8)
        live_lab.poll(task_id)
        before = live_lab.everything()

        replies = [offer(api, task_id), offer(api, task_id, headers=asked)]

        assert [reply.status for reply in replies] == [409, 409]
        assert replies[0].json["agent_status"]["code"] == 4001
        assert live_lab.everything() == before

    def test_the_same_key_gives_the_same_place(self, api: Gateway) -> None:
        task_id, key = make(api), {"Idempotency-Key": "k"}

        first, again = offer(api, task_id, headers=key), offer(api, task_id, headers=key)
        other = offer(api, make(api), headers=key)
        changed = offer(api, task_id, headers=key, file={"sizeBytes": 4})

        assert first.json["file"] == again.json["file"] != other.json["file"]
        assert (changed.status, changed.json["agent_status"]["code"]) == (409, 4005)

    def test_an_agent_without_a_root_for_tasks_has_no_place_either(self, api: Gateway, host: Host) -> None:
        host.send("PUT", "agents/reader", manifest("reader") | {"mount": ["workspace"]})
        host.send("PUT", "agents/blind", manifest("blind") | {"mount": []})

        assert problems(offer(api, make(api, "reader"))) == {
            "name": "is in a root that is not available here; available roots: workspace://"
        }
        assert problems(offer(api, make(api, "blind"))) == {
            "name": "is in a root that is not available here; no root for files is available"
        }


class TestSend:
    """What a message may name."""

    @pytest.mark.clause("CP-1")
    @pytest.mark.clause("CP-4")
    def test_a_file_that_was_sent_may_be_named_and_its_size_is_filled_in(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id = make(api)
        live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")

        reply = send(api, task_id, "task://x/a.csv", metadata={"page": 1})

        assert reply.status == 202, reply.body
        (entry,) = live_lab.conversation(task_id)
        assert entry["message"] == [
            {"mimeType": "text/csv", "file": "task://x/a.csv", "metadata": {"page": 1}, "sizeBytes": 5}
        ]

    @pytest.mark.clause("CP-1")
    def test_a_size_that_is_not_the_files_is_refused(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id = make(api)
        live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")
        before = live_lab.everything()

        refused = [send(api, task_id, "task://x/a.csv", sizeBytes=size) for size in (0, 4, 6)]

        for reply in refused:
            problem = "must be the size of the file, which is 5 bytes"
            assert problems(reply) == {"message[0].sizeBytes": problem}
        assert live_lab.everything() == before
        assert send(api, task_id, "task://x/a.csv", sizeBytes=5).status == 202

    @pytest.mark.clause("CP-4")
    @pytest.mark.parametrize(
        ("file", "problem"),
        [
            ("task://x/b.csv", NOT_THERE),
            ("task://" + "é" * 500, NOT_THERE),
            (
                "https://example.com/a",
                f"has a scheme that no root has, and nothing remote is fetched{OF_A_TASK}",
            ),
            ("s3://bucket/a", f"has a scheme that no root has, and nothing remote is fetched{OF_A_TASK}"),
            ("a.csv", f"is no URI of a file{OF_A_TASK}"),
            ("agent://a.csv", f"is in a root that is not available here{OF_A_TASK}"),
            ("workspace://a.csv", f"is in a root that is not available here{OF_A_TASK}"),
            ("task://../x/a.csv", f"leads out of its root or around in it{OF_A_TASK}"),
            ("task://x/../x/a.csv", f"leads out of its root or around in it{OF_A_TASK}"),
            ("task://x//a.csv", f"has an empty name in its path{OF_A_TASK}"),
            ("task:x/a.csv", f"lacks the // after its scheme{OF_A_TASK}"),
        ],
    )
    def test_what_is_no_file_of_the_task_is_refused_and_told_which_roots_there_are(
        self, api: Gateway, live_lab: Laboratory, file: str, problem: str
    ) -> None:
        task_id = make(api)
        live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")
        for key in ("agent/deployment/echo/a.csv", "workspace/a.csv", "x/a.csv", "task/x/a.csv"):
            live_lab.lay(key, b"12345")
        before = live_lab.everything()

        refused = send(api, task_id, "task://x/a.csv", file)

        assert problems(refused) == {"message[1].file": problem}
        assert live_lab.everything() == before

    @pytest.mark.clause("SEC-2")
    def test_a_file_of_another_task_is_no_file_of_this_one(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id, others = make(api), make(api)
        live_lab.lay(f"task/{others}/x/a.csv", b"12345")

        for file in ("task://x/a.csv", f"task://{others}/x/a.csv"):
            assert problems(send(api, task_id, file)) == {"message[0].file": NOT_THERE}
        assert problems(send(api, task_id, f"task://../{others}/x/a.csv")) == {
            "message[0].file": f"leads out of its root or around in it{OF_A_TASK}"
        }

    def test_a_key_longer_than_s3_takes_names_nothing(self, api: Gateway) -> None:
        assert problems(send(api, make(api), "task://" + "a" * 1_024)) == {"message[0].file": NOT_THERE}

    def test_every_wrong_file_is_named_at_once(self, api: Gateway) -> None:
        assert [*problems(send(api, make(api), "task://a", "x", "task://b", "ftp://c"))] == [
            f"message[{number}].file" for number in range(4)
        ]

    @pytest.mark.clause("TS-5c")
    def test_a_task_that_has_ended_is_told_so_whatever_is_named(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id = make(api, "mayfly")
        live_lab.clock.forward(days=8)
        live_lab.poll(task_id)

        assert send(api, task_id, "task://nothing").status == 409

    def test_64_files_are_one_write(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id = make(api)
        files = [f"x/{number}.csv" for number in range(64)]
        for file in files:
            live_lab.lay(f"task/{task_id}/{file}", b"1")

        body = named(*(f"task://{file}" for file in files))
        reply = api.post(f"/v1/tasks/{task_id}/inputs", body, headers={"Idempotency-Key": "k"})

        assert reply.status == 202, reply.body
        assert get(api, task_id, "task://x/63.csv").status == 200
        assert sum(key[1].startswith("FILE#") for key in live_lab.everything()) == 64

    def test_a_replayed_key_answers_as_it_did_though_the_file_has_gone(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id, key = make(api), {"Idempotency-Key": "k"}
        live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")
        path, body = f"/v1/tasks/{task_id}/inputs", named("task://x/a.csv")
        first = api.post(path, body, headers=key)
        live_lab.s3.delete_object(Bucket=live_lab.bucket, Key=f"task/{task_id}/x/a.csv")
        before = live_lab.everything()

        again = api.post(path, body, headers=key)

        assert (first.status, again.status) == (202, 202)
        assert again.headers["Received-At"] == first.headers["Received-At"]
        assert live_lab.everything() == before

    @pytest.mark.parametrize("error", ["slow", "broken"])
    def test_without_an_answer_of_s3_nothing_is_stored(self, lab: Laboratory, error: str) -> None:
        task_id = lab.create().task.id
        lab.lay(f"task/{task_id}/x/a.csv", b"12345")
        refusing = replace(lab.runtime.mounts, connect=lambda: Refusing(error))  # type: ignore[type-var]
        before = lab.everything()

        with pytest.raises(StoreIsUnavailable):
            accept(
                replace(lab.runtime, mounts=refusing),
                caller=ALICE,
                task_id=task_id,
                content=naming("task://x/a.csv"),
                key="k",
            )

        assert lab.everything() == before

    def test_what_s3_forbids_to_look_at_is_not_there(self, lab: Laboratory) -> None:
        """So it answers whoever may not list a bucket."""
        task_id = lab.create().task.id
        forbidding = replace(lab.runtime.mounts, connect=lambda: Refusing("forbidden"))  # type: ignore[type-var]

        with pytest.raises(InvalidInput, match="names no file that is there"):
            accept(
                replace(lab.runtime, mounts=forbidding),
                caller=ALICE,
                task_id=task_id,
                content=naming("task://x/a.csv"),
                key=None,
            )

    def test_words_about_addresses_are_no_files(self, lab: Laboratory) -> None:
        lab.runtime = replace(lab.runtime, mounts=None)

        lab.create('see "file": task://x and https://example.com')

        assert lab.work() == 1


class Refusing:
    """An S3 that does not do what it is asked."""

    def __init__(self, how: str) -> None:
        self.how = how

    def head_object(self, **_: Any) -> dict[str, Any]:
        if self.how == "slow":
            raise ReadTimeoutError(endpoint_url="https://s3")
        status = 403 if self.how == "forbidden" else 503
        answer = {"Error": {"Code": str(status)}, "ResponseMetadata": {"HTTPStatusCode": status}}
        raise ClientError(answer, "HeadObject")  # type: ignore[arg-type]

    def generate_presigned_url(self, **_: Any) -> str:
        raise AssertionError("nothing is signed here")


class TestGet:
    """Who gets which version of what."""

    def test_a_file_that_the_conversation_names_is_got_as_an_attachment(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id = make(api)
        version = live_lab.lay(f"task/{task_id}/x/a, b.csv", b"12345")
        send(api, task_id, "task://x/a, b.csv")

        reply = get(api, task_id, "task://x/a, b.csv")

        assert version_of(reply) == version
        assert {name: reply.json[name] for name in ("file", "mimeType", "sizeBytes")} == {
            "file": "task://x/a, b.csv",
            "mimeType": "text/csv",
            "sizeBytes": 5,
        }
        url = urlsplit(reply.json["url"])
        asked = parse_qs(url.query)
        assert unquote(url.path) == f"/task/{task_id}/x/a, b.csv"
        assert asked["response-content-disposition"] == [
            "attachment; filename=\"a, b.csv\"; filename*=UTF-8''a%2C%20b.csv"
        ]
        assert asked["X-Amz-Expires"] == ["900"]
        assert reply.headers["Cache-Control"] == "private, no-store"

    @pytest.mark.clause("CP-4")
    def test_each_reference_names_the_version_that_it_named_when_it_was_made(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        task_id, key = make(api), "task/{}/x/a.csv"
        versions, received = [], []
        for content in (b"old", b"newer"):
            versions.append(live_lab.lay(key.format(task_id), content))
            received.append(send(api, task_id, "task://x/a.csv").headers["Received-At"])
        live_lab.lay(key.format(task_id), b"the newest, which nobody named")

        assert [version_of(get(api, task_id, "task://x/a.csv", at=at)) for at in received] == versions
        assert version_of(get(api, task_id, "task://x/a.csv")) == versions[1]
        sizes = [entry["message"][0]["sizeBytes"] for entry in live_lab.conversation(task_id)]
        assert sizes == [3, 5]

    @pytest.mark.clause("SEC-2")
    def test_whatever_is_no_reference_of_the_callers_task_is_the_same_404(
        self, api: Gateway, live_lab: Laboratory
    ) -> None:
        mine, my_other = make(api), make(api)
        for task_id in (mine, my_other):
            live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")
            live_lab.lay(f"task/{task_id}/x/unnamed.csv", b"12345")
        live_lab.lay("agent/deployment/echo/a.csv", b"12345")
        live_lab.lay("workspace/a.csv", b"12345")
        send(api, mine, "task://x/a.csv")

        replies = [
            get(api, mine, "task://x/a.csv", person="bob-sub"),
            get(api, mine, "task://x/unnamed.csv"),
            get(api, my_other, "task://x/a.csv"),
            get(api, my_other, f"task://../{mine}/x/a.csv"),
            get(api, mine, "task://x/a.csv", at="2026-01-01T00:00:00.000000Z"),
            *(
                get(api, mine, ref)
                for ref in (
                    "agent://a.csv",
                    "workspace://a.csv",
                    "x",
                    "task://",
                    "task://x/a.csv/",
                    "\ud800"[:0] or "é",
                )
            ),
            get(api, "0" * 32, "task://x/a.csv"),
        ]

        assert {reply.status for reply in replies} == {404}
        assert len({reply.body for reply in replies}) == 1
        assert get(api, mine, "task://x/a.csv").status == 200

    @pytest.mark.parametrize(
        ("query", "at"),
        [
            ("", "ref"),
            ("ref=", "ref"),
            ("ref=task://a&ref=task://b", "ref"),
            ("ref=task://a&at=yesterday", "at"),
            ("ref=task://a&at=2026-01-01T00:00:00Z", "at"),
            ("ref=task://a&at=", "at"),
            ("ref=task://a&version=1", "version"),
        ],
    )
    def test_a_question_that_cannot_be_read_is_refused_by_its_place(
        self, api: Gateway, query: str, at: str
    ) -> None:
        reply = api.get(f"/v1/tasks/{make(api)}/files", query=query)

        assert reply.status == 400
        assert [error["at"] for error in reply.json["errors"]] == [at]

    def test_an_ended_task_gives_out_what_it_names(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id = make(api)
        live_lab.send_file(task_id, "x/a.csv")
        live_lab.work()
        live_lab.clock.forward(days=8)
        live_lab.poll(task_id)

        assert get(api, task_id, "task://x/a.csv").status == 200


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


@pytest.mark.clause("CP-5")
class TestS3:
    """The bounds that S3 itself holds everybody to, where the engine verifies signatures."""

    BOUND = 1_000

    @pytest.fixture
    def bounded(self, ministack_engine: Engine) -> Laboratory:
        """A laboratory whose largest file is small."""
        lab = Laboratory(ministack_engine)
        assert lab.runtime.mounts
        lab.runtime = replace(lab.runtime, mounts=replace(lab.runtime.mounts, largest=self.BOUND))
        return lab

    def offer(self, lab: Laboratory, size: int) -> tuple[str, Any]:
        """A task and where it takes a file of that size."""
        task = lab.create().task
        asked = Upload(caller=ALICE, name="a.csv", kind="text/csv", size=size, body="{}", key=None)
        return task.id, upload(lab.runtime, task, asked)

    @pytest.mark.parametrize("size", [0, 1, BOUND - 1, BOUND])
    def test_a_file_of_exactly_the_declared_size_is_taken_once_and_no_other(
        self, bounded: Laboratory, size: int
    ) -> None:
        task_id, signed = self.offer(bounded, size)

        def put(content: bytes) -> int:
            return httpx.put(signed.url, content=content, headers=signed.headers).status_code

        assert put(b"x" * (size + 1)) == 403
        assert put(b"x" * (size - 1 if size else 2)) == 403
        assert put(b"x" * size) == 200
        assert put(b"y" * size) == 412
        content = naming(str(signed.file), sizeBytes=size)
        accept(bounded.runtime, caller=ALICE, task_id=task_id, content=content, key=None)

    def test_one_byte_beyond_the_bound_is_not_even_offered(self, bounded: Laboratory) -> None:
        with pytest.raises(InvalidInput, match="at most 1000"):
            self.offer(bounded, self.BOUND + 1)

    def test_a_url_is_for_one_file_and_one_act(self, bounded: Laboratory) -> None:
        _, signed = self.offer(bounded, 3)
        elsewhere = signed.url.replace("a.csv", "b.csv")

        assert httpx.put(elsewhere, content=b"123", headers=signed.headers).status_code == 403
        assert httpx.get(signed.url).status_code == 403
        assert httpx.delete(signed.url).status_code == 403
        assert httpx.put(signed.url.split("?")[0] + "x", content=b"1").status_code in {200, 403}


class TestBudget:
    """What files cost, and what they do not cost whoever has none."""

    def test_an_input_with_files_is_one_look_at_each_and_one_item_more_for_each(
        self, moto_engine: Engine
    ) -> None:
        lab = Laboratory(moto_engine, dynamodb=Counting(moto_engine.client("dynamodb")))
        task_id = lab.create().task.id
        for name in ("a", "b"):
            lab.lay(f"task/{task_id}/x/{name}", b"1")
        watched = Counting(lab.s3)
        assert lab.runtime.mounts
        runtime = replace(lab.runtime, mounts=replace(lab.runtime.mounts, connect=lambda: watched))
        content = naming("task://x/a", "task://x/b", "task://x/a")
        # A process reads a version of a manifest once.
        rules.document(lab.runtime, lab.stored(task_id))
        lab.dynamodb.calls.clear()

        accept(runtime, caller=ALICE, task_id=task_id, content=content, key=None)

        assert [call.operation for call in lab.dynamodb.calls] == ["get_item", "transact_write_items"]
        assert lab.dynamodb.calls[-1].items_written == 3 + 2
        assert [call.operation for call in watched.calls] == ["head_object"] * 2

    def test_a_text_costs_nothing_more(self, moto_engine: Engine) -> None:
        lab = Laboratory(moto_engine, dynamodb=Counting(moto_engine.client("dynamodb")))
        task_id = lab.create().task.id
        lab.dynamodb.calls.clear()

        lab.send(task_id, 'https://example.com/ "file": "task://x/a"')

        assert [call.operation for call in lab.dynamodb.calls] == ["get_item", "transact_write_items"]

    def test_a_reference_is_found_by_one_query_for_one_item(self, moto_engine: Engine) -> None:
        lab = Laboratory(moto_engine, dynamodb=Counting(moto_engine.client("dynamodb")))
        task_id = lab.create().task.id
        for _ in range(5):
            lab.send_file(task_id, "x/a.csv")
        task = lab.stored(task_id)
        lab.dynamodb.calls.clear()

        download(lab.runtime, task, file="task://x/a.csv", at=None)

        (call,) = lab.dynamodb.calls
        assert (call.operation, call.request["Limit"], len(call.answer["Items"])) == ("query", 1, 1)


@pytest.mark.clause("CP-4")
class TestRules:
    """Files under what an agent's manifest rules."""

    def test_a_parameter_that_is_a_file_is_a_reference_like_any_other(self, api: Gateway, host: Host) -> None:
        schema = {"type": "object", "properties": {"doc": {"type": "file"}}, "required": []}
        body = manifest("clerk") | {"parameters": schema, "mount": ["task", "workspace"]}
        assert host.send("PUT", "agents/clerk", body).status == 200
        task_id = make(api, "clerk")
        version = host.lab.lay(f"task/{task_id}/x/a.csv", b"123")

        def sent(doc: str) -> Reply:
            return api.post(f"/v1/tasks/{task_id}/inputs", {**text("read it"), "doc": doc})

        assert problems(sent("task://x/b.csv")) == {"doc": NOT_THERE}
        assert problems(sent("agent://a.csv")) == {
            "doc": "is in a root that is not available here; available roots: task://, workspace://"
        }
        assert sent("task://x/a.csv").status == 202
        assert version_of(get(api, task_id, "task://x/a.csv")) == version

    def test_what_a_guardrail_makes_of_an_input_keeps_its_files(self, api: Gateway, host: Host) -> None:
        step = {"transform": "input.put('message', [input.message[1]])"}
        body = manifest("clerk") | {"guardrails": {"before": [step]}}
        assert host.send("PUT", "agents/clerk", body).status == 200
        task_id = make(api, "clerk")
        for name in ("a", "b"):
            host.lab.lay(f"task/{task_id}/x/{name}", b"123")
        send(api, task_id, "task://x/a", "task://x/b")
        host.start(task_id)

        (entry,) = host.lab.conversation(task_id)

        assert entry["message"] == [{"mimeType": "text/csv", "file": "task://x/b", "sizeBytes": 3}]
        assert get(api, task_id, "task://x/b").status == 200

    def test_an_output_that_waits_for_a_review_pins_what_was_there_when_it_was_said(
        self, api: Gateway, host: Host
    ) -> None:
        step = {"assert": "review(context.user.id)"}
        body = manifest("clerk", repeatable=True) | {"guardrails": {"after": [step]}}
        assert host.send("PUT", "agents/clerk", body).status == 200
        task_id = host.task("hi", agent="clerk")
        fence = host.start(task_id)["fence"]
        said = {"fence": fence, **named("task://x/a.csv")}
        assert problems(host.ask(task_id, "finish", said)) == {"message[0].file": NOT_THERE}
        version = host.lab.lay(f"task/{task_id}/x/a.csv", b"123")
        held = host.ask(task_id, "finish", said)
        host.lab.lay(f"task/{task_id}/x/a.csv", b"what nobody approved")
        early = get(api, task_id, "task://x/a.csv")

        (review,) = api.get("/v1/reviews").json["reviews"]
        assert api.post(f"/v1/reviews/{review['id']}", {"decision": "approve"}).status == 200
        host.ask(task_id, "turns")

        assert (held.status, early.status) == (200, 404), held.body
        output = host.lab.conversation(task_id)[-1]
        assert output["message"] == [{"mimeType": "text/csv", "file": "task://x/a.csv", "sizeBytes": 3}]
        assert version_of(get(api, task_id, "task://x/a.csv")) == version
