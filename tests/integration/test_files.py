"""Files by reference: where they may be sent, and who gets which version of them back."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from tests.support.filing import get, make, offer, problems, send, version_of
from tests.support.gateway import Gateway
from tests.support.hosting import Host, manifest
from tests.support.laboratory import LARGEST_FILE, Laboratory


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
