"""The replay of a journal: what a task's partition holds is what was written, and a change to any of it shows."""

from collections.abc import Callable
from typing import Any

import pytest

from scripts.verify import main
from tests.support.hosting import Host
from tests.support.laboratory import ALICE, Laboratory
from turnkeeper.service.verify import Finding, verify
from turnkeeper.store.wire import item_to_wire

type Item = dict[str, Any]


def partition(lab: Laboratory, task_id: str) -> dict[str, Item]:
    return {sk: item for (pk, sk), item in lab.everything().items() if pk == f"TASK#{task_id}"}


def put(lab: Laboratory, item: Item) -> None:
    lab.dynamodb.put_item(TableName=lab.table, Item=item_to_wire(item))


def delete(lab: Laboratory, item: Item) -> None:
    lab.dynamodb.delete_item(TableName=lab.table, Key=item_to_wire({"pk": item["pk"], "sk": item["sk"]}))


def first(items: dict[str, Item], kind: str, *names: str) -> Item:
    """The first item of a kind that has all of *names*."""
    return next(
        item for sk, item in sorted(items.items()) if sk.startswith(kind) and item.keys() >= set(names)
    )


def test_a_whole_life_is_what_its_journal_says(lived: str, live_lab: Laboratory) -> None:
    found = verify(live_lab.runtime.table, lived, now=live_lab.clock())

    assert (found.findings, found.is_terminal) == ((), True)
    assert found.entries == len(live_lab.journal(lived)) > 8
    kinds = {sk.partition("#")[0] for sk in partition(live_lab, lived)}
    assert kinds == {"TASK", "LOG", "IN", "MSG", "MEMO", "REVIEW", "CHILD", "OUTCOME", "REPORT", "FILE"}


@pytest.mark.parametrize("state", ["idle", "queued", "running", "waiting"])
def test_a_task_that_goes_on_can_be_verified_too(host: Host, live_lab: Laboratory, state: str) -> None:
    task_id = host.task(*([] if state == "idle" else ["hi"]))
    if state in {"running", "waiting"}:
        fence = host.start(task_id)["fence"]
        host.ask(task_id, "heartbeat", {"fence": fence})
    if state == "waiting":
        host.ask(task_id, "wait", {"fence": fence, "waits": [{"id": "h", "kind": "host"}]})
    host.sweep_after(seconds=59)

    assert verify(live_lab.runtime.table, task_id, now=live_lab.clock()).findings == ()


CHANGES: list[tuple[str, tuple[str, ...], Item]] = [
    ("IN#", (), {"content": "{}"}),
    ("IN#", (), {"received_at": "2020-01-01T00:00:00.000000Z"}),
    ("MSG#", ("ranges",), {"ranges": [[1, 1]]}),
    ("MSG#", ("ordinal",), {"content": "{}"}),
    ("MSG#", ("ordinal",), {"ordinal": 2}),
    ("MEMO#", (), {"content": "null"}),
    ("OUTCOME", (), {"declared": "{}"}),
    ("REPORT#", (), {"report": "{}"}),
    ("REVIEW#", ("comment",), {"subject": "Sell it?"}),
    ("REVIEW#", ("comment",), {"reviewer": "mallory"}),
    ("REVIEW#", ("comment",), {"comment": "Never."}),
    ("REVIEW#", ("comment",), {"verdict": "denied"}),
    ("CHILD#", (), {"child": "0" * 32}),
    ("LOG#", (), {"actor": "somebody"}),
    ("LOG#", ("ranges",), {"ranges": [[9, 9]]}),
    ("TASK", (), {"outcome": 2002}),
    ("TASK", (), {"terminal_reason": "errored"}),
    ("TASK", (), {"responsible_user": "mallory"}),
    ("TASK", (), {"outputs": 9}),
    ("TASK", (), {"due_at": "2020-01-01T00:00:00.000000Z"}),
    ("TASK", (), {"write_revision": "0" * 32}),
    ("TASK", (), {"log_head": "0" * 64}),
]


@pytest.mark.parametrize(("kind", "names", "changed"), CHANGES)
def test_a_change_to_any_item_shows(
    lived: str, live_lab: Laboratory, kind: str, names: tuple[str, ...], changed: Item
) -> None:
    item = first(partition(live_lab, lived), kind, *names)
    assert item != {**item, **changed}

    put(live_lab, {**item, **changed})

    assert verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings


