"""A person's client against the real functions: what it sends is taken, and what it hears is typed."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import EXPIRED, Wire
from tests.support.hosting import manifest
from tests.support.laboratory import Laboratory
from turnkeeper_client import Invalid, Malformed, NotFound, NotSignedIn, Refused, WrongState


def test_a_task_is_created_worked_on_and_read(alice: Any, live_lab: Laboratory) -> None:
    sent = alice.create("echo", "Hello!")
    live_lab.work()

    found = alice.settled(sent.task.id)

    assert (sent.task.agent, sent.task.status.phase) == ("echo", "processing")
    assert found.task.status.phase == "idle"
    assert [(entry.type, entry.text) for entry in found.entries] == [
        ("input", "Hello!"),
        ("output", "Hello!"),
    ]
    assert found.entries[0].received_at == sent.received_at
    assert sent.received_at.utcoffset() == datetime.now(UTC).utcoffset()


def test_a_task_without_an_input_is_idle_and_takes_one_later(alice: Any) -> None:
    made = alice.create("echo")
    said = alice.say(made.task.id, ["one", {"mimeType": "text/plain", "text": "two"}])

    assert (made.task.status.phase, made.received_at) == ("idle", None)
    assert [part.text for part in alice.messages(made.task.id).messages[0].message] == ["one", "two"]
    assert said.task.status.phase == "processing"


def test_an_unchanged_task_is_none_and_says_when_to_look_again(alice: Any) -> None:
    task_id = alice.create("echo").task.id
    look = alice.poll(task_id)

    again = alice.poll(task_id, look.etag)

    assert look.task == alice.task(task_id)
    assert (again.task, again.etag, again.poll_after_s) == (None, look.etag, 5.0)


def test_tasks_are_listed_page_by_page(alice: Any) -> None:
    made = [alice.create("echo").task.id for _ in range(3)]

    first = alice.tasks(limit=2)
    rest = alice.tasks(limit=2, cursor=first.next)

    assert [task.id for page in (first, rest) for task in page.tasks] == made[::-1]
    assert alice.tasks(phase="terminal").tasks == ()


def test_agents_are_listed_page_by_page_and_each_says_what_it_takes(alice: Any, host: Any) -> None:
    said = {**manifest("desk"), "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}
    assert host.send("PUT", "agents/desk", said).status == 200

    first = alice.agents(limit=2)
    rest = alice.agents(cursor=first.next)
    one = alice.agent("desk")

    names = [agent.name for page in (first, rest) for agent in page.agents]
    assert names == ["concierge", "desk", "echo", "helper", "mayfly", "slow_echo"]
    assert rest.next is None
    assert (one.description, one.parameters["required"], one.files) == ("Helps.", ["to"], ("task",))
    assert (one.default_message, one.lifespan_seconds) == (None, 604800)
    assert one.limits == {"max_age_seconds": 7776000}
    with pytest.raises(NotFound):
        alice.agent("nobody")


def test_where_it_stands_is_told_by_its_code(alice: Any) -> None:
    status = alice.agent_status(alice.create("echo", "hi").task.id)

    assert (status.code, status.name, status.terminal) == (1000, "ACCEPTED", False)
    assert status.raw["spec_version"] == "0.1.0"


@pytest.mark.usefixtures("developers")
def test_the_journal_is_read_page_by_page(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNKEEPER_DEVELOPER_CLAIM", "username=alice")
    task_id = alice.create("echo", "hi").task.id
    alice.say(task_id, "more")

    first = alice.journal(task_id, limit=1)
    second = alice.journal(task_id, after=first.next)

    assert [entry.transition for entry in (*first.entries, *second.entries)] == ["create", "accept"]
    assert (first.more, second.more) == (True, False)
    assert (first.entries[0].code, first.entries[0].turn) == (1000, None)
    with pytest.raises(NotFound):
        alice.journal("0" * 32)


def test_a_review_is_found_and_decided_and_the_same_again_is_the_same(alice: Any, host: Any) -> None:
    task_id, fence = host.running()
    wait = {"id": "r", "kind": "review", "reviewer": "alice-sub", "subject": "Send it?"}
    assert host.ask(task_id, "wait", {"fence": fence, "waits": [wait]}).status == 200

    (call,), (review,) = alice.notifications().notifications, alice.reviews().reviews
    decided = alice.decide(review.id, "approve", comment="Do.")

    assert (call.task, call.kind) == (task_id, "review_required")
    assert (review.subject, review.decision) == ("Send it?", None)
    assert (decided.decision, decided.comment) == ("approve", "Do.")
    assert alice.decide(review.id, "approve", comment="Do.") == decided
    with pytest.raises(WrongState) as refused:
        alice.decide(review.id, "deny")
    assert (refused.value.status, refused.value.code) == (409, 4001)


def test_a_file_is_sent_named_and_got_back(alice: Any, wire: Wire, tmp_path: Path) -> None:
    task_id = alice.create("echo").task.id
    (tmp_path / "week 48.csv").write_bytes(b"day,parcels")
    assert wire.lab.s3

    file = alice.upload(task_id, tmp_path / "week 48.csv", mime_type="text/csv")
    alice.say(task_id, ["See:", file])
    got = alice.download(task_id, file)

    assert (got.content, got.mime_type) == (b"day,parcels", "text/csv")
    (entry,) = alice.messages(task_id).messages
    assert [(part.text, part.file, part.size_bytes) for part in entry.message] == [
        ("See:", None, None),
        (None, file.file, 11),
    ]


@pytest.mark.parametrize(
    ("ask", "kind", "status", "code", "at"),
    [
        (lambda alice, _: alice.create("nobody"), Invalid, 422, 4000, "agent"),
        (lambda alice, _: alice.create("echo", []), Invalid, 422, 4000, "input.message"),
        (lambda alice, it: alice.messages(it, after="?"), Malformed, 400, 4000, "after"),
        (lambda alice, _: alice.task("0" * 32), NotFound, 404, 4006, None),
        (lambda alice, _: alice.task("../tasks"), NotFound, 404, 4006, None),
    ],
    ids=["an unknown agent", "an empty message", "a bad cursor", "an unknown task", "no id at all"],
)
def test_a_refusal_is_of_its_kind_and_names_the_place(
    alice: Any, *, ask: Any, kind: type[Refused], status: int, code: int, at: str | None
) -> None:
    task_id = alice.create("echo").task.id

    with pytest.raises(kind) as refused:
        ask(alice, task_id)

    assert type(refused.value) is kind
    assert (refused.value.status, refused.value.code) == (status, code)
    assert [place.at for place in refused.value.places] == ([] if at is None else [at])
    assert at is None or at in str(refused.value)
    assert refused.value.retry.safe


def test_another_persons_task_is_not_found(connect: Any, wire: Wire, alice: Any) -> None:
    task_id = alice.create("echo").task.id
    bob = connect(wire, token="bob-sub")  # noqa: S106 - a name that stands in for a token

    with pytest.raises(NotFound):
        bob.say(task_id, "Hello?")

    assert alice.messages(task_id).messages == ()


def test_a_token_that_is_taken_no_longer_is_replaced_once_and_a_fixed_one_is_refused(
    connect: Any, wire: Wire
) -> None:
    tokens = iter([EXPIRED, "alice-sub"])
    renewing, fixed = connect(wire, token=lambda: next(tokens)), connect(wire, token=EXPIRED)

    made = renewing.create("echo")
    with pytest.raises(NotSignedIn) as refused:
        fixed.tasks()

    assert made.task.status.phase == "idle"
    assert refused.value.code is None
    assert wire.seen == ["POST /v1/tasks", "POST /v1/tasks", "GET /v1/tasks"]
