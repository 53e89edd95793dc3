"""Agents: what is not there, or is no manifest, is refused with where (AG-1)."""

from typing import Any

import pytest

from tests.conformance.client import Json, answered, said
from tests.conformance.host import KIND, Host, manifest, new_name
from tests.conformance.person import Person


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("first", [None, said("hello")], ids=["alone", "with an input"])
def test_a_task_of_an_unknown_agent_is_refused(owner: Person, first: Json | None) -> None:
    sent = {"agent": new_name()} if first is None else {"agent": new_name(), "input": first}

    refused = owner.ask("POST", "tasks", sent)

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == ["agent"]


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("sent", [{}, {"agent": None}, {"agent": 7}, {"agent": ["echo"]}], ids=str)
def test_a_task_of_no_agent_is_refused(owner: Person, sent: Json) -> None:
    refused = owner.ask("POST", "tasks", sent)

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == ["agent"]


@pytest.mark.clause("AG-1")
def test_a_first_input_that_is_wrong_is_refused_with_where_and_makes_no_task(
    owner: Person, host: Host
) -> None:
    agent = host.agent()

    refused = owner.ask("POST", "tasks", {"agent": agent, "input": {"message": [{"text": "a"}]}})

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == ["input.message[0].mimeType"]
    assert answered(owner.ask("GET", f"tasks?agent={agent}&limit=100"), 200)["tasks"] == []


@pytest.mark.clause("AG-1")
def test_a_manifest_is_the_agents_from_then_on_and_its_host_reads_it_back(host: Host) -> None:
    name = new_name()
    sent = manifest(name, limits={"max_turns": 3, "max_age": "2h"}, lifespan="30m")

    registered = answered(host.register(name, sent), 200)

    assert registered["manifest"] == sent
    assert answered(host.ask("GET", f"host/agents/{name}"), 200) == registered


@pytest.mark.clause("AG-1")
def test_a_manifest_in_yaml_is_the_same_manifest(host: Host) -> None:
    name = new_name()
    yaml = f"kind: {KIND}\nname: {name}\ndescription: In YAML.\nlimits: {{max_turns: 3}}\n"

    registered = host.ask("PUT", f"host/agents/{name}", yaml, headers={"content-type": "application/yaml"})

    assert answered(registered, 200)["manifest"] == {
        "kind": KIND,
        "name": name,
        "description": "In YAML.",
        "limits": {"max_turns": 3},
    }


@pytest.mark.clause("AG-1")
def test_a_task_keeps_the_terms_it_began_with(owner: Person, host: Host) -> None:
    name = host.agent(limits={"max_turns": 1})
    task = owner.create(name, "first")

    answered(host.register(name, manifest(name, limits={"max_turns": 9})), 200)
    host.take_turn(task, "done")
    owner.tell(task, "second")

    assert host.post(task, "turns").status_code == 409
    assert owner.phase(task) == ("terminal", "errored")


WRONG: list[tuple[str, Any, str]] = [
    ("kind", "commonagents.info/v9/agent", "kind"),
    ("kind", None, "kind"),
    ("description", 7, "description"),
    ("limits", {"max_turns": 0}, "limits.max_turns"),
    ("limits", {"max_turns": "many"}, "limits.max_turns"),
    ("limits", {"max_age": "a while"}, "limits.max_age"),
    ("limits", {"max_weight": 1}, "limits.max_weight"),
    ("turnkeeper", {"runs": "somewhere"}, "turnkeeper.runs"),
    ("turnkeeper", {"runs": "external", "lifespan": "1 week"}, "turnkeeper.lifespan"),
    ("turnkeeper", {"runs": "external", "attempts": 0}, "turnkeeper.attempts"),
    ("mount", ["task", "task"], "mount"),
    ("mount", ["moon"], "mount"),
    ("parameters", {"type": "text", "properties": {}}, "parameters.type"),
    (
        "parameters",
        {"type": "object", "properties": {"size": {"type": "colour"}}},
        "parameters.properties.size.type",
    ),
    ("guardrails", {"before": [{"deny_message": "No."}]}, "guardrails.before[0]"),
    ("guardrails", {"meanwhile": []}, "guardrails.meanwhile"),
    ("colour", "red", "colour"),
]


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize(("field", "value", "at"), WRONG, ids=str)
def test_a_manifest_that_is_wrong_is_refused_with_where_and_makes_no_agent(
    owner: Person, host: Host, field: str, value: Any, at: str
) -> None:
    name = new_name()

    refused = host.register(name, {**manifest(name), field: value})

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [at]
    assert owner.ask("POST", "tasks", {"agent": name}).status_code == 422


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize("field", ["kind", "name", "description"])
def test_a_manifest_that_lacks_something_is_refused(host: Host, field: str) -> None:
    name = new_name()
    sent = {key: value for key, value in manifest(name).items() if key != field}

    refused = host.register(name, sent)

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [field]


@pytest.mark.clause("AG-1")
def test_a_manifest_registers_the_agent_that_it_names(host: Host) -> None:
    refused = host.register(new_name(), manifest(new_name()))

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == ["name"]
