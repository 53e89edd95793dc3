"""Retention: an ended task is unknown to everybody from the end of it, and then deleted whole, files and all."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

import pytest

from scripts.verify import main
from tests.support.counting import Count
from tests.support.gateway import Gateway, Signer
from tests.support.hosting import Host, text
from tests.support.laboratory import ALICE, Laboratory
from tests.support.states import ended
from turnkeeper.domain.errors import TaskError, TaskIsTerminal, TaskNotFound
from turnkeeper.domain.instants import MICROSECOND, to_text
from turnkeeper.mounts import S3
from turnkeeper.service.retention import MARGIN
from turnkeeper.service.sweep import sweep
from turnkeeper.service.tasks import list_tasks
from turnkeeper.service.verify import verify
from turnkeeper.store import deletion
from turnkeeper.store.standing import task_key
from turnkeeper.store.wire import item_to_wire

UNKNOWN = "0" * 32
AUDITOR = Signer("auditor", "AROAAUDITOREXAMPLE123")


def ends(lab: Laboratory, task_id: str) -> datetime:
    """When the retention of an ended task is over."""
    return lab.stored(task_id).due_at


def wait_past(lab: Laboratory, task_id: str) -> None:
    """Let the task's retention be over, and the margin after it."""
    lab.clock.now = ends(lab, task_id) + MARGIN


def keys_about(lab: Laboratory, task_id: str) -> set[tuple[str, str]]:
    """Every item in the table that is the task's or names it."""
    return {
        key
        for key, item in lab.everything().items()
        if task_id in key[0] + key[1] or task_id in json.dumps(item, default=str)
    }


def versions(lab: Laboratory, prefix: str = "") -> list[str]:
    """The keys of all versions in the bucket, delete markers too."""
    page = lab.s3.list_object_versions(Bucket=lab.bucket, Prefix=prefix)
    return sorted(one["Key"] for one in (*page.get("Versions", ()), *page.get("DeleteMarkers", ())))


def refused(error: type[TaskError], act: Callable[[], object]) -> None:
    with pytest.raises(error):
        act()


