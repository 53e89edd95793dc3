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
    items = lab.everything()
    contents = {
        hmac.new(bytes.fromhex(item["nonce"]), item["content"].encode(), hashlib.sha256).hexdigest(): key[1]
        for key, item in items.items()
        if key[0] == f"TASK#{task_id}" and "nonce" in item
    }

    hashed = [entry for entry in lab.journal(task_id) if "content_hmac" in entry]

    kinds = {entry["transition"]: contents[entry["content_hmac"]].partition("#")[0] for entry in hashed}
    assert kinds == {"create": "IN", "accept": "IN", "emit": "MSG", "suspend": "MEMO", "finish": "MSG"}
    assert len(contents) == len(hashed)


def test_the_journal_holds_no_content_and_no_nonce(lab: Laboratory) -> None:
    task_id = live_a_whole_life(lab)

    text = json.dumps(lab.journal(task_id))

    assert not [secret for secret in SECRETS if secret in text]
    assert "nonce" not in text


def test_the_same_content_has_another_hash_each_time(lab: Laboratory) -> None:
    task_id = lab.create("yes").task.id
    lab.send(task_id, "yes")

    hashes = [entry["content_hmac"] for entry in lab.journal(task_id)]

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
