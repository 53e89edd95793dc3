"""Agents of hosts: a name is its first registrant's, a version never changes, a task keeps its own."""

import base64
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.faults import LATE, LOST, THROTTLED, WRITE, Fault, faults_of
from tests.support.hosting import ACME, AGENT, FUNCTION, REMADE, Host, Hosts, manifest
from tests.support.laboratory import Laboratory
from tests.support.reply import Reply
from turnkeeper.domain.errors import CommitUnknown, StoreIsUnavailable
from turnkeeper.domain.task import NOTHING_USED, Runs, Usage
from turnkeeper.service import host_agents
from turnkeeper.store.agents import current_key
from turnkeeper.store.parts import Attributes
from turnkeeper.store.patience import Patience
from turnkeeper.store.wire import item_to_wire


def versions(lab: Laboratory) -> dict[str, Attributes]:
    """Every version of the agent that there is, by its hash."""
    found = {sk: item for (pk, sk), item in lab.everything().items() if pk == f"AGENT#{AGENT}"}
    return {sk.removeprefix("VERSION#"): item for sk, item in found.items() if sk.startswith("VERSION#")}


def places(reply: Reply) -> list[str]:
    assert reply.status == 422
    return [place["at"] for place in reply.json["errors"]]


def test_an_agent_that_was_registered_is_there_for_its_host_and_for_people(hosts: Hosts) -> None:
    sent = {**manifest(), "prompt": {"system": "Be kind é."}, "model": [1.5, None]}

    reply = hosts.acme.send("PUT", f"agents/{AGENT}", sent)

    assert reply.status == 200
    assert reply.json["name"] == AGENT
    assert reply.json["manifest"] == sent
    assert reply.headers["ETag"] == f'"{reply.json["version"]}"'
    assert hosts.acme.send("GET", f"agents/{AGENT}").json == reply.json
    assert hosts.acme.api.post("/v1/tasks", {"agent": AGENT}).status == 201


def test_saying_the_same_again_in_another_order_changes_nothing(hosts: Hosts, live_lab: Laboratory) -> None:
    first = hosts.acme.register()
    before = live_lab.everything()

    again = hosts.acme.send(
        "PUT", f"agents/{AGENT}", json.dumps(dict(reversed(manifest().items())), indent=1)
    )

    assert again.json == first.json
    assert live_lab.everything() == before


