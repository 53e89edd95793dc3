"""An agent that is somebody's Lambda function: asked once an attempt, and believed in nothing that it did not say."""

import importlib
from typing import Any

import pytest

from tests.support.functions import Invoke, answers, no_answer
from tests.support.hosting import AGENT, FUNCTION, Host
from tests.support.laboratory import Laboratory, outputs
from turnkeeper.agents.echo import Echo


def test_what_the_function_answers_is_said_last_and_ends_the_turn_in_one_write(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    function = invoke(lambda event: {"text": f"{len(event['inputs'])} inputs"})
    task_id = acme.task("hi", "there")

    live_lab.work()

    assert outputs(live_lab, task_id) == ["2 inputs"]
    (event,) = function.events
    assert (event["task"], event["agent"], event["turn"], event["fence"]) == (task_id, AGENT, 1, 1)
    assert [part["text"] for entry in event["inputs"] for part in entry["message"]] == ["hi", "there"]
    steps = [entry["transition"] for entry in live_lab.journal(task_id)]
    assert steps == ["create", "accept", "start_turn", "finish"]
    assert acme.wake_ups() == []


@pytest.mark.parametrize("said", [None, b""])
def test_a_function_may_have_nothing_to_say(
    invoke: Invoke, acme: Host, live_lab: Laboratory, said: object
) -> None:
    invoke(lambda _: said)
    task_id = acme.task("hi")

    live_lab.work()

    assert outputs(live_lab, task_id) == []
    assert acme.ending(task_id) == (None, 3001)


def test_what_it_says_along_the_way_comes_before_what_it_answers(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    def run(event: dict[str, Any]) -> object:
        for number in (1, 2):
            assert acme.say(event["task"], event["fence"], number, f"part {number}").status == 200
        return {"text": "part 3"}

    invoke(run)
    task_id = acme.task("hi")

    live_lab.work()

    assert outputs(live_lab, task_id) == ["part 1", "part 2", "part 3"]
    assert acme.ending(task_id) == (None, 3001)


def test_an_attempt_that_repeats_says_each_part_once(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    def run(event: dict[str, Any]) -> object:
        for number in range(event["first_output"], 3):
            assert acme.say(event["task"], event["fence"], number, f"part {number}").status == 200
            if event["attempt"] == number:
                raise no_answer()
        return {"text": "part 3"}

    invoke(run, repeatable=True)
    task_id = acme.task("hi")

    live_lab.work()

    assert outputs(live_lab, task_id) == ["part 1", "part 2", "part 3"]


def test_a_function_whose_turn_was_interrupted_writes_nothing_more(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    late: list[int] = []

    def run(event: dict[str, Any]) -> object:
        acme.ask(event["task"], "interrupt")
        late.append(acme.say(event["task"], event["fence"], 1, "too late").status)
        return {"text": "too late"}

    invoke(run)
    task_id = acme.task("hi")

    assert live_lab.work() == 1

    assert late == [409]
    assert outputs(live_lab, task_id) == []
    assert acme.ending(task_id) == (None, 3001)


def test_inputs_that_are_too_many_to_send_are_read_through_the_hosts_api(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    def run(event: dict[str, Any]) -> object:
        assert event["inputs"] is None
        cursor, heard, more = acme.read(event["task"])["turn"]["inputs_after"], 0, True
        while more:
            page = acme.messages(event["task"], after=cursor)
            cursor, more = page["next"], page["more"]
            heard += len(page["messages"])
        return {"text": f"{heard} inputs"}

    invoke(run)
    task_id = acme.task()
    for _ in range(20):
        part = {"mimeType": "text/plain", "text": "x" * 100_000}
        acme.api.post(f"/v1/tasks/{task_id}/inputs", {"message": [part, part]})

    live_lab.work()

    assert outputs(live_lab, task_id) == ["20 inputs"]


@pytest.mark.parametrize(("left_ms", "waits_s"), [(900_000, 895), (30_500, 25.5), (9_000, 5), (10, 5)])
def test_turns_waits_for_the_function_for_as_long_as_it_lives_itself(
    invoke: Invoke, acme: Host, live_lab: Laboratory, left_ms: int, waits_s: float
) -> None:
    """Less what it needs to write down that it heard nothing."""

    class Context:
        function_name, memory_limit_in_mb, invoked_function_arn, aws_request_id = "turns", 512, "arn", "id"

        def get_remaining_time_in_millis(self) -> int:
            return left_ms

    invoke(answers)
    task = live_lab.stored(acme.task("hi"))
    turns = importlib.import_module("functions.turns.handler")
    turns.processor(records=[], handler=lambda _: None, lambda_context=Context())

    agent: Any = turns.agent_of(task)

    assert agent.function == FUNCTION
    assert agent.client.meta.config.read_timeout == waits_s
    assert agent.client.meta.config.retries["total_max_attempts"] == 1
    assert isinstance(turns.agent_of(live_lab.create().task), Echo)
