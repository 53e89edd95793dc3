"""Parameters: what an input carries beside its message, as its agent declares (IN-1a, IO-7, AG-1)."""

import pytest

from tests.conformance.client import Json, answered, said, text_part
from tests.conformance.host import Host, manifest
from tests.conformance.person import Person

PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": ["Bern", "Lyon"]},
        "copies": {"type": "integer", "default": 1},
        "note": {"type": "string"},
    },
    "required": ["city"],
}
WRONG = [
    pytest.param({}, "city", id="one is missing"),
    pytest.param({"city": "Atlantis"}, "city", id="no choice"),
    pytest.param({"city": None}, "city", id="null"),
    pytest.param({"city": "Bern", "copies": "1"}, "copies", id="another type"),
    pytest.param({"city": "Bern", "town": "x"}, "town", id="an unknown one"),
]


@pytest.fixture(scope="module")
def guide(host: Host) -> str:
    """An agent that wants to know a city."""
    return host.declare(parameters=PARAMETERS)


@pytest.fixture
def trip(owner: Person, guide: str) -> str:
    """A task of the guide's that was told nothing yet."""
    return owner.create(guide)


def tell(owner: Person, task: str, **beside: object) -> None:
    """Send an input with *beside*, which must be accepted."""
    answered(owner.ask("POST", f"tasks/{task}/inputs", {**said("go"), **beside}), 202)


@pytest.mark.clause("IN-1a")
@pytest.mark.clause("IO-7")
def test_an_input_carries_what_is_required_what_was_given_and_what_comes_by_default(
    owner: Person, host: Host, trip: str
) -> None:
    tell(owner, trip, city="Bern")
    tell(owner, trip, city="Lyon", copies=3, note="by train")
    host.take_turn(trip, "off we go")

    *inputs, output = owner.messages(trip)

    always = {"type", "message", "received_at", "committed_at"}
    assert [{name: entry[name] for name in set(entry) - always} for entry in inputs] == [
        {"city": "Bern", "copies": 1},
        {"city": "Lyon", "copies": 3, "note": "by train"},
    ]
    assert set(output) == {"type", "message", "committed_at"}


@pytest.mark.clause("IN-1a")
@pytest.mark.clause("IO-7")
def test_the_host_reads_the_same_parameters(owner: Person, host: Host, trip: str) -> None:
    tell(owner, trip, city="Bern")
    host.start(trip)

    (entry,) = answered(host.ask("GET", f"host/tasks/{trip}/messages"), 200)["messages"]

    assert (entry["city"], entry["copies"]) == ("Bern", 1)
    assert owner.messages(trip) == [entry]


@pytest.mark.clause("IN-1a")
@pytest.mark.clause("AG-1")
@pytest.mark.parametrize(("beside", "at"), WRONG)
def test_parameters_that_do_not_match_are_refused_with_where_and_change_nothing(
    owner: Person, trip: str, beside: Json, at: str
) -> None:
    before = owner.sees(trip)

    refused = owner.ask("POST", f"tasks/{trip}/inputs", {**said("go"), **beside})

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [at]
    assert owner.sees(trip) == before


@pytest.mark.clause("AG-1")
@pytest.mark.parametrize(("beside", "at"), WRONG)
def test_a_first_input_is_held_to_them_too(owner: Person, host: Host, beside: Json, at: str) -> None:
    agent = host.declare(parameters=PARAMETERS)

    refused = owner.ask("POST", "tasks", {"agent": agent, "input": {**said("go"), **beside}})

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == [f"input.{at}"]
    assert answered(owner.ask("GET", f"tasks?agent={agent}"), 200)["tasks"] == []


@pytest.mark.clause("AG-1")
def test_a_delegated_input_is_held_to_those_of_its_own_agent(owner: Person, host: Host, agent: str) -> None:
    delegate = host.declare(parameters=PARAMETERS, turnkeeper={"runs": "external", "delegates_from": [agent]})
    parent = owner.create(agent, "first")
    call: Json = {"fence": host.start(parent), "call": "one", "agent": delegate}

    refused = host.post(parent, "children", **call, input=said("go"))
    taken = host.post(parent, "children", **call, input={**said("go"), "city": "Bern"})

    assert refused.status_code == 422, refused.text
    assert [error["at"] for error in refused.json()["errors"]] == ["input.city"]
    assert owner.messages(answered(taken, 202)["id"])[0]["city"] == "Bern"


@pytest.mark.clause("AG-1")
def test_a_task_is_held_to_the_manifest_that_it_began_with(owner: Person, host: Host) -> None:
    agent = host.declare(parameters=PARAMETERS)
    task = owner.create(agent)
    answered(host.register(agent, manifest(agent)), 200)

    tell(owner, task, city="Bern")
    refused = owner.send(task, "nowhere")

    assert refused.status_code == 422, refused.text
    assert refused.json()["errors"][0]["at"] == "city"


@pytest.mark.clause("IO-6")
def test_a_message_may_be_declared_to_give_it_a_default(owner: Person, host: Host) -> None:
    default = [text_part("Begin.")]
    agent = host.declare(
        parameters={"type": "object", "properties": {"message": {"default": default}}, "required": []}
    )

    task = answered(owner.ask("POST", "tasks", {"agent": agent, "input": {}}), 202)["id"]

    assert owner.messages(task)[0]["message"] == default


@pytest.mark.clause("IN-1c")
@pytest.mark.clause("IO-7")
def test_inputs_that_wait_keep_their_parameters(owner: Person, host: Host, trip: str) -> None:
    tell(owner, trip, city="Bern")
    host.start(trip)
    tell(owner, trip, city="Lyon", copies=2)

    waiting = owner.messages(trip)[-1]

    assert "committed_at" not in waiting
    assert (waiting["city"], waiting["copies"]) == ("Lyon", 2)
