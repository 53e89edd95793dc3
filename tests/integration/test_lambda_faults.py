"""What a Lambda function's failure, silence and absence mean for its turn: tried again, unknown, or not asked yet."""

import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError

from tests.support.functions import (
    Answer,
    Invoke,
    Run,
    answers,
    half_an_answer,
    no_answer,
    one_after_the_other,
    raised,
    raising,
    refusal,
    timed_out_without_a_name,
)
from tests.support.hosting import FUNCTION, Host, text
from tests.support.laboratory import Laboratory, outputs
from turnkeeper.domain.rules import State, state_of

FAILED: dict[str, Run] = {
    "an exception": lambda _: raised("ValueError"),
    "an exception that says it timed out": lambda _: raised("ValueError", "Task timed out after 3 tries"),
    "a text alone": lambda _: "done",
    "a list": lambda _: [],
    "another field": lambda _: {"output": "done"},
    "a number for a text": lambda _: {"text": 1},
    "no text": lambda _: {"text": None},
    "no JSON": lambda _: b"{",
    "no UTF-8": lambda _: b"\xff\xfe",
    "too deep": lambda _: b"[" * 100_000,
    "a text too long": lambda _: {"text": "x" * 100_001},
    "half a character": lambda _: b'{"text":"\\ud800"}',
    "no such function": raising(refusal("ResourceNotFoundException", 404)),
    "not allowed": raising(refusal("AccessDeniedException", 403)),
}


@pytest.mark.parametrize("how", FAILED)
def test_an_attempt_that_fails_is_tried_again_until_none_is_left(
    invoke: Invoke, acme: Host, live_lab: Laboratory, how: str
) -> None:
    function = invoke(one_after_the_other(FAILED[how], answers, FAILED[how], FAILED[how]), attempts=2)
    task_id = acme.task("one")

    live_lab.work()
    acme.tell(task_id, "two")
    live_lab.work()

    assert outputs(live_lab, task_id) == ["attempt 2"]
    assert [(event["turn"], event["attempt"], event["fence"]) for event in function.events] == [
        (1, 1, 1),
        (1, 2, 2),
        (2, 1, 3),
        (2, 2, 4),
    ]
    assert acme.ending(task_id) == ("errored", 6000)


def test_a_failed_attempt_waits_for_its_back_off(invoke: Invoke, acme: Host, live_lab: Laboratory) -> None:
    function = invoke(lambda _: raised("ValueError"), repeatable=True)
    acme.register(runs="lambda", function=FUNCTION, repeatable=True, backoff=["30m"])
    task_id = acme.task("hi")

    live_lab.work()

    assert state_of(live_lab.stored(task_id)) is State.BETWEEN_ATTEMPTS
    assert len(function.events) == 1
    turn = live_lab.stored(task_id).turn
    assert turn
    assert turn.retry_at
    assert turn.retry_at > live_lab.clock.now


UNKNOWN: dict[str, Run] = {
    "no answer in time": raising(no_answer()),
    "half an answer": lambda _: half_an_answer(),
    "an answer that does not come": lambda _: Answer(b"", no_answer()),
    "a server's fault": raising(refusal("ServiceException", 500)),
    "out of time": lambda _: raised("Sandbox.Timedout", "Error: Task timed out after 3.00 seconds"),
    "out of time, as it was": lambda _: timed_out_without_a_name(),
    "killed": lambda _: raised("Runtime.ExitError", "Error: Runtime exited with error: signal: killed"),
    "out of memory": lambda _: raised("Runtime.OutOfMemory"),
}


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize("how", UNKNOWN)
def test_a_turn_of_which_nobody_knows_is_recovered_at_once_where_it_may_be_repeated(
    invoke: Invoke, acme: Host, live_lab: Laboratory, how: str
) -> None:
    function = invoke(one_after_the_other(UNKNOWN[how], answers), repeatable=True)
    task_id = acme.task("hi")

    live_lab.work()

    assert outputs(live_lab, task_id) == ["attempt 2"]
    assert [(event["attempt"], event["fence"]) for event in function.events] == [(1, 1), (2, 2)]
    assert [entry["transition"] for entry in live_lab.journal(task_id)][2:4] == ["lose_turn", "start_attempt"]


@pytest.mark.clause("RET-4")
@pytest.mark.parametrize("how", UNKNOWN)
def test_a_turn_of_which_nobody_knows_must_be_reconciled_where_it_may_not_be_repeated(
    invoke: Invoke, acme: Host, live_lab: Laboratory, how: str
) -> None:
    function = invoke(UNKNOWN[how], attempts=5)
    task_id = acme.task("hi")

    live_lab.work()

    shown = acme.read(task_id)
    assert [wait["kind"] for wait in shown["waits"]] == ["reconcile"]
    assert len(function.events) == 1
    assert acme.ask(task_id, "reconcile", {"answer": "done", **text("it did")}).status == 200
    assert outputs(live_lab, task_id) == ["it did"]
    assert live_lab.work() == 0


def test_a_lost_turn_is_the_functions_again_when_its_host_says_so(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    function = invoke(one_after_the_other(raising(no_answer()), answers))
    task_id = acme.task("hi")
    live_lab.work()

    acme.ask(task_id, "reconcile", {"answer": "repeat"})
    live_lab.work()

    assert outputs(live_lab, task_id) == ["attempt 2"]
    assert len(function.events) == 2


NOT_ASKED = {
    "throttled": refusal("TooManyRequestsException", 429),
    "throttled by the gateway": refusal("ThrottlingException", 400),
    "no connection": EndpointConnectionError(endpoint_url="https://lambda.test"),
    "no connection in time": ConnectTimeoutError(endpoint_url="https://lambda.test"),
}


@pytest.mark.parametrize("repeatable", [True, False])
@pytest.mark.parametrize("how", NOT_ASKED)
def test_a_function_that_could_not_be_asked_is_asked_later_and_no_attempt_is_spent(
    invoke: Invoke, acme: Host, live_lab: Laboratory, how: str, *, repeatable: bool
) -> None:
    never = raising(NOT_ASKED[how])
    function = invoke(one_after_the_other(never, never, never, answers), repeatable=repeatable)
    task_id = acme.task("hi")

    live_lab.work()

    assert outputs(live_lab, task_id) == ["attempt 1"]
    assert [(event["attempt"], event["fence"]) for event in function.events] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (1, 4),
    ]


def test_a_function_that_never_can_be_asked_is_waited_for_no_longer_than_a_turn_may_take(
    invoke: Invoke, acme: Host, live_lab: Laboratory
) -> None:
    invoke(raising(NOT_ASKED["throttled"]), repeatable=True)
    acme.register(runs="lambda", function=FUNCTION, repeatable=True, backoff=["10m"], turn_limit="1h")
    task_id = acme.task("hi")
    live_lab.work()

    acme.sweep_after(minutes=59)
    assert acme.ending(task_id)[0] is None
    acme.sweep_after(minutes=2)

    assert acme.ending(task_id) == ("errored", 5004)
