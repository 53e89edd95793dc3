"""The status object: whose it is, and the shape that everybody may rely on (TS-1 to TS-5b, TS-9)."""

import math
import re
from collections import Counter

import pytest

from tests.conformance.client import Client, Json, answered
from tests.conformance.host import Host, auth, review
from tests.conformance.instants import instant
from tests.conformance.person import Person

MANY = 96
LEAST_BITS = 128


@pytest.fixture(scope="module")
def ids(owner: Person, agent: str) -> list[str]:
    """The ids of many tasks in the order of their creation."""
    return [owner.create(agent) for _ in range(MANY)]


@pytest.mark.clause("TS-1")
def test_ids_are_unique_and_can_stand_in_a_url(ids: list[str]) -> None:
    assert len(set(ids)) == MANY
    assert [one for one in ids if not re.fullmatch(r"[A-Za-z0-9_~.-]+", one)] == []


@pytest.mark.clause("TS-1")
def test_ids_have_room_for_128_bits_and_every_place_varies(ids: list[str]) -> None:
    alphabet, (length,) = set("".join(ids)), {len(one) for one in ids}
    varying = [place for place in zip(*ids, strict=True) if len(set(place)) >= len(alphabet) / 2]

    assert len(varying) * math.log2(len(alphabet)) >= LEAST_BITS
    assert len(varying) == length, "a part of the id hardly varies: a time or a count"


@pytest.mark.clause("TS-1")
def test_ids_favour_no_character_and_follow_no_order(ids: list[str]) -> None:
    counts = Counter("".join(ids))
    expected = sum(counts.values()) / len(counts)
    deviation = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = len(counts) - 1

    # Chi-squared: random ids go beyond this in less than one of a hundred million runs.
    assert deviation < freedom + 10 * math.sqrt(2 * freedom)
    assert ids not in (sorted(ids), sorted(ids, reverse=True))


@pytest.mark.clause("TS-2")
def test_a_task_names_the_agent_it_was_created_with(owner: Person, host: Host, agent: str) -> None:
    another = host.agent()

    tasks = {name: owner.create(name, "hello") for name in (agent, another)}

    assert {name: owner.task(task)["agent"] for name, task in tasks.items()} == {
        agent: agent,
        another: another,
    }


@pytest.mark.clause("TS-3")
def test_the_creator_is_the_one_responsible_user(owner: Person, other: Person, agent: str) -> None:
    mine, also_mine, theirs = owner.create(agent), owner.create(agent, "hello"), other.create(agent)

    responsible = owner.task(mine)["responsible_user"]

    assert responsible
    assert owner.task(also_mine)["responsible_user"] == responsible
    assert other.task(theirs)["responsible_user"] != responsible


@pytest.mark.clause("TS-3")
def test_nobody_chooses_who_is_responsible(owner: Person, other_id: str, agent: str) -> None:
    refused = owner.ask("POST", "tasks", {"agent": agent, "responsible_user": other_id})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["at"] == "responsible_user"


@pytest.mark.clause("TS-4")
def test_created_at_is_an_instant_that_never_changes(owner: Person, host: Host, agent: str) -> None:
    task = owner.create(agent, "first")
    created = [owner.task(task)["created_at"]]

    fence = host.start(task)
    created.append(owner.task(task)["created_at"])
    host.finish(task, fence, "done")
    created.append(owner.task(task)["created_at"])
    host.do(task, "complete")
    created.append(owner.task(task)["created_at"])

    assert len(set(created)) == 1
    assert instant(created[0]) <= instant(owner.messages(task)[0]["received_at"])


@pytest.mark.clause("TS-5a")
def test_a_task_is_idle_until_it_is_told_something_and_busy_until_it_has_answered(
    owner: Person, host: Host, idle: str
) -> None:
    phases = [owner.status(idle)["phase"]]
    phases.append(owner.tell(idle, "hello")["status"]["phase"])
    fence = host.start(idle)
    phases.append(owner.status(idle)["phase"])
    host.say(idle, fence, 1, "working")
    phases.append(owner.status(idle)["phase"])
    host.finish(idle, fence, "done")
    phases.append(owner.status(idle)["phase"])
    host.do(idle, "complete")
    phases.append(owner.status(idle)["phase"])

    assert phases == ["idle", "processing", "processing", "processing", "idle", "terminal"]


@pytest.mark.clause("TS-5b")
@pytest.mark.parametrize(
    ("end", "reason"), [("complete", "completed"), ("error", "errored"), ("restrict", "restricted")]
)
def test_a_terminal_reason_is_there_at_the_end_and_not_before(
    owner: Person, host: Host, idle: str, end: str, reason: str
) -> None:
    before = [owner.phase(idle)]
    owner.tell(idle, "hello")
    before.append(owner.phase(idle))
    host.take_turn(idle, "done")
    host.do(idle, end)

    assert before == [("idle", None), ("processing", None)]
    assert owner.phase(idle) == ("terminal", reason)


def assert_is_the_contracts(task: Json) -> None:
    """Hold *task* to the shape of the contract, and to nothing beside it."""
    assert set(task) == {"id", "agent", "responsible_user", "created_at", "status"}
    status = task["status"]
    assert set(status) == {"phase", "terminal_reason", "revision", "notifications", "idle_expires_at"}
    assert [type(task[name]) for name in ("id", "agent", "responsible_user", "created_at")] == [str] * 4
    assert status["phase"] in {"idle", "processing", "terminal"}
    assert status["terminal_reason"] in {None, "completed", "errored", "restricted"}
    assert isinstance(status["revision"], str)
    assert isinstance(status["notifications"], list)
    if status["idle_expires_at"] is not None:
        instant(status["idle_expires_at"])


@pytest.mark.clause("TS-9")
def test_the_status_object_has_the_contracts_shape_at_every_point_of_its_life(
    owner: Person, host: Host, idle: str
) -> None:
    assert_is_the_contracts(owner.task(idle))
    assert_is_the_contracts(owner.tell(idle, "hello"))
    fence = host.start(idle)
    assert_is_the_contracts(owner.task(idle))
    host.finish(idle, fence, "done")
    assert_is_the_contracts(owner.task(idle))
    host.do(idle, "error")
    assert_is_the_contracts(owner.task(idle))


@pytest.mark.clause("TS-9")
def test_it_has_that_shape_with_every_kind_of_notification(
    owner: Person, host: Host, queued: str, owner_id: str
) -> None:
    host.wait(queued, host.start(queued), auth("a", "github"), review("b", owner_id))

    task = owner.task(queued)

    assert_is_the_contracts(task)
    shapes = {call["kind"]: set(call) for call in task["status"]["notifications"]}
    assert shapes == {
        "user_auth_required": {"kind", "since", "provider"},
        "review_required": {"kind", "since"},
    }


@pytest.mark.clause("TS-9")
def test_what_only_the_host_may_know_is_another_resource(owner: Person, host: Host, queued: str) -> None:
    host.start(queued)

    driven = host.read(queued)

    assert driven["task"] == owner.task(queued)
    assert {"turn", "waits", "pending", "usage"} <= set(driven)


@pytest.mark.clause("TS-9")
def test_nobody_reads_it_without_saying_who_they_are(nobody: Client, idle: str) -> None:
    assert nobody.ask("GET", f"tasks/{idle}").status_code == 401
    assert "status" not in answered(nobody.ask("GET", f"tasks/{idle}"), 401)
