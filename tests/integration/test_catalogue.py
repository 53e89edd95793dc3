"""What people can start: every host's agents and the deployment's, with all it takes and nothing of who runs them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.counting import Count
from tests.support.faults import LOST, THROTTLED, WRITE, Fault, faults_of
from tests.support.gateway import Gateway
from tests.support.hosting import ACME, AGENT, FUNCTION, Hosts, manifest
from tests.support.laboratory import Laboratory
from turnkeeper.agents import builtin
from turnkeeper.domain.errors import StoreIsUnavailable, TaskNotFound
from turnkeeper.domain.manifest import parse
from turnkeeper.domain.task import DEPLOYMENT
from turnkeeper.service import catalogue, host_agents
from turnkeeper.store import agents
from turnkeeper.store.patience import Patience
from turnkeeper.store.wire import item_to_wire

SHIPPED = sorted(builtin.AGENTS)
DESK = {
    "kind": "commonagents.info/v1/agent",
    "name": "travel_desk",
    "description": "Books trains é.",
    "prompt": {"system": "SECRET prompt"},
    "model": "SECRET-model",
    "limits": {"max_turns": 5, "max_age": "12h", "max_prompt_tokens": 100, "max_tool_calls": 0},
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "title": "Where to"},
            "price": {"type": "number", "default": 0},
            "ticket": {"type": "file"},
            "message": {"default": [{"mimeType": "text/plain", "text": "Book it."}]},
        },
    },
    "guardrails": {"before": [{"assert": "input.price < 4711.0", "deny_message": "SECRET rule"}]},
    "exposes": {"town": "context.input[0].to", "cost": None},
    "mount": ["workspace", "task"],
    "turnkeeper": {
        "runs": "lambda",
        "function": FUNCTION,
        "lifespan": "90m",
        "delegates_from": ["whoever"],
    },
}


def document(name: str) -> str:
    return json.dumps({**manifest(name), "turnkeeper": {"runs": "external"}})


def register(lab: Laboratory, *names: str) -> None:
    for name in names:
        agents.keep(lab.runtime.table, parse(document(name), owner=ACME.principal))


def listed(lab: Laboratory, limit: int = 100) -> list[str]:
    """Every name there is, page by page."""
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = catalogue.list_agents(lab.runtime, limit=limit, cursor=cursor)
        assert len(page.manifests) <= limit
        found += [one.name for one in page.manifests]
        cursor = page.next
        if cursor is None:
            return found


def forget_list(lab: Laboratory, name: str) -> None:
    """Have the table be as a version before there was a list left it."""
    key = agents.current_key(name)
    item = {
        field: value
        for field, value in lab.everything()[key["pk"], key["sk"]].items()
        if field != agents.LISTED
    }
    lab.dynamodb.put_item(TableName=lab.table, Item=item_to_wire(item))
    lab.dynamodb.delete_item(TableName=lab.table, Key=item_to_wire(agents.listed_key(name)))


def test_what_people_see_of_an_agent_is_what_it_takes_to_start_it(hosts: Hosts, api: Gateway) -> None:
    assert hosts.acme.send("PUT", "agents/travel_desk", DESK).status == 200

    reply = api.get("/v1/agents/travel_desk")

    assert reply.status == 200
    assert reply.json == {
        "name": "travel_desk",
        "description": "Books trains é.",
        "parameters": {
            "type": "object",
            "properties": {
                "to": {"type": "string", "title": "Where to"},
                "price": {"type": "number", "default": 0},
                "ticket": {"type": "string", "format": "file"},
            },
            "required": ["ticket", "to"],
            "additionalProperties": False,
        },
        "default_message": [{"mimeType": "text/plain", "text": "Book it."}],
        "files": ["task", "workspace"],
        "exposes": ["cost", "town"],
        "lifespan_seconds": 5400,
        "limits": {"max_age_seconds": 43200, "turns": 5, "prompt_tokens": 100, "tool_calls": 0},
    }


def test_nothing_of_its_host_or_its_rules_is_told(hosts: Hosts, api: Gateway) -> None:
    hosts.acme.send("PUT", "agents/travel_desk", DESK)

    told = api.get("/v1/agents/travel_desk").body + api.get("/v1/agents").body

    for secret in (
        "SECRET",
        FUNCTION,
        ACME.role_id,
        ACME.account,
        "4711",
        "whoever",
        "context",
        "lambda",
        "guardrails",
    ):
        assert secret not in told


def test_an_agent_that_says_little_is_shown_with_what_holds_all_the_same(api: Gateway) -> None:
    reply = api.get("/v1/agents/echo")

    assert reply.json == {
        "name": "echo",
        "description": "Answers with an excerpt of what it was told.",
        "parameters": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
        "default_message": None,
        "files": ["task"],
        "exposes": [],
        "lifespan_seconds": 604800,
        "limits": {"max_age_seconds": 7776000},
    }
    assert api.get("/v1/agents/mayfly").json["lifespan_seconds"] == 5


def test_what_comes_with_the_deployment_is_there_before_its_first_use_and_looking_writes_nothing(
    api: Gateway, live_lab: Laboratory
) -> None:
    reply = api.get("/v1/agents")
    api.get("/v1/agents/echo")

    assert [one["name"] for one in reply.json["agents"]] == SHIPPED
    assert reply.json["agents"][1] == {
        "name": "echo",
        "description": "Answers with an excerpt of what it was told.",
    }
    assert reply.json["next"] is None
    assert live_lab.everything() == {}


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 8, 100])
def test_pages_have_every_agent_once_and_by_name_whoever_registered_it(lab: Laboratory, limit: int) -> None:
    ours = ["a", "concierge_2", "e", "echoes", "zz", "0"]
    register(lab, *ours)
    lab.create(agent="echo")

    assert listed(lab, limit) == sorted([*ours, *SHIPPED])


def test_an_agent_of_either_host_is_there_for_everybody_once(hosts: Hosts, api: Gateway) -> None:
    for _ in range(2):
        hosts.acme.register("zeta")
        hosts.rival.register("alpha")

    for person in ("alice-sub", "bob-sub"):
        names = [one["name"] for one in api.get("/v1/agents", person=person).json["agents"]]
        assert names == sorted([*SHIPPED, "alpha", "zeta"])


def test_a_page_goes_on_where_the_last_one_ended(hosts: Hosts, api: Gateway) -> None:
    hosts.acme.register("delta")
    first = api.get("/v1/agents", query={"limit": "2"}).json

    second = api.get("/v1/agents", query={"limit": "2", "cursor": first["next"]}).json

    assert [one["name"] for one in first["agents"]] == ["concierge", "delta"]
    assert [one["name"] for one in second["agents"]] == ["echo", "mayfly"]


@pytest.mark.parametrize("query", [{"cursor": "?"}, {"limit": "0"}, {"limit": "101"}, {"name": "echo"}])
def test_a_query_that_is_none_is_refused_by_its_place(api: Gateway, query: dict[str, str]) -> None:
    reply = api.get("/v1/agents", query=query)

    assert reply.status == 400
    assert [place["at"] for place in reply.json["errors"]] == [*query]


def test_no_such_agent_is_as_unknown_as_any_task(api: Gateway) -> None:
    replies = [
        *(api.get(f"/v1/agents/{name}") for name in ("nobody", "No!", "%00", "x" * 65, "..%2Ftasks")),
        api.get("/v1/tasks/" + "0" * 32 + "/messages"),
    ]

    assert {reply.status for reply in replies} == {404}
    assert len({reply.body for reply in replies}) == 1


@pytest.mark.parametrize("path", ["/v1/agents", "/v1/agents/echo"])
def test_who_is_no_human_is_told_nothing(api: Gateway, path: str) -> None:
    assert api.get(path, person=None).status == 403


def test_an_agent_is_sent_again_only_when_what_is_shown_of_it_has_changed(hosts: Hosts, api: Gateway) -> None:
    hosts.acme.register()
    first = api.get(f"/v1/agents/{AGENT}")
    known = {"If-None-Match": first.headers["ETag"]}

    hosts.acme.register(attempts=2)
    unchanged = api.get(f"/v1/agents/{AGENT}", headers=known)
    hosts.acme.register(lifespan="1h")
    changed = api.get(f"/v1/agents/{AGENT}", headers=known)

    assert (unchanged.status, unchanged.body, unchanged.headers["ETag"]) == (304, "", first.headers["ETag"])
    assert (changed.status, changed.json["lifespan_seconds"]) == (200, 3600)
    assert changed.headers["ETag"] != first.headers["ETag"]
    assert changed.headers["Cache-Control"] == "private, no-cache"


class TestFromBeforeThereWasAList:
    """An agent that an earlier version registered: known by name at once, in the list from its next use on."""

    def test_it_is_shown_by_name_and_can_be_started(self, lab: Laboratory) -> None:
        register(lab, AGENT)
        forget_list(lab, AGENT)

        assert AGENT not in listed(lab)
        assert catalogue.read(lab.runtime, AGENT).name == AGENT

    def test_starting_a_task_with_it_lists_it_and_leaves_its_manifest_alone(self, lab: Laboratory) -> None:
        register(lab, AGENT)
        before = lab.runtime.table.get(agents.current_key(AGENT))
        forget_list(lab, AGENT)

        lab.create(agent=AGENT)

        assert listed(lab) == sorted([*SHIPPED, AGENT])
        assert lab.runtime.table.get(agents.current_key(AGENT)) == before

    def test_registering_it_again_lists_it(self, lab: Laboratory) -> None:
        register(lab, AGENT)
        forget_list(lab, AGENT)

        register(lab, AGENT)

        assert AGENT in listed(lab)

    def test_being_listed_undoes_no_change_that_came_meanwhile(self, lab: Laboratory) -> None:
        register(lab, AGENT)
        forget_list(lab, AGENT)
        found = catalogue.look_up(lab.runtime, AGENT)
        changed = parse(document(AGENT).replace("Helps.", "Helps more."), owner=ACME.principal)
        agents.keep(lab.runtime.table, changed)

        catalogue.keep(lab.runtime, found)

        assert catalogue.read(lab.runtime, AGENT).description == "Helps more."

    @pytest.mark.parametrize("fault", [THROTTLED, LOST], ids=str)
    def test_where_it_cannot_be_listed_no_task_is_stored(self, lab: Laboratory, fault: Fault) -> None:
        register(lab, AGENT)
        forget_list(lab, AGENT)
        impatient = replace(lab.runtime.table, patience=lambda: Patience(seconds=0.1))
        lab.runtime = replace(lab.runtime, table=impatient)

        with faults_of(lab.dynamodb) as faults:
            faults.inject(fault, WRITE, times=None)
            with pytest.raises(StoreIsUnavailable):
                lab.create(agent=AGENT)

        assert not [pk for pk, _ in lab.everything() if pk.startswith("TASK#")]


def test_what_a_deployment_ships_no_more_cannot_be_started_any_more(lab: Laboratory) -> None:
    """Its tasks go on by the version that they pin; new ones would find nobody to run them."""
    shipped = json.dumps({"name": "gone", "description": "Was here.", "turnkeeper": {"runs": "function"}})
    agents.keep(lab.runtime.table, parse(shipped, owner=DEPLOYMENT))

    assert listed(lab) == SHIPPED
    with pytest.raises(TaskNotFound):
        catalogue.read(lab.runtime, "gone")
    assert catalogue.look_up(lab.runtime, "gone").manifest is None


def test_a_name_that_is_anothers_is_not_listed_by_who_may_not_have_it(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    with pytest.raises(TaskNotFound):
        host_agents.register(
            live_lab.runtime, principal=hosts.rival.signer.principal, name="echo", document=document("echo")
        )

    assert live_lab.everything() == {}


def test_looking_costs_one_read_and_a_page_two(counting: Laboratory, count: Count) -> None:
    register(counting, *(f"agent-{number}" for number in range(5)))

    with count() as one:
        catalogue.read(counting.runtime, "agent-1")
    with count() as page:
        catalogue.list_agents(counting.runtime, limit=3, cursor=None)

    assert one.operations == ["get_item"]
    assert page.operations == ["query", "batch_get_item"]


def test_the_largest_page_there_can_be_leaves_the_function(hosts: Hosts, api: Gateway) -> None:
    said: dict[str, Any] = {"description": "😀" * 4_096}
    for number in range(100):
        body = {**manifest(f"a{number:03}"), **said}
        assert hosts.acme.send("PUT", f"agents/a{number:03}", body).status == 200

    reply = api.get("/v1/agents", query={"limit": "100"})

    assert (reply.status, len(reply.json["agents"])) == (200, 100)