def test_a_decision_that_nobody_made_shows(lived: str, live_lab: Laboratory) -> None:
    items = partition(live_lab, lived)
    undecided = next(item for sk, item in items.items() if sk.startswith("REVIEW#") and "verdict" not in item)

    put(live_lab, {**undecided, "verdict": "done", "decided_at": "2026-11-30T12:00:00.000000Z"})

    (finding,) = verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings
    assert finding == Finding(f"{undecided['sk']}!", "was written by no transition")


@pytest.mark.parametrize("kind", ["IN#", "MSG#", "MEMO#", "OUTCOME", "REPORT#", "REVIEW#", "CHILD#", "LOG#"])
def test_an_item_that_is_gone_shows(lived: str, live_lab: Laboratory, kind: str) -> None:
    delete(live_lab, first(partition(live_lab, lived), kind))

    assert verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings


def test_a_journal_that_was_cut_short_shows(lived: str, live_lab: Laboratory) -> None:
    *_, last = live_lab.journal(lived)
    delete(live_lab, last)

    found = verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings
    assert Finding("TASK", "names another last entry than there is") in found


def _beside(items: dict[str, Item]) -> Item:
    return {**first(items, "IN#"), "sk": "IN#0000000009"}


def _elsewhere(items: dict[str, Item]) -> Item:
    one, other = items["IN#0000000001"], items["IN#0000000002"]
    return {**other, "sk": one["sk"]}


@pytest.mark.parametrize("forged", [_beside, _elsewhere])
def test_an_item_that_was_put_elsewhere_shows(
    lived: str, live_lab: Laboratory, forged: Callable[[dict[str, Item]], Item]
) -> None:
    put(live_lab, forged(partition(live_lab, lived)))

    assert verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings


def test_a_task_that_was_opened_again_shows(lived: str, live_lab: Laboratory) -> None:
    item = partition(live_lab, lived)["TASK"]
    for name in ("terminal_reason", "outcome"):
        item.pop(name)

    put(live_lab, {**item, "phase": "idle", "idle_expires_at": "2030-01-01T00:00:00.000000Z"})

    found = verify(live_lab.runtime.table, lived, now=live_lab.clock()).findings
    assert Finding("TASK", "is not what its last transition wrote") in found


def test_the_command_says_what_it_found(
    lived: str, live_lab: Laboratory, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--table", live_lab.table, lived]) == 0
    assert "ended, what its journal says" in capsys.readouterr().out

    put(live_lab, {**partition(live_lab, lived)["OUTCOME"], "declared": "{}"})

    assert main(["--table", live_lab.table, lived, "0" * 32]) == 1
    told = capsys.readouterr().out
    assert "1 findings" in told
    assert "  OUTCOME is not what LOG#" in told
    assert "there is no such task" in told


def test_a_table_that_cannot_be_read_is_no_finding(
    lived: str, live_lab: Laboratory, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert live_lab.table != "nowhere"

    assert main(["--table", "nowhere", lived]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("nowhere cannot be read: ")
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    assert main(["--table", live_lab.table, lived]) == 2
    assert "region" in capsys.readouterr().err


def test_what_guardrails_made_and_hold_is_sealed_too(host: Host, live_lab: Laboratory) -> None:
    changes = "input.put('message', [{'mimeType': 'text/plain', 'text': 'changed'}])"
    guardrails = {
        "before": [{"assert": "input.message[0].text != 'no'"}, {"transform": changes}],
        "after": [{"assert": f"review('{ALICE}')"}],
    }
    manifest = {**host.send("GET", "agents/helper").json["manifest"], "guardrails": guardrails}
    assert host.send("PUT", "agents/helper", manifest).status == 200
    task_id = host.task("yes", "no")
    fence = host.start(task_id)["fence"]
    host.finish(task_id, fence, "done")
    made = first(partition(live_lab, task_id), "TX#")
    lost = {**made, "sk": made["sk"].replace(made["sk"].split("#")[1], "0" * 16)}

    assert verify(live_lab.runtime.table, task_id, now=live_lab.clock()).findings == ()
    put(live_lab, lost)  # what a worker left that was overtaken
    assert verify(live_lab.runtime.table, task_id, now=live_lab.clock()).findings == ()
    put(live_lab, {**made, "content": made["content"].replace("changed", "forged")})
    (forged,) = verify(live_lab.runtime.table, task_id, now=live_lab.clock()).findings
    put(live_lab, made)
    added = {**made, "sk": f"{made['sk'][:-1]}2"}
    put(live_lab, added)
    (smuggled,) = verify(live_lab.runtime.table, task_id, now=live_lab.clock()).findings

    assert (forged.at, smuggled.at) == (made["sk"], added["sk"])
