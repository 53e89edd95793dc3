"""The journal by the API: what happened to one's own task, for developers, and for nobody else."""

import json

import pytest

from tests.support.gateway import Gateway
from tests.support.laboratory import ALICE, BOB, Laboratory
from tests.support.reply import Reply
from turnkeeper.asc.status import Profile
from turnkeeper.service.journal import SHOWN_FROM, shown

UNKNOWN = "0" * 32
DEVELOPER = "[staff developers]"
FIELDS = {"n", "at", "actor", "transition", "from", "to", "code", "name", "turn", "attempt", "fence"}


def asked(
    api: Gateway, task_id: str, query: str = "", *, groups: str = DEVELOPER, person: str = ALICE
) -> Reply:
    request = api.event("GET", f"/v1/tasks/{task_id}/journal", person=person, query=query)
    request["requestContext"]["authorizer"]["jwt"]["claims"]["cognito:groups"] = groups
    return api.send(request)


@pytest.fixture
def lived(developers: None, live_lab: Laboratory) -> str:  # noqa: ARG001 - who may read it
    """A task with a turn behind it and an input before it."""
    task_id = live_lab.create("a secret").task.id
    live_lab.work()
    live_lab.send(task_id, "another secret")
    return task_id


def test_each_transition_is_told_in_order_and_without_a_word_that_was_said(
    api: Gateway, lived: str, live_lab: Laboratory
) -> None:
    reply = asked(api, lived)
    entries = reply.json["entries"]

    assert (reply.status, reply.json["more"]) == (200, False)
    assert [one["n"] for one in entries] == list(range(1, len(entries) + 1))
    assert [one["transition"] for one in entries] == [one["transition"] for one in live_lab.journal(lived)]
    assert all(one.keys() == FIELDS for one in entries)
    assert entries[0] == {
        "n": 1,
        "at": live_lab.journal(lived)[0]["at"],
        "actor": "responsible_user",
        "transition": "create",
        "from": None,
        "to": "processing",
        "code": 1000,
        "name": "ACCEPTED",
        "turn": None,
        "attempt": None,
        "fence": None,
    }
    (begun,) = [one for one in entries if one["transition"] == "start_turn"]
    assert (begun["turn"], begun["attempt"], begun["fence"], begun["name"]) == (1, 1, 1, "RUNNING")
    assert "secret" not in reply.body


def test_it_is_read_page_by_page_and_then_followed(api: Gateway, lived: str, live_lab: Laboratory) -> None:
    whole = asked(api, lived).json
    paged, after = [], ""
    while True:
        page = asked(api, lived, f"limit=2{after}").json
        assert len(page["entries"]) <= 2
        paged += page["entries"]
        after = f"&after={page['next']}"
        if not page["more"]:
            break
    nothing_new = asked(api, lived, after.removeprefix("&")).json
    live_lab.send(lived, "more")
    new = asked(api, lived, after.removeprefix("&")).json

    assert paged == whole["entries"]
    assert (nothing_new["entries"], nothing_new["next"]) == ([], whole["next"])
    assert [one["transition"] for one in new["entries"]] == ["accept"]


def test_to_whoever_may_not_read_it_there_is_none(api: Gateway, lived: str) -> None:
    answers = [
        asked(api, lived, person=BOB),
        asked(api, UNKNOWN),
        asked(api, "no id"),
        asked(api, lived, groups="[staff]"),
        asked(api, UNKNOWN, groups="[staff]"),
    ]

    assert asked(api, lived).status == 200
    assert {(one.status, one.body) for one in answers} == {(404, answers[0].body)}


def test_where_nobody_develops_nobody_reads_it(api: Gateway, live_lab: Laboratory) -> None:
    task_id = live_lab.create("hi").task.id

    assert asked(api, task_id).status == 404
    assert asked(api, task_id, groups="true").status == 404


@pytest.mark.parametrize(
    "query",
    [
        "after=nonsense",
        "after=Wy0xXQ",  # [-1]
        "after=W3RydWVd",  # [true]
        "after=WyIxIl0",  # ["1"]
        "after=WzBd0",
        "after=Wzk5OTld",  # [9999], beyond the last
        "after=",
        "limit=0",
        "limit=1001",
        "limit=x",
        "unknown=1",
    ],
)
def test_a_bad_query_is_refused_by_its_name(api: Gateway, lived: str, query: str) -> None:
    reply = asked(api, lived, query)

    assert reply.status == 400
    assert query.partition("=")[0] in json.dumps(reply.json["errors"])


def test_everything_in_an_entry_is_told_to_somebody_or_withheld_by_name(
    lived: str, live_lab: Laboratory
) -> None:
    written = {name for entry in live_lab.journal(lived) for name in entry} - {"pk", "sk"}

    assert written <= SHOWN_FROM.keys()
    new = {**live_lab.journal(lived)[0], "a newer name": "a secret"}
    assert "a newer name" not in shown(new, Profile.AUDIT)
    assert shown(new, Profile.PUBLIC).keys() == {"name"}
