"""The journal: one entry per transition, chained by hashes, and no content in it."""

import hashlib
import hmac
import json
from collections.abc import Generator
from typing import Any

import pytest

from tests.support.laboratory import Laboratory, said
from turnkeeper.agents.protocol import Need, Pause, Say, Step, TurnView
from turnkeeper.domain.waits import WaitKind

SECRETS = ["from alice, first", "from alice, second", "an answer on the way", "the last answer", "a memo"]


class Thorough:
    """Says something, waits a moment, and says something more: a memo and outputs of both kinds."""

    def run(self, turn: TurnView) -> Generator[Step, None, Say | None]:
        if turn.memo is None:
            yield Say(SECRETS[2])
            yield Pause((Need(id="c", kind=WaitKind.HOST),), memo=SECRETS[4])
        return Say(SECRETS[3])


def live_a_whole_life(lab: Laboratory) -> str:
    lab.agents["echo"] = Thorough
    task_id = lab.create(SECRETS[0]).task.id
    lab.work()
    lab.send(task_id, SECRETS[1])
    lab.clock.forward(days=8)
    lab.sweep()
    lab.work()
    lab.clock.forward(days=8)
    lab.poll(task_id)
    return task_id


def hash_of(entry: dict[str, Any]) -> str:
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def test_every_transition_has_its_entry_in_order(lab: Laboratory) -> None:
    task_id = live_a_whole_life(lab)

    journal = lab.journal(task_id)

    transitions = [entry["transition"] for entry in journal]
    assert transitions[:5] == ["create", "start_turn", "emit", "suspend", "accept"]
    assert transitions[5:] == ["resolve", "start_attempt", "finish", "start_turn", "emit", "suspend"]
    assert [entry["n"] for entry in journal] == list(range(1, len(journal) + 1))
    assert [entry["at"] for entry in journal] == sorted(entry["at"] for entry in journal)


def test_each_entry_holds_the_hash_of_the_one_before_and_the_task_that_of_the_last(lab: Laboratory) -> None:
    task_id = live_a_whole_life(lab)

    head = ""
    for entry in lab.journal(task_id):
        assert entry["previous"] == head
        head = hash_of(entry)

    task = lab.stored(task_id)
    assert (task.log_head, task.log_number) == (head, len(lab.journal(task_id)))


def test_the_hash_of_content_needs_the_nonce_that_lies_beside_the_content(lab: Laboratory) -> None:
    task_id = live_a_whole_life(lab)
    items = {key[1]: item for key, item in lab.everything().items() if key[0] == f"TASK#{task_id}"}
    hashes = {}
    for key, item in items.items():
        if "nonce" in item:
            said = {name: value for name, value in item.items() if name not in {"pk", "nonce"}}
            text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            hashes[key] = hmac.new(bytes.fromhex(item["nonce"]), text.encode(), hashlib.sha256).hexdigest()

    journal = [entry for entry in lab.journal(task_id) if "contents" in entry]

    assert {key: found for entry in journal for key, found in entry["contents"].items()} == hashes
    kinds = {entry["transition"]: next(iter(entry["contents"])).partition("#")[0] for entry in journal}
    assert kinds == {
        "create": "IN",
        "start_turn": "MSG",
        "accept": "IN",
        "emit": "MSG",
        "suspend": "MEMO",
        "finish": "MSG",
    }


def test_the_journal_holds_no_content_and_no_nonce(lab: Laboratory) -> None:
    task_id = live_a_whole_life(lab)

    text = json.dumps(lab.journal(task_id))

    assert not [secret for secret in SECRETS if secret in text]
    assert "nonce" not in text


def test_the_same_content_has_another_hash_each_time(lab: Laboratory) -> None:
    task_id = lab.create("yes").task.id
    lab.send(task_id, "yes")

    hashes = [found for entry in lab.journal(task_id) for found in entry["contents"].values()]

    assert len(set(hashes)) == 2
    assert hashlib.sha256(said("yes").encode()).hexdigest() not in hashes


@pytest.mark.parametrize("count", [1, 3])
def test_a_turns_entry_names_its_turn_its_fence_and_the_inputs_it_took(lab: Laboratory, count: int) -> None:
    task_id = lab.create("1").task.id
    for number in range(2, count + 1):
        lab.send(task_id, str(number))
    lab.work()

    _, start, finish = lab.journal(task_id)[-count - 2 :][-3:]

    assert (start["transition"], start["turn"], start["fence"], start["attempt"]) == ("start_turn", 1, 1, 1)
    assert start["ranges"] == [[1, count]]
    assert (finish["transition"], finish["turn"], finish["from"], finish["to"]) == (
        "finish",
        1,
        "processing",
        "idle",
    )
    assert (start["actor"], finish["actor"]) == ("worker", "worker")


def test_a_heartbeat_and_a_fruitless_look_leave_no_entry(lab: Laboratory) -> None:
    task_id = lab.create("hi").task.id
    before = lab.journal(task_id)
    lab.clock.forward(seconds=61)

    assert lab.sweep().changed == 1
    assert lab.journal(task_id) == before
