"""An agent that is a model of Bedrock's: the conversation goes there, and what comes back is said, once and whole."""

import json
import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import EventStreamError, ReadTimeoutError

from tests.support.bedrock import MODEL, Bedrock, Stream, says, until
from tests.support.gateway import Gateway, forget_settings
from tests.support.laboratory import Laboratory, outputs
from turnkeeper.agents.models import models
from turnkeeper.converse import GO_ON, LARGEST_HISTORY, PIECE_BYTES, messages
from turnkeeper.service import catalogue

SETTING = {"assistant": {"model": MODEL, "system": "Be brief.", "max_tokens": 300, "temperature": 0.2}}
LONG = ["word " * 700, "\n\n", "more " * 700, "\n\n", "last"]


@pytest.fixture
def lab(live_lab: Laboratory) -> Laboratory:
    live_lab.runtime = replace(live_lab.runtime, models=models(SETTING))
    return live_lab


@pytest.fixture
def bedrock(lab: Laboratory, monkeypatch: pytest.MonkeyPatch) -> Bedrock:
    made = Bedrock(monkeypatch, **SETTING["assistant"])
    lab.agents["assistant"] = lambda: made.agent
    return made


def begin(lab: Laboratory, text: str = "Hello?") -> str:
    return lab.create(text, agent="assistant").task.id


def work_until_over(lab: Laboratory, tries: int = 6) -> None:
    """Work, and let the pauses between attempts pass."""
    for _ in range(tries):
        lab.work()
        lab.clock.forward(seconds=90)
        lab.sweep()


def steps(lab: Laboratory, task_id: str) -> list[str]:
    return [entry["transition"] for entry in lab.journal(task_id)]


def test_a_short_answer_is_one_output_written_with_the_turns_end(lab: Laboratory, bedrock: Bedrock) -> None:
    stream = says("Good ", "day.")
    bedrock.answers(stream)
    task_id = begin(lab)

    lab.work()

    assert outputs(lab, task_id) == ["Good day."]
    assert steps(lab, task_id)[-2:] == ["start_turn", "finish"]
    assert bedrock.asked == [
        {
            "modelId": MODEL,
            "messages": [{"role": "user", "content": [{"text": "Hello?"}]}],
            "system": [{"text": "Be brief."}],
            "inferenceConfig": {"maxTokens": 300, "temperature": 0.2},
        }
    ]
    assert stream.is_closed


def test_the_whole_conversation_goes_to_the_model_by_turns(lab: Laboratory, bedrock: Bedrock) -> None:
    bedrock.answers(says("One."), says("Two."))
    task_id = begin(lab, "first")
    lab.work()
    lab.send(task_id, "second")
    lab.send(task_id, "third")

    lab.work()

    assert bedrock.asked[1]["messages"] == [
        {"role": "user", "content": [{"text": "first"}]},
        {"role": "assistant", "content": [{"text": "One."}]},
        {"role": "user", "content": [{"text": "second"}, {"text": "third"}]},
    ]
    assert outputs(lab, task_id) == ["One.", "Two."]


