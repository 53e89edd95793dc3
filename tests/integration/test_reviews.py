"""Reviews: what waits for a person's decision is theirs to decide, once, and shows them nothing of the conversation."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.gateway import Gateway
from tests.support.hosting import Host
from tests.support.laboratory import ALICE, BOB, Laboratory
from tests.support.reply import Reply
from turnkeeper.domain.errors import ReviewIsOver
from turnkeeper.domain.waits import Verdict
from turnkeeper.service import reviews

TOLD = "the secret of the conversation"
UNKNOWN = "0" * 48


def review(wait: str = "approval", reviewer: str = BOB, **more: str) -> dict[str, str]:
    return {"id": wait, "kind": "review", "reviewer": reviewer, "subject": f"Decide on {wait}", **more}


def asking(host: Host, *waits: dict[str, str]) -> tuple[str, int]:
    task_id, fence = host.running(TOLD)
    reply = host.ask(task_id, "wait", {"fence": fence, "waits": list(waits or (review(),)), "memo": TOLD})
    assert reply.status == 200, reply.body
    host.wake_ups()
    return task_id, fence


def mine(api: Gateway, person: str = BOB, **query: str) -> list[dict[str, Any]]:
    reply = api.get("/v1/reviews", person=person, query=query)
    assert reply.status == 200, reply.body
    found: list[dict[str, Any]] = reply.json["reviews"]
    return found


def decide(api: Gateway, review_id: str, decision: str = "approve", person: str = BOB, **more: str) -> Reply:
    return api.post(f"/v1/reviews/{review_id}", {"decision": decision, **more}, person=person)


@pytest.mark.clause("TN-2b")
def test_a_reviewer_gets_what_is_to_be_decided_and_nothing_of_the_conversation(host: Host) -> None:
    task_id, _ = asking(host)

    reply = host.api.get("/v1/reviews", person=BOB)

    (found,) = reply.json["reviews"]
    assert {name: found[name] for name in ("agent", "subject")} == {
        "agent": "helper",
        "subject": "Decide on approval",
    }
    assert found.keys() == {"id", "agent", "subject", "since", "deadline"}
    assert TOLD not in reply.body
    assert ALICE not in reply.body
    assert host.api.get(f"/v1/tasks/{task_id}", person=BOB).status == 404
    assert host.api.get("/v1/notifications", person=BOB).json["notifications"] == []
    assert mine(host.api, ALICE) == []
    assert host.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"] == []


@pytest.mark.parametrize(("decision", "verdict"), [("approve", "done"), ("deny", "denied")])
def test_a_decision_resumes_the_turn_with_its_comment(host: Host, decision: str, verdict: str) -> None:
    task_id, _ = asking(host)
    (found,) = mine(host.api)

    reply = decide(host.api, found["id"], decision, comment="Because. é")
    woken = host.wake_ups()
    turn = host.start(task_id)

    assert (reply.status, reply.json["decision"], reply.json["comment"]) == (200, decision, "Because. é")
    assert reply.json["decided_at"] >= found["since"]
    assert [wake["task"] for wake in woken] == [task_id]
    (resolution,) = turn["resolutions"]
    assert {name: resolution[name] for name in ("id", "kind", "verdict", "comment")} == {
        "id": "approval",
        "kind": "review",
        "verdict": verdict,
        "comment": "Because. é",
    }
    assert turn["memo"] == TOLD
    assert mine(host.api) == []


def test_a_review_is_decided_once(host: Host, live_lab: Laboratory) -> None:
    asking(host)
    (found,) = mine(host.api)
    first = decide(host.api, found["id"], comment="Yes")
    before = live_lab.everything()

    again = decide(host.api, found["id"], comment="Yes")
    others = [
        decide(host.api, found["id"], "deny", comment="Yes"),
        decide(host.api, found["id"], comment="No"),
        decide(host.api, found["id"]),
    ]

    assert (again.status, again.json) == (200, first.json)
    assert [(reply.status, reply.json["agent_status"]["code"]) for reply in others] == [(409, 4001)] * 3
    assert live_lab.everything() == before


def test_whoever_decides_at_the_same_moment_one_decision_stands(host: Host, live_lab: Laboratory) -> None:
    task_id, _ = asking(host)
    (found,) = mine(host.api)

    def stands(verdict: Verdict) -> bool:
        # Not through the functions: their clients are not kept from calling moto at the same moment.
        try:
            reviews.decide(live_lab.runtime, caller=BOB, review_id=found["id"], verdict=verdict, comment=None)
        except ReviewIsOver:
            return False
        return True

    words = [Verdict.DONE, Verdict.DENIED] * 8
    with ThreadPoolExecutor(8) as pool:
        stood = [*pool.map(stands, words)]

    decided = {word for word, it_stood in zip(words, stood, strict=True) if it_stood}
    assert len(decided) == 1
    assert stood == [word in decided for word in words]
    assert [entry["transition"] for entry in live_lab.journal(task_id)].count("resolve") == 1


@pytest.mark.clause("SEC-2")
@pytest.mark.parametrize("state", ["open", "decided"])
def test_a_review_of_somebody_elses_is_an_unknown_one(host: Host, live_lab: Laboratory, state: str) -> None:
    asking(host)
    (found,) = mine(host.api)
    if state == "decided":
        decide(host.api, found["id"])
    before = live_lab.everything()
    ids = [found["id"], UNKNOWN, found["id"].upper(), found["id"][:47], "nonsense", "%00", found["id"][:32]]

    replies = [decide(host.api, each, person=ALICE) for each in ids]

    assert {(reply.status, reply.body) for reply in replies} == {(404, replies[1].body)}
    assert len({tuple(reply.headers.items()) for reply in replies}) == 1
    assert replies[1].body == decide(host.api, UNKNOWN, person=BOB).body
    assert live_lab.everything() == before


@pytest.mark.parametrize("how", ["complete", "error", "restrict", "interrupt"])
def test_what_ends_the_turn_takes_all_its_reviews_away(host: Host, live_lab: Laboratory, how: str) -> None:
    task_id, _ = asking(
        host, review("one"), review("two", reviewer="carol-sub"), review("three", reviewer=ALICE)
    )
    ids = [mine(host.api, person)[0]["id"] for person in (BOB, "carol-sub", ALICE)]

    assert host.ask(task_id, how).status == 200
    before = live_lab.everything()
    late = [
        decide(host.api, each, person=person)
        for each, person in zip(ids, (BOB, "carol-sub", ALICE), strict=True)
    ]

    assert [mine(host.api, person) for person in (BOB, "carol-sub", ALICE)] == [[], [], []]
    assert host.api.get("/v1/notifications").json["notifications"] == []
    assert {(reply.status, reply.json["agent_status"]["code"]) for reply in late} == {(409, 4001)}
    assert live_lab.everything() == before
    assert not [key for key in before if key[0].startswith("PERSON#")]


@pytest.mark.clause("TS-5c")
def test_a_decision_made_before_the_end_is_still_told_after_it(host: Host, live_lab: Laboratory) -> None:
    task_id, _ = asking(host)
    (found,) = mine(host.api)
    first = decide(host.api, found["id"])
    host.ask(task_id, "complete", {"discard_pending": True})
    before = live_lab.everything()

    assert decide(host.api, found["id"]).json == first.json
    assert decide(host.api, found["id"], "deny").status == 409
    assert live_lab.everything() == before


def test_a_review_that_took_too_long_is_over(host: Host) -> None:
    task_id, _ = asking(host, review(within="1h"))
    (found,) = mine(host.api)

    host.sweep_after(hours=1)

    assert decide(host.api, found["id"]).status == 409
    assert mine(host.api) == []
    assert [one["verdict"] for one in host.start(task_id)["resolutions"]] == ["timed_out"]


@pytest.mark.clause("TN-2a")
def test_a_review_by_the_responsible_user_is_their_notification(host: Host) -> None:
    task_id, _ = asking(host, review(reviewer=ALICE))

    (call,) = host.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"]
    (found,) = mine(host.api, ALICE)

    assert call == {"kind": "review_required", "since": found["since"]}
    decide(host.api, found["id"], person=ALICE)
    assert host.api.get(f"/v1/tasks/{task_id}").json["status"]["notifications"] == []


def test_reviews_come_the_longest_first_page_by_page(host: Host) -> None:
    for number in range(5):
        asking(host, review(f"r{number}a"), review(f"r{number}b"))
    everything = mine(host.api)
    pages, cursor = [], None
    while True:
        query = {"limit": "3", **({"cursor": cursor} if cursor else {})}
        page = host.api.get("/v1/reviews", person=BOB, query=query).json
        pages.append(page["reviews"])
        if (cursor := page["next"]) is None:
            break

    assert len(everything) == 10
    assert [found for page in pages for found in page] == everything
    assert [len(page) for page in pages] == [3, 3, 3, 1]
    assert [found["since"] for found in everything] == sorted(found["since"] for found in everything)


def test_a_page_goes_on_where_it_stopped_though_its_last_review_was_decided(host: Host) -> None:
    for number in range(4):
        asking(host, review(f"r{number}"))
    first = host.api.get("/v1/reviews", person=BOB, query={"limit": "2"}).json
    for found in first["reviews"]:
        decide(host.api, found["id"])

    rest = host.api.get("/v1/reviews", person=BOB, query={"cursor": first["next"]}).json

    assert [found["subject"] for found in rest["reviews"]] == ["Decide on r2", "Decide on r3"]


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["decision"]),
        ({"decision": "maybe"}, ["decision"]),
        ({"decision": True}, ["decision"]),
        ({"decision": "deny", "comment": ""}, ["comment"]),
        ({"decision": "deny", "comment": "é" * 1025}, ["comment"]),
        ({"decision": "deny", "comment": 7}, ["comment"]),
        ({"decision": "deny", "by": "carol"}, ["by"]),
    ],
)
def test_a_decision_that_is_none_is_refused_by_its_places(
    host: Host, live_lab: Laboratory, body: dict[str, Any], places: list[str]
) -> None:
    asking(host)
    (found,) = mine(host.api)
    before = live_lab.everything()

    reply = host.api.post(f"/v1/reviews/{found['id']}", body, person=BOB)

    assert (reply.status, [place["at"] for place in reply.json["errors"]]) == (422, places)
    assert live_lab.everything() == before


@pytest.mark.parametrize("path", ["/v1/reviews", "/v1/notifications"])
@pytest.mark.parametrize(
    "query", ["limit=0", "limit=101", "limit=x", "cursor=nonsense", "cursor=W10", "a=b", "limit=1&limit=2"]
)
def test_a_query_that_is_wrong_is_malformed(host: Host, path: str, query: str) -> None:
    assert host.api.get(path, query=query).status == 400


@pytest.mark.parametrize("path", ["/v1/reviews", "/v1/notifications"])
def test_a_machine_has_neither_reviews_nor_notifications(host: Host, path: str) -> None:
    asked = host.api.event("GET", path)
    del asked["requestContext"]["authorizer"]["jwt"]["claims"]["username"]

    assert host.api.send(asked).status == 403
