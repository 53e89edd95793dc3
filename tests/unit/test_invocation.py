"""How a Lambda function is asked: once, for as long as there is time, with the turn and nothing else in the payload."""

import io
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session
import pytest
from botocore.response import StreamingBody
from botocore.stub import Stubber

from tests.support.faults import NOT_SENT, THROTTLED, TIMED_OUT_BEFORE, Fault, faults_of
from turnkeeper.agents.protocol import NotAsked, OutcomeUnknown, Say, TurnView
from turnkeeper.domain.waits import Resolution, Verdict, WaitKind
from turnkeeper.invocation import LARGEST_INPUTS, Invoked, invoked, payload

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:my-agent"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def turn(*inputs: str, **more: Any) -> TurnView:
    said = [{"message": [{"mimeType": "text/plain", "text": text}]} for text in inputs]
    facts = {"number": 2, "attempt": 1, "fence": 5, "first_output": 3, "responsible_user": "alice"}
    reads = {"conversation": lambda: iter(()), "child": lambda _: iter(())}
    return TurnView(
        **{"task_id": "a" * 32, "agent": "helper", "inputs": tuple(said), **facts, **reads, **more}
    )


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> Invoked:
    """The function as `turns` asks it with 900 seconds left."""
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
        monkeypatch.setenv(f"AWS_{name}", "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    session = botocore.session.get_session()
    return invoked(FUNCTION, session=session, answers_within=timedelta(seconds=895))


def said_last(agent: Invoked, view: TurnView) -> Say | None:
    with pytest.raises(StopIteration) as done:
        next(agent.run(view))
    last: Say | None = done.value.value
    return last


def test_the_payload_is_the_turn_with_its_fence() -> None:
    ended = Resolution(wait_id="w", kind=WaitKind.REVIEW, verdict=Verdict.DONE, at=NOW, comment="Go")

    sent = json.loads(payload(turn("hi", "é", memo={"so": "far"}, resolutions=(ended,))))

    assert sent == {
        "task": "a" * 32,
        "agent": "helper",
        "responsible_user": "alice",
        "turn": 2,
        "attempt": 1,
        "fence": 5,
        "first_output": 3,
        "inputs": [
            {"message": [{"mimeType": "text/plain", "text": "hi"}]},
            {"message": [{"mimeType": "text/plain", "text": "é"}]},
        ],
        "memo": {"so": "far"},
        "resolutions": [
            {
                "id": "w",
                "kind": "review",
                "verdict": "done",
                "at": "2026-11-30T12:00:00.000000Z",
                "comment": "Go",
            }
        ],
    }


@pytest.mark.parametrize("character", ["x", "é", "😀"])
def test_inputs_over_4_mb_as_they_are_sent_are_left_out(character: str) -> None:
    each = character * (60_000 // len(json.dumps(character)))
    fits = LARGEST_INPUTS // (len(json.dumps(each)) + 60)

    few, many = payload(turn(*[each] * fits)), payload(turn(*[each] * (fits + 2)))

    assert len(json.loads(few)["inputs"]) == fits
    assert json.loads(many)["inputs"] is None
    assert LARGEST_INPUTS * 0.97 < len(few) < LARGEST_INPUTS + 1_000


def test_the_function_is_asked_for_its_answer_and_by_its_name(function: Invoked) -> None:
    view = turn("hi")
    body = StreamingBody(io.BytesIO(b'{"text":"done"}'), 15)
    asked = {"FunctionName": FUNCTION, "InvocationType": "RequestResponse", "Payload": payload(view)}

    client: Any = function.client
    with Stubber(client) as stubbed:
        stubbed.add_response("invoke", {"StatusCode": 200, "Payload": body}, asked)

        assert said_last(function, view) == Say("done")


def test_the_client_waits_for_as_long_as_there_is_time_and_never_asks_twice(function: Invoked) -> None:
    client: Any = function.client
    config = client.meta.config

    assert config.read_timeout == 895
    assert config.connect_timeout == 2
    assert config.retries["total_max_attempts"] == 1


@pytest.mark.parametrize(
    ("fault", "told"),
    [(TIMED_OUT_BEFORE, OutcomeUnknown), (THROTTLED, NotAsked), (NOT_SENT, NotAsked)],
    ids=str,
)
def test_whatever_happens_to_it_a_call_is_one_attempt(
    function: Invoked, fault: Fault, told: type[Exception]
) -> None:
    with faults_of(function.client) as faults:
        faults.inject(fault, "Invoke", times=None)
        with pytest.raises(told):
            next(function.run(turn("hi")))

        assert faults.attempts == ["Invoke"]