def test_a_long_answer_is_said_by_paragraphs_and_loses_nothing(lab: Laboratory, bedrock: Bedrock) -> None:
    bedrock.answers(says(*LONG))
    task_id = begin(lab)

    lab.work()

    said = outputs(lab, task_id)
    assert len(said) == 2
    assert "\n\n".join(said) == "".join(LONG)
    assert all(len(one) >= PIECE_BYTES // 2 for one in said[:-1])


def test_an_answer_without_an_end_of_a_paragraph_is_cut_before_it_is_too_large(
    lab: Laboratory, bedrock: Bedrock
) -> None:
    bedrock.answers(says(*["é" * 30_000] * 4))
    task_id = begin(lab)

    lab.work()

    assert "".join(outputs(lab, task_id)) == "é" * 120_000


@pytest.mark.parametrize("end", ["\n\n", ""])
def test_an_answer_that_comes_all_at_once_is_said_in_pieces(
    lab: Laboratory, bedrock: Bedrock, end: str
) -> None:
    whole = "\n\n".join(["word " * 5_000] * 6) + end
    bedrock.answers(says("First.", whole))
    task_id = begin(lab)

    lab.work()

    said = outputs(lab, task_id)
    assert "\n\n".join(said) + end == "First." + whole
    assert len(said) > 1


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "as long as it may be"),
        ("guardrail_intervened", "a guardrail of the model's provider"),
        ("content_filtered", "provider filtered it"),
        ("model_context_window_exceeded", "as long as the model can read"),
    ],
)
@pytest.mark.parametrize("text", ["Half of", ""])
def test_an_answer_that_is_not_whole_says_why(
    lab: Laboratory, bedrock: Bedrock, reason: str, words: str, text: str
) -> None:
    bedrock.answers(says(*filter(None, [text]), stops=reason))
    task_id = begin(lab)

    lab.work()

    (said,) = outputs(lab, task_id)
    assert said.startswith(text or "[The answer ends here")
    assert words in said
    assert lab.poll(task_id).phase == "idle"


@pytest.mark.parametrize(
    "code", ["ThrottlingException", "ServiceUnavailableException", "ModelNotReadyException"]
)
def test_a_model_that_cannot_be_asked_now_is_asked_later_and_no_attempt_is_spent(
    lab: Laboratory, bedrock: Bedrock, code: str
) -> None:
    bedrock.answers(code, code, code, code, says("At last."))
    task_id = begin(lab)

    work_until_over(lab)

    assert outputs(lab, task_id) == ["At last."]


@pytest.mark.parametrize(
    "code", ["ValidationException", "AccessDeniedException", "ModelErrorException", "ModelTimeoutException"]
)
def test_a_model_that_fails_fails_the_attempt_and_after_the_last_the_task(
    lab: Laboratory, bedrock: Bedrock, code: str
) -> None:
    bedrock.answers(*[code] * 3)
    task_id = begin(lab)

    work_until_over(lab)

    task = lab.poll(task_id)
    assert (task.phase, task.terminal_reason) == ("terminal", "errored")
    assert len(bedrock.asked) == 3


@pytest.mark.parametrize("reason", ["tool_use", "malformed_model_output", None])
def test_a_stop_that_is_no_answer_fails_the_attempt(
    lab: Laboratory, bedrock: Bedrock, reason: str | None
) -> None:
    bedrock.answers(says("x", stops=reason), says("Right."))
    task_id = begin(lab)

    work_until_over(lab)

    assert outputs(lab, task_id) == ["Right."]


CUT = EventStreamError({"Error": {"Code": "modelStreamErrorException", "Message": "cut"}}, "ConverseStream")
SILENT = ReadTimeoutError(endpoint_url="https://bedrock")
BUSY = EventStreamError({"Error": {"Code": "throttlingException", "Message": "busy"}}, "ConverseStream")


@pytest.mark.parametrize("fault", [CUT, SILENT, BUSY], ids=["cut", "silent", "throttled"])
def test_another_attempt_goes_on_where_the_cut_one_ended_and_says_nothing_twice(
    lab: Laboratory, bedrock: Bedrock, fault: Exception
) -> None:
    # The first piece is said, since a second one has begun after it.
    first = Stream(*says(*LONG[:4], *LONG[:4], stops=None).events, fault)
    bedrock.answers(first, says("and so ", *LONG))
    task_id = begin(lab)

    work_until_over(lab)

    said = outputs(lab, task_id)
    again = bedrock.asked[1]["messages"]
    assert [one["role"] for one in again] == ["user", "assistant", "user"]
    before = [part["text"] for part in again[1]["content"]]
    # What was said is there once; of the rest, which is two pieces again, nothing is missing.
    assert before
    assert said[: len(before)] == before
    assert len(said) == len(before) + 2
    assert "\n\n".join(said[len(before) :]) == "and so " + "".join(LONG)
    assert again[2]["content"] == [{"text": GO_ON}]


