"""Files by reference: what the store is asked, what that costs, and what rules it."""

from dataclasses import replace
from typing import Any

import httpx
import pytest

from tests.support.counting import Counting
from tests.support.engines import Engine
from tests.support.filing import NOT_THERE, get, make, named, problems, send, version_of
from tests.support.gateway import Gateway
from tests.support.hosting import Host, manifest, text
from tests.support.laboratory import ALICE, Laboratory, naming
from tests.support.reply import Reply
from turnkeeper.domain.errors import InvalidInput
from turnkeeper.service import rules
from turnkeeper.service.files import Upload, download, upload
from turnkeeper.service.inputs import accept


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
