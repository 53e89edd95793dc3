"""What an agent may yield: everything else is its own failure, before anything of it is written."""

import json
import math
from datetime import timedelta
from typing import Any

import pytest

from turnkeeper.agents.protocol import Delegate, Need, Pause, Say
from turnkeeper.domain.content import LARGEST_TEXT
from turnkeeper.domain.reviews import SUBJECT_BYTES
from turnkeeper.domain.waits import MEMO_BYTES, NAMES_BYTES, WaitKind
from turnkeeper.service.steps import (
    AgentMisbehaved,
    checked,
    content,
    memo_text,
)

CHILD = Need(id="c", kind=WaitKind.HOST)
SURROGATE = "\ud800"


def child(number: int) -> Need:
    return Need(id=str(number), kind=WaitKind.HOST)


def any_need(**fields: Any) -> Need:
    return Need(**{"id": "n", "kind": WaitKind.HOST, **fields})


def deep(levels: int) -> list[Any]:
    memo: list[Any] = []
    for _ in range(levels):
        memo = [memo]
    return memo


ACCEPTABLE: dict[str, Any] = {
    "a text": Say("hi"),
    "an empty text": Say(""),
    "the longest text": Say("x" * LARGEST_TEXT),
    "a pause": Pause((CHILD,)),
    "16 needs": Pause(tuple(map(child, range(16)))),
    "a sign-in": Pause((any_need(kind=WaitKind.AUTHORISATION, provider="github"),)),
    "a review": Pause((any_need(kind=WaitKind.REVIEW, reviewer="alice", subject="s" * SUBJECT_BYTES),)),
    "a child": Pause((any_need(kind=WaitKind.CHILD, child="0" * 32),)),
    "a delegation": Delegate(call="c" * 255, agent="echo", text="hi"),
    "the host": Pause((any_need(kind=WaitKind.HOST),)),
    "the largest memo": Pause((CHILD,), "m" * (MEMO_BYTES - 2)),
    "the longest names": Pause((any_need(id="i" * NAMES_BYTES),)),
}
REFUSED: dict[str, Any] = {
    "nothing": None,
    "a plain text": "hi",
    "a text that is none": Say(7),  # type: ignore[arg-type]
    "a text one byte too long": Say("x" * (LARGEST_TEXT + 1)),
    "a text too long in bytes": Say("é" * (LARGEST_TEXT // 2 + 1)),
    "a lone surrogate": Say(SURROGATE),
    "a pause for nothing": Pause(()),
    "17 needs": Pause(tuple(map(child, range(17)))),
    "two needs of one id": Pause((CHILD, CHILD)),
    "a need that is none": Pause(("child",)),  # type: ignore[arg-type]
    "a need without an id": Pause((any_need(id=""),)),
    "an id that is no text": Pause((any_need(id=7),)),
    "a surrogate for an id": Pause((any_need(id=SURROGATE),)),
    "a kind that is none": Pause((any_need(kind="coffee"),)),
    "a reconcile": Pause((any_need(kind=WaitKind.RECONCILE),)),
    "a sign-in nowhere": Pause((any_need(kind=WaitKind.AUTHORISATION),)),
    "a sign-in needed at no time": Pause(
        (any_need(kind=WaitKind.AUTHORISATION, provider="github", needed_at=7),)
    ),
    "a review by nobody": Pause((any_need(kind=WaitKind.REVIEW, subject="s"),)),
    "a review of nothing": Pause((any_need(kind=WaitKind.REVIEW, reviewer="alice"),)),
    "a subject one byte too long": Pause(
        (any_need(kind=WaitKind.REVIEW, reviewer="alice", subject="s" * (SUBJECT_BYTES + 1)),)
    ),
    "a child that is none": Pause((any_need(kind=WaitKind.CHILD),)),
    "a name of another kind": Pause((any_need(kind=WaitKind.HOST, reviewer="alice"),)),
    "a delegation without a call": Delegate(call="", agent="echo", text="hi"),
    "a call one byte too long": Delegate(call="c" * 256, agent="echo", text="hi"),
    "a delegation to nobody": Delegate(call="c", agent="No Body", text="hi"),
    "a delegation of a number": Delegate(call="c", agent="echo", text=7),  # type: ignore[arg-type]
    "names one byte too long": Pause((any_need(id="i" * (NAMES_BYTES + 1)),)),
    "a need of no time": Pause((any_need(within=timedelta(0)),)),
    "a need in the past": Pause((any_need(within=timedelta(days=-1)),)),
    "a need for ever": Pause((any_need(within=timedelta.max),)),
    "a need within a number": Pause((any_need(within=7),)),
    "a memo one byte too large": Pause((CHILD,), "m" * (MEMO_BYTES - 1)),
    "a memo that is no JSON": Pause((CHILD,), object()),
    "a memo that is no number": Pause((CHILD,), math.nan),
    "a memo with a lone surrogate": Pause((CHILD,), SURROGATE),
    "a memo too deep": Pause((CHILD,), deep(100_000)),
}


@pytest.mark.parametrize("name", ACCEPTABLE)
def test_a_step_that_may_be_written_is_taken_as_it_is(name: str) -> None:
    assert checked(ACCEPTABLE[name]) is ACCEPTABLE[name]


@pytest.mark.parametrize("name", REFUSED)
def test_a_step_that_may_not_be_written_is_the_agents_failure(name: str) -> None:
    with pytest.raises(AgentMisbehaved):
        checked(REFUSED[name])


@pytest.mark.clause("CP-1")
def test_an_output_is_one_text_part() -> None:
    assert json.loads(content("hé\n")) == {"message": [{"mimeType": "text/plain", "text": "hé\n"}]}


@pytest.mark.parametrize("memo", [{"a": [1, 2.5, None, "é"]}, "", 0, False, []])
def test_a_memo_comes_back_as_it_was(memo: Any) -> None:
    text = memo_text(memo)

    assert text is not None
    assert json.loads(text) == memo


def test_no_memo_is_none() -> None:
    assert memo_text(None) is None
