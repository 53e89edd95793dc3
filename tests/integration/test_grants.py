"""Grants: a person authorised a provider, and whatever of theirs waits for it with that host goes on, once."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.support.gateway import forget_settings
from tests.support.hosting import ACME, Host, Hosts
from tests.support.laboratory import ALICE, BOB, Laboratory
from turnkeeper.domain.instants import from_text, to_text
from turnkeeper.store import people

SIGN_IN = {"id": "sign-in", "kind": "auth", "provider": "calendar"}


def grant(host: Host, provider: str = "calendar", user: str = ALICE, **more: Any) -> Any:
    return host.send("POST", "grants", {"user": user, "provider": provider, **more})


def waiting(host: Host, *waits: dict[str, Any], agent: str = "helper") -> tuple[str, int]:
    task_id = host.task("hi", agent=agent)
    fence = host.start(task_id)["fence"]
    reply = host.ask(task_id, "wait", {"fence": fence, "waits": list(waits or (SIGN_IN,))})
    assert reply.status == 200, reply.body
    host.wake_ups()
    return task_id, fence


def state(host: Host, task_id: str) -> str:
    found: str = host.read(task_id)["turn"]["state"]
    return found


@pytest.mark.clause("TN-1b")
def test_one_grant_resolves_every_wait_of_the_user_for_the_provider(host: Host) -> None:
    twice = waiting(host, SIGN_IN, {**SIGN_IN, "id": "again"})[0]
    other = waiting(host)[0]
    calls = host.api.get("/v1/notifications").json["notifications"]

    reply = grant(host)

    assert [(call["task"], call["kind"], call["provider"]) for call in calls] == [
        (twice, "user_auth_required", "calendar"),
        (other, "user_auth_required", "calendar"),
    ]
    assert (reply.status, reply.json["user"], reply.json["provider"]) == (200, ALICE, "calendar")
    assert (state(host, twice), state(host, other)) == ("runnable", "runnable")
    assert sorted(wake["task"] for wake in host.wake_ups()) == sorted([twice, other])
    assert host.api.get("/v1/notifications").json["notifications"] == []
    assert [one["verdict"] for one in host.start(twice)["resolutions"]] == ["done", "done"]


def test_a_grant_resolves_nothing_else(hosts: Hosts, live_lab: Laboratory) -> None:
    for host in (hosts.acme, hosts.rival):
        assert host.register(f"of-{host.signer.role}").status == 200
    mine, rivals = (waiting(each, agent=f"of-{each.signer.role}")[0] for each in (hosts.acme, hosts.rival))
    another, _ = waiting(hosts.acme, {**SIGN_IN, "provider": "mail"}, agent="of-acme")
    before = {task: live_lab.raw(task) for task in (rivals, another)}

    grant(hosts.acme)
    grant(hosts.acme, user=BOB)

    assert state(hosts.acme, mine) == "runnable"
    assert {task: live_lab.raw(task) for task in (rivals, another)} == before


def test_a_grant_that_is_newer_than_the_need_resolves_the_wait_at_once(host: Host) -> None:
    """The user signed in while the turn found out that they had not."""
    task_id, fence = host.running()
    grant(host)
    host.wake_ups()

    reply = host.ask(task_id, "wait", {"fence": fence, "waits": [SIGN_IN]})

    assert (reply.status, reply.json["turn"]["state"]) == (200, "runnable")
    assert [wake["task"] for wake in host.wake_ups()] == [task_id]
    assert host.api.get("/v1/notifications").json["notifications"] == []


def test_a_grant_that_is_older_than_the_need_does_not(host: Host) -> None:
    """It was there, and was found wanting: revoked, or of too little."""
    granted_at = from_text(grant(host).json["granted_at"])
    task_id, _ = waiting(host)

    assert state(host, task_id) == "suspended"
    assert grant(host, granted_at=to_text(granted_at)).status == 200
    assert state(host, task_id) == "suspended"
    assert grant(host).status == 200
    assert state(host, task_id) == "runnable"


@pytest.mark.parametrize(
    ("needed", "state_after"),
    [(timedelta(0), "runnable"), (timedelta(microseconds=1), "suspended"), (timedelta(hours=-1), "runnable")],
)
def test_the_need_counts_from_when_the_host_says_it_was_found(
    host: Host, needed: timedelta, state_after: str
) -> None:
    task_id, fence = host.running()
    granted_at = from_text(grant(host).json["granted_at"])

    wait = {**SIGN_IN, "needed_at": to_text(granted_at + needed)}
    host.ask(task_id, "wait", {"fence": fence, "waits": [wait]})

    assert state(host, task_id) == state_after


def test_a_grant_says_which_is_the_newest(host: Host) -> None:
    newest = grant(host).json["granted_at"]

    older = grant(host, granted_at="2020-01-01T00:00:00Z")

    assert older.json["granted_at"] == newest


@pytest.mark.parametrize("dies", ["who grants", "who waits"])
def test_a_function_that_dies_half_way_leaves_nothing_stuck(
    host: Host, live_lab: Laboratory, dies: str
) -> None:
    """The grant is kept, the wait is recorded, and nobody lives to bring them together: the sweep does."""
    task_id, fence = waiting(host) if dies == "who grants" else host.running()
    keep(live_lab, datetime.now(tz=live_lab.clock.now.tzinfo))
    if dies == "who waits":
        # Its last look at the grants came before the grant.
        hide_grants(live_lab, lambda: host.ask(task_id, "wait", {"fence": fence, "waits": [SIGN_IN]}))
    host.wake_ups()
    assert state(host, task_id) == "suspended"

    host.sweep_after(seconds=61)

    assert state(host, task_id) == "runnable"
    assert [wake["task"] for wake in host.wake_ups()] == [task_id]
    assert [one["verdict"] for one in host.start(task_id)["resolutions"]] == ["done"]


def keep(lab: Laboratory, at: datetime) -> None:
    people.keep_grant(lab.runtime.table, owner=ACME.principal, person=ALICE, provider="calendar", at=at)


def hide_grants(lab: Laboratory, act: Any) -> None:
    """*act*, with the authorisation coming right after it."""
    key = people.grant_key(ACME.principal, ALICE, "calendar")
    wire = {name: {"S": value} for name, value in key.items()}
    kept = lab.dynamodb.get_item(TableName=lab.table, Key=wire)["Item"]
    lab.dynamodb.delete_item(TableName=lab.table, Key=wire)
    assert act().status == 200
    lab.dynamodb.put_item(TableName=lab.table, Item=kept)


def test_looks_at_a_suspended_task_space_out(host: Host, live_lab: Laboratory) -> None:
    task_id, _ = waiting(host)
    gaps = []
    for _ in range(7):
        due = live_lab.stored(task_id).due_at
        live_lab.clock.now = due
        live_lab.sweep()
        gaps.append((live_lab.stored(task_id).due_at - due) / timedelta(minutes=1))

    assert gaps == [2, 4, 8, 15, 15, 15, 15]


def test_a_grant_for_a_task_that_went_on_changes_nothing(host: Host, live_lab: Laboratory) -> None:
    task_id, _ = waiting(host)
    host.ask(task_id, "complete", {"discard_pending": True})
    before = live_lab.raw(task_id)

    assert grant(host).status == 200

    assert live_lab.raw(task_id) == before


def test_a_deployments_host_grants_for_the_built_in_agents(
    hosts: Hosts, live_lab: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    task_id = live_lab.create("Lunch at one", agent="concierge").task.id
    live_lab.work()
    assert live_lab.stored(task_id).waits
    assert grant(hosts.rival).status == 200
    assert live_lab.stored(task_id).waits
    monkeypatch.setenv("TURNKEEPER_DEPLOYMENT_HOSTS", f'["{ACME.principal}"]')
    forget_settings()

    assert grant(hosts.acme).status == 200

    assert live_lab.stored(task_id).waits == ()
    assert hosts.acme.read(task_id)["task"]["agent"] == "concierge"


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["user", "provider"]),
        ({"user": "", "provider": ""}, ["user", "provider"]),
        ({"user": 7, "provider": None}, ["user", "provider"]),
        ({"user": ALICE, "provider": "p" * 1025}, ["provider"]),
        ({"user": ALICE, "provider": "p", "granted_at": "yesterday"}, ["granted_at"]),
        ({"user": ALICE, "provider": "p", "granted_at": "2999-01-01T00:00:00Z"}, ["granted_at"]),
        ({"user": ALICE, "provider": "p", "scope": "all"}, ["scope"]),
    ],
)
def test_a_grant_that_is_wrong_is_refused_by_its_places_and_nothing_is_stored(
    host: Host, live_lab: Laboratory, body: dict[str, Any], places: list[str]
) -> None:
    before = live_lab.everything()

    reply = host.send("POST", "grants", body)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, places)
    assert live_lab.everything() == before


@pytest.mark.clause("TS-6b")
def test_a_wait_that_is_answered_already_is_never_seen_outstanding(host: Host, live_lab: Laboratory) -> None:
    """Found by the lives in any order: a notification flashed up, and two revisions went by for nothing."""
    task_id, fence = host.running()
    grant(host)
    before = live_lab.stored(task_id).revision

    host.ask(task_id, "wait", {"fence": fence, "waits": [SIGN_IN]})

    assert live_lab.stored(task_id).revision == before
    assert [entry["transition"] for entry in live_lab.journal(task_id)][-1] == "suspend"