def test_a_changed_manifest_is_a_new_version_and_no_version_ever_changes(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    first = hosts.acme.register().json["version"]
    one = versions(live_lab)

    second = hosts.acme.register(lifespan="1h").json["version"]
    both = versions(live_lab)
    back = hosts.acme.register().json["version"]

    assert first != second
    assert one.keys() == {first}
    assert both.keys() == {first, second}
    assert both[first] == one[first]
    assert back == first
    assert versions(live_lab) == both
    assert hosts.acme.send("GET", f"agents/{AGENT}").json["version"] == first


def test_a_task_keeps_the_version_and_the_terms_it_began_with(hosts: Hosts, live_lab: Laboratory) -> None:
    first = hosts.acme.register(lifespan="1h", repeatable=True, limits={"max_turns": 3}).json["version"]
    task_id = hosts.acme.task("hi")
    began = live_lab.stored(task_id)

    second = hosts.acme.register(lifespan="2h", limits={"max_turns": 1, "max_age": "1h"}).json["version"]
    fence = hosts.acme.start(task_id)["fence"]
    hosts.acme.finish(task_id, fence, "done")
    after = live_lab.stored(task_id)
    new = live_lab.stored(hosts.acme.task("hi"))

    assert began.agent_version == after.agent_version == first
    assert began.terms == after.terms
    assert (after.terms.lifespan, after.terms.max_turns) == (timedelta(hours=1), 3)
    assert new.agent_version == second
    assert (new.terms.lifespan, new.terms.max_turns) == (timedelta(hours=2), 1)


def test_terms_are_taken_as_the_manifest_says_them(hosts: Hosts, live_lab: Laboratory) -> None:
    limits = {"max_turns": 9, "max_llm_turns": 5, "max_prompt_tokens": 1, "max_completion_tokens": 2}
    hosts.acme.register(
        runs="lambda",
        function=FUNCTION,
        turn_limit="90m",
        attempts=2,
        backoff=["500ms"],
        limits={**limits, "max_tool_calls": 9, "max_capability_uses": 0},
    )

    terms = live_lab.stored(hosts.acme.task()).terms

    assert (terms.runs, terms.function, terms.owner) == (Runs.LAMBDA, FUNCTION, ACME.principal)
    assert (terms.turn_limit, terms.attempts) == (timedelta(minutes=90), 2)
    assert terms.backoff == (timedelta(milliseconds=500),)
    assert terms.max_turns == 5
    assert terms.usage == Usage(prompt_tokens=1, completion_tokens=2, tool_calls=0)


@pytest.mark.parametrize("ours", [{}, {"turnkeeper": None}, {"turnkeeper": {}}])
def test_a_published_manifest_says_nothing_of_ours_and_its_host_drives_its_turns(
    hosts: Hosts, live_lab: Laboratory, ours: dict[str, Any]
) -> None:
    published = {name: value for name, value in manifest().items() if name != "turnkeeper"}

    reply = hosts.acme.send("PUT", f"agents/{AGENT}", published | ours)

    assert reply.status == 200
    assert live_lab.stored(hosts.acme.task()).terms.runs is Runs.EXTERNAL


def test_null_is_what_was_left_out(hosts: Hosts, live_lab: Laboratory) -> None:
    names = ["max_llm_turns", "max_age", "max_prompt_tokens", "max_completion_tokens", "max_tool_calls"]
    optional = ["function", "lifespan", "attempts", "backoff", "turn_limit"]
    ours: dict[str, Any] = dict.fromkeys(optional)
    hosts.acme.register("plain")
    reply = hosts.acme.register(
        limits={"max_turns": 4, "max_capability_uses": None, **dict.fromkeys(names)},
        **ours,
    )

    plain = live_lab.stored(hosts.acme.task(agent="plain")).terms
    terms = live_lab.stored(hosts.acme.task()).terms

    assert reply.status == 200
    assert (terms.max_turns, terms.usage) == (4, NOTHING_USED)
    assert (terms.lifespan, terms.max_age, terms.turn_limit) == (
        plain.lifespan,
        plain.max_age,
        plain.turn_limit,
    )
    assert (terms.attempts, terms.backoff) == (plain.attempts, plain.backoff)
    assert hosts.acme.send("PUT", f"agents/{AGENT}", {**manifest(), "limits": None}).status == 200


def test_anothers_name_and_a_built_in_one_are_as_unknown_as_any(hosts: Hosts, live_lab: Laboratory) -> None:
    hosts.acme.register()
    hosts.acme.task(agent="echo")
    before = live_lab.everything()

    replies = [
        hosts.rival.register(),
        hosts.rival.send("GET", f"agents/{AGENT}"),
        hosts.rival.register("echo"),
        hosts.rival.register("slow_echo"),
        *(
            hosts.rival.send("GET", f"agents/{name}")
            for name in ("echo", "nobody", "No!", "%00", "é", "x" * 65, "x" * 3000)
        ),
    ]

    assert {reply.status for reply in replies} == {404}
    assert len({reply.body for reply in replies}) == 1
    assert len({json.dumps(dict(reply.headers)) for reply in replies}) == 1
    assert live_lab.everything() == before


def test_sessions_of_one_role_are_one_host_and_a_role_made_again_is_another(hosts: Hosts) -> None:
    acme = hosts.acme
    acme.register(repeatable=True)
    task_id, fence = acme.running()
    elsewhere = as_signer(acme, session="worker-2")
    remade = Host(acme.api, acme.lab, REMADE, acme.queue_url)

    assert elsewhere.send("GET", f"agents/{AGENT}").status == 200
    assert elsewhere.say(task_id, fence, 1, "from elsewhere").status == 200
    assert remade.send("GET", f"agents/{AGENT}").status == 404
    assert remade.register(runs="lambda", function=FUNCTION).status == 404
    assert remade.say(task_id, fence, 2, "mine?").status == 404
    assert elsewhere.finish(task_id, fence).status == 200


def as_signer(host: Host, session: str) -> Host:
    signer = type(host.signer)(host.signer.role, host.signer.role_id, session=session)
    return Host(host.api, host.lab, signer, host.queue_url)


def test_a_name_that_a_later_deployment_ships_stays_its_first_registrants(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    hosts.acme.register(lifespan="1h")
    taken = {**live_lab.everything()[f"AGENT#{AGENT}", "CURRENT"], **current_key("echo")}
    live_lab.dynamodb.put_item(TableName=live_lab.table, Item=item_to_wire(taken))

    task = live_lab.stored(hosts.acme.task("hi", agent="echo"))

    assert task.terms.owner == ACME.principal
    assert task.terms.runs is Runs.EXTERNAL
    assert live_lab.everything()["AGENT#echo", "CURRENT"] == taken


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "another name": (manifest("other"), ["name"]),
    "a bad name": (manifest("No!"), ["name"]),
    "no kind": ({name: value for name, value in manifest().items() if name != "kind"}, ["kind"]),
    "another kind": ({**manifest(), "kind": "a/v1/tool"}, ["kind"]),
    "a long description": ({**manifest(), "description": "d" * 4_097}, ["description"]),
    "a field of nobody's": ({**manifest(), "owner": "me", "tools": []}, ["owner", "tools"]),
    "another word for ours": ({**manifest(), "turnkeeper": "external"}, ["turnkeeper"]),
    "a queue": (manifest(queue="https://sqs/mine"), ["turnkeeper.queue"]),
    "our own function": (manifest(runs="function"), ["turnkeeper.runs"]),
    "nowhere": (manifest(runs="nowhere"), ["turnkeeper.runs"]),
    "everywhere": (manifest(runs=["external"]), ["turnkeeper.runs"]),
    "lambda without a function": (manifest(runs="lambda"), ["turnkeeper"]),
    "external with a function": (manifest(function=FUNCTION), ["turnkeeper"]),
    "an undeclared function": (
        manifest(runs="lambda", function=FUNCTION + "-2"),
        ["turnkeeper.function"],
    ),
    "a function that is none": (manifest(runs="lambda", function=7), ["turnkeeper.function"]),
    "bad durations": (
        manifest(lifespan="a week", turn_limit="1h30m", backoff=["2s", "3651d"], limits={"max_age": "-1s"}),
        ["limits.max_age", "turnkeeper.lifespan", "turnkeeper.backoff[1]", "turnkeeper.turn_limit"],
    ),
    "no time at all": (
        manifest(turn_limit="0s", limits={"max_age": "0ms"}),
        ["limits.max_age", "turnkeeper.turn_limit"],
    ),
    "a duration that is a number": (manifest(lifespan=60), ["turnkeeper.lifespan"]),
    "no pauses": (manifest(backoff=[]), ["turnkeeper.backoff"]),
    "no attempt": (manifest(attempts=0), ["turnkeeper.attempts"]),
    "11 attempts": (manifest(attempts=11), ["turnkeeper.attempts"]),
    "attempts that are a truth": (manifest(attempts=True), ["turnkeeper.attempts"]),
    "a truth that is a text": (manifest(repeatable="yes"), ["turnkeeper.repeatable"]),
    "no turn at all": (manifest(limits={"max_turns": 0}), ["limits.max_turns"]),
    "bad limits": (
        manifest(limits={"max_llm_turns": "5", "max_prompt_tokens": -1, "max_tool_calls": 1.0}),
        ["limits.max_llm_turns", "limits.max_prompt_tokens", "limits.max_tool_calls"],
    ),
    "a limit of nobody's": (manifest(limits={"max_cost": 5}), ["limits.max_cost"]),
    "64 KB": ({**manifest(), "prompt": "p" * 65_536}, ["body"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_manifest_that_is_wrong_is_refused_by_its_places_and_nothing_is_stored(
    hosts: Hosts, live_lab: Laboratory, name: str
) -> None:
    sent, wrong = REFUSED[name]

    reply = hosts.acme.send("PUT", f"agents/{AGENT}", sent)

    assert places(reply) == wrong
    assert live_lab.everything() == {}


@pytest.mark.clause("AG-1")
def test_a_manifest_in_yaml_is_registered_as_its_json_is_and_what_changes_nothing_is_named(
    hosts: Hosts,
) -> None:
    text = """
kind: commonagents.info/v1beta2/agent
name: helper
namespace: support
description: Helps.
prompt: "Say {context.user.id}'s name."
memory: task
mount: none
turnkeeper: {runs: external, lifespan: 2h}
"""
    packed = base64.b64encode(text.encode()).decode()
    request = hosts.acme.api.event(
        "PUT",
        f"/v1/host/agents/{AGENT}",
        signer=hosts.acme.signer,
        body=packed,
        headers={"Content-Type": "application/yaml"},
    )
    request["isBase64Encoded"] = True

    reply = hosts.acme.api.send(request)

    assert reply.status == 200
    assert reply.json["manifest"]["turnkeeper"] == {"runs": "external", "lifespan": "2h"}
    assert reply.json["not_acted_on"] == ["namespace", "memory"]
    assert hosts.acme.send("PUT", f"agents/{AGENT}", reply.json["manifest"]).json == reply.json
    assert hosts.acme.send("GET", f"agents/{AGENT}").json == reply.json


@pytest.mark.parametrize("body", [None, "", "{", "[]", '{"kind":1,"kind":1}'])
def test_a_manifest_that_is_no_json_object_is_malformed(hosts: Hosts, body: str | None) -> None:
    assert hosts.acme.send("PUT", f"agents/{AGENT}", body).status == 400


def test_an_external_host_without_a_queue_of_its_own_is_told_to_ask_for_one(
    hosts: Hosts, live_lab: Laboratory
) -> None:
    remade = Host(hosts.acme.api, live_lab, REMADE, "")

    assert places(remade.register()) == ["turnkeeper.runs"]
    assert live_lab.everything() == {}
    assert remade.register(runs="lambda", function=FUNCTION).status == 200


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize(
    ("fault", "told"),
    [(THROTTLED, StoreIsUnavailable), (LOST, CommitUnknown), (LATE, CommitUnknown)],
    ids=str,
)
def test_whoever_registers_is_told_that_nothing_was_stored_only_where_that_is_certain(
    live_lab: Laboratory, fault: Fault, told: type[Exception]
) -> None:
    impatient = replace(live_lab.runtime.table, patience=lambda: Patience(seconds=0.1))
    runtime = replace(live_lab.runtime, table=impatient, host_functions=frozenset({FUNCTION}))
    document = json.dumps(manifest(runs="lambda", function=FUNCTION))

    with faults_of(live_lab.dynamodb) as faults:
        faults.inject(fault, WRITE, times=None)
        with pytest.raises(told):
            host_agents.register(runtime, principal=ACME.principal, name=AGENT, document=document)

    assert (live_lab.everything() == {}) is (fault is not LOST)
