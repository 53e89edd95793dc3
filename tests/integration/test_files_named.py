"""Files by reference: what a message may name, and what it pins."""

from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from tests.support.filing import NOT_THERE, OF_A_TASK, get, make, named, problems, send
from tests.support.gateway import Gateway
from tests.support.laboratory import ALICE, Laboratory, naming
from turnkeeper.domain.errors import InvalidInput, StoreIsUnavailable
from turnkeeper.service.inputs import accept


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
    def test_echo_answers_with_the_name_of_a_file(self, api: Gateway, live_lab: Laboratory) -> None:
        task_id = make(api)
        live_lab.lay(f"task/{task_id}/x/a.csv", b"12345")
        send(api, task_id, "task://x/a.csv")

        live_lab.work()

        assert live_lab.conversation(task_id)[-1]["message"][0]["text"] == "task://x/a.csv"

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