def test_a_slow_answer_keeps_its_lease(lab: Laboratory, bedrock: Bedrock) -> None:
    beaten = threading.Event()
    lab.runtime = replace(lab.runtime, heartbeat=timedelta(seconds=0.05))
    calls: list[int] = []
    client: Any = lab.dynamodb

    def hear(**_: Any) -> None:
        calls.append(1)
        if len(calls) >= 4:
            beaten.set()

    client.meta.events.register("before-call.dynamodb.UpdateItem", hear)
    bedrock.answers(Stream(until(beaten), *says("Slow.").events))
    task_id = begin(lab)

    lab.work()

    assert beaten.is_set()
    assert outputs(lab, task_id) == ["Slow."]


def test_a_conversation_is_what_converse_takes() -> None:
    def entry(kind: str, *parts: Any) -> dict[str, Any]:
        return {
            "type": kind,
            "message": [part if isinstance(part, dict) else {"text": part} for part in parts],
        }

    file = {"file": "task://a/b.csv", "mimeType": "text/csv"}
    found = messages(
        [
            entry("output", "Welcome"),
            entry("input", " \n"),
            entry("output", "?"),
            entry("input", "See:", file),
        ]
    )

    assert found == [
        {"role": "user", "content": [{"text": "(no text)"}]},
        {"role": "assistant", "content": [{"text": "?"}]},
        {"role": "user", "content": [{"text": "See:"}, {"text": "[file task://a/b.csv, text/csv]"}]},
    ]


def test_of_a_conversation_that_is_too_long_the_end_goes_to_the_model_and_begins_with_a_user() -> None:
    long = "x" * (LARGEST_HISTORY // 3)
    history = [
        {"type": kind, "message": [{"text": f"{number} {long}"}]}
        for number, kind in enumerate(["input", "output"] * 4 + ["input"])
    ]

    found = messages(history)

    assert [one["role"] for one in found] == ["user"]
    assert found[0]["content"][0]["text"].startswith("8 ")
    alone = messages([{"type": "input", "message": [{"text": "x" * (2 * LARGEST_HISTORY)}]}])
    assert len(alone) == 1


def test_who_is_to_go_on_is_told_with_what_however_long_the_question_was() -> None:
    long = "x" * (LARGEST_HISTORY // 3)
    asked = [{"type": "input", "message": [{"text": f"{number} {long}"}]} for number in range(4)]
    earlier = [
        {"type": "input", "message": [{"text": "before"}]},
        {"type": "output", "message": [{"text": "So."}]},
    ]
    cut = {"type": "output", "message": [{"text": "Half of an answer"}]}

    found = messages([*earlier, *asked, cut], goes_on=True)

    assert [one["role"] for one in found] == ["user", "assistant", "user"]
    assert [part["text"][:2] for part in found[0]["content"]] == ["0 ", "1 ", "2 ", "3 "]
    assert found[1]["content"] == [{"text": "Half of an answer"}]
    assert found[2]["content"] == [{"text": GO_ON}]


def test_it_is_in_the_list_only_where_the_deployment_says_so(lab: Laboratory) -> None:
    named = [one.name for one in catalogue.list_agents(lab.runtime, limit=100, cursor=None).manifests]
    shown = catalogue.read(lab.runtime, "assistant")
    off = replace(lab.runtime, models={})

    assert "assistant" in named
    assert shown.is_built_in
    lab.create(agent="assistant")
    assert catalogue.look_up(off, "assistant").manifest is None


def test_the_functions_have_it_by_their_environment_and_no_host_may_take_its_name(
    api: Gateway, hosts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNKEEPER_BEDROCK_AGENTS", json.dumps(SETTING))
    forget_settings()

    assert api.get("/v1/agents/assistant").json["description"] == "Answers by a model of Amazon Bedrock."
    assert "brief" not in api.get("/v1/agents/assistant").body
    assert hosts.acme.register("assistant").status == 404
    assert api.post("/v1/tasks", {"agent": "assistant"}).status == 201