class TestGone:
    """What everybody sees from the end of the retention on."""

    @pytest.fixture
    def over(self, live_lab: Laboratory, lived: str, monkeypatch: pytest.MonkeyPatch) -> str:
        """A task whose retention was over a moment ago by the functions' clock; nothing of it is deleted."""
        monkeypatch.setenv("TURNKEEPER_AUDITORS", json.dumps([AUDITOR.principal]))
        put_over(live_lab, lived)
        return lived

    def test_every_route_of_people_answers_as_for_an_unknown_task(self, api: Gateway, over: str) -> None:
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/messages", None),
            ("GET", "/agent-status", None),
            ("GET", "/journal", None),
            ("GET", "/files", None),
            ("POST", "/files", {"name": "a", "mimeType": "text/csv", "sizeBytes": 1}),
            ("POST", "/inputs", text("too late")),
        ):
            query = {"ref": "task://x/week 48.csv"} if path == "/files" and method == "GET" else {}
            gone, unknown = (
                api.send(api.event(method, f"/v1/tasks/{task_id}{path}", body=body, query=query))
                for task_id in (over, UNKNOWN)
            )
            assert (gone.status, gone.body) == (unknown.status, unknown.body) == (404, unknown.body), path

    def test_every_route_of_its_host_answers_as_for_an_unknown_task(self, over: str, acme: Host) -> None:
        for method, path, body in (
            ("GET", "", None),
            ("GET", "/messages", None),
            ("GET", "/agent-status", None),
            ("POST", "/turns", None),
            ("POST", "/interrupt", None),
            ("POST", "/complete", {}),
            ("POST", "/heartbeat", {"fence": 1}),
        ):
            gone, unknown = (acme.send(method, f"tasks/{task_id}{path}", body) for task_id in (over, UNKNOWN))
            assert (gone.status, gone.body) == (unknown.status, unknown.body) == (404, unknown.body), path

    def test_no_list_shows_it_and_no_auditor_and_no_reviewer_finds_it(
        self, api: Gateway, over: str, live_lab: Laboratory
    ) -> None:
        review = next(sk for _, sk in live_lab.everything() if sk.startswith("REVIEW#")).removeprefix(
            "REVIEW#"
        )

        listed = api.get("/v1/tasks").json["tasks"]
        audited = api.send(api.event("GET", f"/v1/host/tasks/{over}/agent-status", signer=AUDITOR))
        decided = api.post(f"/v1/reviews/{over}{review}", {"decision": "approve", "comment": "Go ahead."})

        assert over not in {task["id"] for task in listed}
        assert audited.status == decided.status == 404

    def test_until_that_instant_all_of_it_is_there(self, lab: Laboratory) -> None:
        task_id = ended(lab)
        lab.clock.now = ends(lab, task_id) - MICROSECOND
        lab.sweep()

        assert lab.poll(task_id).is_terminal
        assert [task.id for task in listing(lab)] == [task_id]
        refused(TaskIsTerminal, lambda: lab.send(task_id, "too late"))

        lab.clock.forward(microseconds=1)
        before = lab.everything()
        refused(TaskNotFound, lambda: lab.poll(task_id))
        refused(TaskNotFound, lambda: lab.page(task_id))
        refused(TaskNotFound, lambda: lab.send(task_id, "too late"))
        refused(TaskNotFound, lambda: lab.send(task_id, "too late", key="k"))
        assert listing(lab) == ()
        assert lab.everything() == before

    def test_a_key_that_made_it_finds_nothing_any_more(self, lab: Laboratory) -> None:
        made = lab.create("hi", agent="mayfly", key="k")
        lab.work()
        lab.clock.forward(seconds=6)
        lab.poll(made.task.id)
        lab.runtime = replace(lab.runtime, idempotency=timedelta(days=1_000))
        lab.dynamodb.update_item(
            TableName=lab.table,
            Key=next(
                item_to_wire({"pk": pk, "sk": sk}) for pk, sk in lab.everything() if pk.startswith("KEY#")
            ),
            UpdateExpression="SET expires_at = :late",
            ExpressionAttributeValues=item_to_wire({":late": 2**40}),
        )
        wait_past(lab, made.task.id)

        refused(TaskNotFound, lambda: lab.create("hi", agent="mayfly", key="k"))
        lab.sweep()
        refused(TaskNotFound, lambda: lab.create("hi", agent="mayfly", key="k"))

    @pytest.mark.parametrize("deleted", [False, True])
    def test_a_turn_that_waits_for_it_is_told_that_it_failed(
        self, host: Host, live_lab: Laboratory, *, deleted: bool
    ) -> None:
        assert host.register("other", repeatable=True, delegates_from=["helper"]).status == 200
        task_id, fence = host.running()
        called = {"fence": fence, "call": "c", "agent": "other"}
        child = host.ask(task_id, "children", {**called, "input": text("go")}).json["id"]
        waits = [{"id": "w", "kind": "child", "child": child}]
        assert host.ask(task_id, "wait", {"fence": fence, "waits": waits}).status == 200
        host.ask(child, "complete", {"discard_pending": True})  # nobody attends to what it sent
        put_over(live_lab, child)
        assert host.send("GET", f"tasks/{task_id}/children/{child}").status == 404
        if deleted:
            live_lab.clock.now += MARGIN
            assert live_lab.sweep().deleted == 1

        host.sweep_after(seconds=61)

        (resolution,) = host.start(task_id)["resolutions"]
        assert (resolution["verdict"], resolution["child"]) == ("failed", child)
        again = host.ask(task_id, "wait", {"fence": fence + 1, "waits": waits})
        assert (again.status, again.json["errors"][0]["at"]) == (422, "waits[0].child")


