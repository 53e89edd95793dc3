"""A real Strands agent with a model that is none, as an external host: stateless, suspended for people, counted."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from strands import Agent, tool
from strands.hooks import BeforeToolCallEvent, HookProvider, HookRegistry
from strands.models import Model

from tests.support.clients import BASE_URL, NO_CHANCE, Stamp, Wire
from tests.support.hosting import Host
from tests.support.scripted import Scripted
from turnkeeper_client import host_clients
from turnkeeper_client.attending import Pace
from turnkeeper_client.queues import Queue
from turnkeeper_client.strands import StrandsHost
from turnkeeper_client.working import Worker

SOON = Pace(listen_s=0, heartbeat_s=60, longest_pause_s=0.01)


class Approval(HookProvider):
    """Asks before anything is booked."""

    def register_hooks(self, registry: HookRegistry, **_: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, self.approve)

    def approve(self, event: BeforeToolCallEvent) -> None:
        answer = event.interrupt("book", reason=event.tool_use["input"])
        if not answer["approved"]:
            event.cancel_tool = f"not approved ({answer['verdict']}): {answer['comment']}"


@pytest.fixture
def acme(wire: Wire) -> Iterator[host_clients.Host]:
    transport = httpx.MockTransport(wire)
    with host_clients.Host(BASE_URL, Stamp("acme"), patience=NO_CHANCE, transport=transport) as made:
        yield made


@pytest.fixture
def booked() -> list[str]:
    return []


type Run = Callable[[Model], None]


@pytest.fixture
def run(acme: host_clients.Host, host: Host, booked: list[str]) -> Run:
    """Takes what is in the queue with an agent of its own each time, as another machine would."""

    @tool
    def book(to: str) -> str:
        """Book a train."""
        booked.append(to)
        return f"booked to {to}"

    def take(model: Model) -> None:
        def make(messages: Any) -> Agent:
            return Agent(
                model=model, messages=messages, tools=[book], hooks=[Approval()], callback_handler=None
            )

        worker = Worker(acme, Queue(host.lab.sqs, host.queue_url), StrandsHost(acme, make), pace=SOON)
        while worker.take_one():
            pass

    return take


def conversation(host: Host, task_id: str) -> list[tuple[str, str]]:
    return [(one["type"], one["message"][0]["text"]) for one in host.messages(task_id)["messages"]]


def decide(host: Host, decision: str, comment: str = "Fine.") -> Any:
    (review,) = host.api.get("/v1/reviews").json["reviews"]
    body = {"decision": decision, "comment": comment}
    assert host.api.post(f"/v1/reviews/{review['id']}", body).status == 200
    return review


def test_it_answers_and_what_it_used_is_counted(host: Host, run: Run) -> None:
    task_id = host.task("Hello?")

    run(Scripted("Good day."))

    assert conversation(host, task_id) == [("input", "Hello?"), ("output", "Good day.")]
    assert host.read(task_id)["usage"] == {"prompt_tokens": 11, "completion_tokens": 7, "tool_calls": 0}


def test_an_agent_that_remembers_nothing_has_the_tasks_conversation(host: Host, run: Run) -> None:
    task_id = host.task("first")
    run(Scripted("One."))
    host.tell(task_id, "second")
    host.tell(task_id, "third")
    model = Scripted("Two.")

    run(model)

    assert [(one["role"], [part["text"] for part in one["content"]]) for one in model.asked[0]] == [
        ("user", ["first"]),
        ("assistant", ["One."]),
        ("user", ["second", "third"]),
    ]


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_an_interrupt_waits_for_a_person_and_another_agent_goes_on_with_the_decision(
    host: Host, run: Run, booked: list[str], decision: str
) -> None:
    task_id = host.task("before")
    run(Scripted("Yes?"))
    host.tell(task_id, "Book Bern.")
    run(Scripted({"to": "Bern"}))
    assert booked == []
    shown = host.read(task_id)
    assert (shown["turn"]["state"], [one["kind"] for one in shown["waits"]]) == ("suspended", ["review"])
    model = Scripted("That is that.")

    review = decide(host, decision)
    run(model)

    assert review["subject"] == 'book: {"to": "Bern"}'
    assert booked == (["Bern"] if decision == "approve" else [])
    assert conversation(host, task_id)[-1] == ("output", "That is that.")
    roles = [one["role"] for one in model.asked[0]]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    (result,) = [part["toolResult"] for part in model.asked[0][-1]["content"] if "toolResult" in part]
    said = json.dumps(result)
    assert ("booked to Bern" in said) if decision == "approve" else ("not approved (denied): Fine." in said)
    assert host.read(task_id)["task"]["status"]["phase"] == "idle"


def test_a_model_that_fails_gives_the_attempt_up_and_the_next_one_answers(host: Host, run: Run) -> None:
    host.register(repeatable=True, backoff=["0s"])
    task_id = host.task("Hello?")

    run(Scripted(RuntimeError("away"), "Now."))

    assert conversation(host, task_id) == [("input", "Hello?"), ("output", "Now.")]
    steps = [entry["transition"] for entry in host.lab.journal(task_id)]
    assert "fail_attempt" in steps


def test_what_was_interrupted_meanwhile_is_not_answered(host: Host, run: Run) -> None:
    task_id = host.task("Book Bern.")
    run(Scripted({"to": "Bern"}))
    host.ask(task_id, "interrupt")
    host.tell(task_id, "Leave it.")
    model = Scripted("As you wish.")

    run(model)

    assert conversation(host, task_id)[-1] == ("output", "As you wish.")
    # Nothing of the broken turn is left but what was said.
    assert [(one["role"], [part["text"] for part in one["content"]]) for one in model.asked[0]] == [
        ("user", ["Book Bern.", "Leave it."])
    ]