class TestDeletion:
    """What the sweep does about it."""

    def test_nothing_of_it_is_left_and_nothing_else_is_touched(
        self, lived: str, live_lab: Laboratory, acme: Host
    ) -> None:
        lab = live_lab
        lab.lay(f"task/{lived}/y/never named", b"1")
        lab.lay(f"task/{lived}/y/<never> \u00fc&named'", b"1")
        lab.s3.delete_object(Bucket=lab.bucket, Key=f"task/{lived}/y/never named")
        lab.lay("agent/deployment/echo/a.csv", b"1")
        neighbour = lab.create("hi").task.id
        lab.lay(f"task/{neighbour}/x/a.csv", b"1")
        hush(lab)
        (child,) = (item["child"] for (_, sk), item in lab.everything().items() if sk.startswith("CHILD#"))
        others = {key: item for key, item in lab.everything().items() if key[0] != f"TASK#{lived}"}
        kept = [key for key in versions(lab) if lived not in key]
        assert len(versions(lab, f"task/{lived}/")) == 4
        wait_past(lab, lived)

        swept = lab.sweep()

        assert (swept.deleted, swept.failed, swept.cut_short) == (1, 0, False)
        assert lab.everything() == others
        assert versions(lab) == kept
        assert keys_about(lab, lived) == {(f"TASK#{child}", "TASK")}
        assert acme.send("GET", f"tasks/{child}").status == 200

    def test_it_waits_a_minute_longer_than_anybody_reads(self, lab: Laboratory) -> None:
        task_id = ended(lab)
        wait_past(lab, task_id)
        lab.clock.now -= MICROSECOND
        before = lab.everything()

        assert lab.sweep().deleted == 0
        assert lab.everything() == before
        lab.clock.now += MICROSECOND
        assert lab.sweep().deleted == 1
        assert keys_about(lab, task_id) == set()

    def test_a_task_that_goes_on_is_never_deleted_however_old_its_entry_in_the_index(
        self, lab: Laboratory
    ) -> None:
        task_id = lab.create("hi").task.id
        key = item_to_wire(task_key(task_id))
        shard = lab.raw(task_id)["due_shard"]["S"].replace("due", "ended")
        lab.dynamodb.update_item(
            TableName=lab.table,
            Key=key,
            UpdateExpression="SET due_shard = :ended",
            ExpressionAttributeValues={":ended": {"S": shard}},
        )
        lab.clock.forward(days=400)
        before = lab.everything()

        assert (lab.sweep().deleted, lab.everything()) == (0, before)

    def test_only_an_ended_task_can_be_deleted_even_by_code_that_forgot_to_ask(self, lab: Laboratory) -> None:
        task_id = lab.create("hi").task.id
        before = lab.everything()

        assert not deletion.the_task_itself(lab.runtime.table, task_id)
        assert lab.everything() == before

    def test_a_large_task_is_deleted_in_batches_over_as_many_sweeps_as_it_takes(
        self, counting: Laboratory, count: Count
    ) -> None:
        lab = counting
        task_id = lab.create("hi", agent="mayfly").task.id
        for number in range(60):
            lab.send(task_id, f"input {number}")
        lab.work()
        lab.clock.forward(seconds=6)
        lab.poll(task_id)
        hush(lab)
        items = len(keys_about(lab, task_id))
        wait_past(lab, task_id)
        first = [True, True, False]

        with count() as tally:
            swept = sweep(lab.runtime, may_go_on=lambda: bool(first) and first.pop(0))
        assert (swept.deleted, swept.cut_short) == (0, True)
        assert sizes(tally.of("batch_write_item")) == [25, 25]
        assert len(keys_about(lab, task_id)) == items - 50
        refused(TaskNotFound, lambda: lab.poll(task_id))
        with count() as tally:
            assert lab.sweep().deleted == 1
        rest = items - 50 - 1
        assert sizes(tally.of("batch_write_item")) == [25] * (rest // 25) + [rest % 25]
        assert keys_about(lab, task_id) == set()

    def test_what_goes_on_comes_before_what_ended(self, lab: Laboratory) -> None:
        gone = ended(lab)
        wait_past(lab, gone)
        due = lab.create(agent="mayfly").task.id
        lab.clock.forward(seconds=5)
        left = iter([True, False])

        swept = sweep(lab.runtime, may_go_on=lambda: next(left))

        assert (swept.looked, swept.changed, swept.deleted, swept.cut_short) == (1, 1, 0, True)
        assert lab.stored(due).is_terminal
        assert keys_about(lab, gone)

    def test_what_a_busy_table_left_undone_is_asked_again(self, moto_engine: Any) -> None:
        lab = Laboratory(moto_engine, dynamodb=Reluctant(moto_engine.client("dynamodb")))
        task_id = ended(lab)
        wait_past(lab, task_id)

        assert lab.sweep().deleted == 1
        assert keys_about(lab, task_id) == set()

    def test_a_file_that_cannot_be_deleted_keeps_its_task_and_no_other(
        self, lab: Laboratory, caplog: pytest.LogCaptureFixture
    ) -> None:
        held, free = ended(lab), ended(lab)
        for task_id in (held, free):
            lab.lay(f"task/{task_id}/x/a.csv", b"1")
        assert lab.runtime.mounts
        locked = replace(lab.runtime.mounts, connect=lambda: cast("S3", Locking(lab.s3, held)))
        mounts, lab.runtime = lab.runtime.mounts, replace(lab.runtime, mounts=locked)
        wait_past(lab, free)

        swept = lab.sweep()

        assert (swept.deleted, swept.failed) == (1, 1)
        assert keys_about(lab, free) == set()
        assert {(f"TASK#{held}", "TASK"), (f"TASK#{held}", "LOG#0000000001")} <= keys_about(lab, held)
        assert held not in caplog.text
        lab.runtime = replace(lab.runtime, mounts=mounts)
        assert lab.sweep().deleted == 1
        assert versions(lab) == []

    def test_a_task_that_cannot_be_read_stays_and_holds_up_no_other(self, lab: Laboratory) -> None:
        broken, whole = ended(lab), ended(lab)
        lab.dynamodb.update_item(
            TableName=lab.table, Key=item_to_wire(task_key(broken)), UpdateExpression="REMOVE terms"
        )
        wait_past(lab, whole)

        swept = lab.sweep()

        assert (swept.deleted, swept.failed) == (1, 1)
        assert (f"TASK#{broken}", "TASK") in keys_about(lab, broken)

    def test_a_deleted_task_is_one_that_the_command_does_not_know(
        self, lived: str, live_lab: Laboratory, capsys: pytest.CaptureFixture[str]
    ) -> None:
        kept = ended(live_lab)
        put_over(live_lab, lived)
        arguments = ["--table", live_lab.table, lived]

        assert main(arguments) == 1
        told_before = capsys.readouterr().out
        live_lab.clock.forward(minutes=2)
        assert live_lab.sweep().deleted >= 1
        assert main(arguments) == 1

        assert "its retention is over" in capsys.readouterr().out
        with pytest.raises(TaskNotFound):
            verify(live_lab.runtime.table, kept, now=ends(live_lab, kept))
        assert verify(live_lab.runtime.table, kept, now=ends(live_lab, kept) - MICROSECOND).findings == ()
        # Its end was moved by hand, and that shows as long as anything is there to show it.
        assert "TASK is not what its last transition wrote" in told_before


class TestBudget:
    """What a deletion costs."""

    def test_a_task_of_a_few_items_is_one_read_one_query_and_two_deletions(
        self, counting: Laboratory, count: Count
    ) -> None:
        lab = counting
        ids = [ended(lab) for _ in range(3)]
        hush(lab)
        wait_past(lab, ids[-1])

        with count() as tally:
            assert lab.sweep().deleted == 3

        each = ["get_item", "query", "batch_write_item", "delete_item"]
        assert sorted(tally.operations) == sorted([*["query"] * 32, *each * 3])


def put_over(lab: Laboratory, task_id: str) -> None:
    """Have the retention of an ended task be over by now, by hand."""
    lab.dynamodb.update_item(
        TableName=lab.table,
        Key=item_to_wire(task_key(task_id)),
        UpdateExpression="SET due_at = :past",
        ConditionExpression="phase = :terminal",
        ExpressionAttributeValues=item_to_wire({":past": to_text(lab.clock.now), ":terminal": "terminal"}),
    )


def hush(lab: Laboratory) -> None:
    """Have nothing be due of whatever goes on."""
    for (pk, sk), item in lab.everything().items():
        if sk == "TASK" and item["phase"] != "terminal":
            lab.dynamodb.update_item(
                TableName=lab.table,
                Key=item_to_wire({"pk": pk, "sk": sk}),
                UpdateExpression="SET due_at = :later",
                ExpressionAttributeValues=item_to_wire({":later": "2999-01-01T00:00:00.000000Z"}),
            )


def sizes(calls: list[Any]) -> list[int]:
    """How many items each batch names."""
    return [len(requests) for call in calls for requests in call.request["RequestItems"].values()]


def listing(lab: Laboratory) -> tuple[Any, ...]:
    return list_tasks(lab.runtime, caller=ALICE, phase=None, agent=None, limit=100, cursor=None).tasks


@dataclass
class Reluctant:
    """A client that does one deletion of each batch and leaves the others."""

    client: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def batch_write_item(self, **request: Any) -> Any:
        ((table, asked),) = request["RequestItems"].items()
        self.client.batch_write_item(RequestItems={table: asked[:1]})
        return {"UnprocessedItems": {table: asked[1:]} if asked[1:] else {}}


@dataclass
class Locking:
    """A client of S3 that refuses, as a legal hold does, whatever has *held* in its key."""

    client: Any
    held: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def delete_objects(self, **request: Any) -> Any:
        objects = request["Delete"]["Objects"]
        if any(self.held in one["Key"] for one in objects):
            return {"Errors": [{**one, "Code": "AccessDenied", "Message": "held"} for one in objects]}
        return self.client.delete_objects(**request)
