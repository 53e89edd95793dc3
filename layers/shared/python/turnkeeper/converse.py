"""An agent that is a model of Bedrock's, asked by ConverseStream: the conversation goes there, its answer is an output.

A short answer is one output, written together with the turn's end. A long one is said piece by piece, at the ends of
paragraphs, so that a reader has something while the rest comes. Another attempt does not begin again: it says to the
model what was said already, and asks it to go on.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError, ReadTimeoutError, ResponseStreamingError
from botocore.session import Session

from turnkeeper.agents.models import Model
from turnkeeper.agents.protocol import Message, NotAsked, Say, Steps, TurnView
from turnkeeper.faults import FAILED_CALLS

PIECE_BYTES = 4_000
"""From here on, the next end of a paragraph ends an output."""
LARGEST_PIECE = 90_000
"""Here one ends wherever it is: an output is at most 100,000 bytes."""
LARGEST_HISTORY = 400_000
"""Bytes of text that go to the model; what is older is left out."""
PARAGRAPH = "\n\n"
GO_ON = "Your answer was cut off here. Go on exactly where it ends, and repeat nothing."
NO_TEXT = "(no text)"

NOT_NOW = frozenset(
    {
        "ThrottlingException",
        "TooManyRequestsException",
        "ServiceUnavailableException",
        "ModelNotReadyException",
    }
)
"""The model did nothing: it is asked again later, and no attempt is spent."""
AT_THE_END = {
    "max_tokens": "[The answer ends here: it was as long as it may be.]",
    "model_context_window_exceeded": "[The answer ends here: the conversation is as long as the model can read.]",
    "guardrail_intervened": "[The answer ends here: a guardrail of the model's provider stopped it.]",
    "content_filtered": "[The answer ends here: the model's provider filtered it.]",
}
"""Why an answer is not whole, in words that its reader sees."""
DENIED = "denied_by_input_guardrail"
WHOLE = frozenset({"end_turn", "stop_sequence"})


class Bedrock(Protocol):
    """The call of botocore's client that is used here, and no other."""

    def converse_stream(self, **request: Any) -> dict[str, Any]:  # noqa: D102 - AWS documents it
        ...


class ModelFailed(Exception):
    """The model failed, refused the request or stopped without an answer: the attempt is over."""


@dataclass(frozen=True, slots=True)
class Conversing:
    """The agent that asks one model."""

    client: Bedrock
    model: Model

    def run(self, turn: TurnView) -> Steps:
        """Say what the model answers, piece by piece where it is long."""
        history = [*turn.conversation()]
        said = _said_before(history)
        for text in said:
            # Said before, so nothing is written: an attempt counts its outputs from the beginning.
            yield Say(text)
        pieces = _pieces(self._answer(history, goes_on=bool(said)))
        last = next(pieces, "")
        for piece in pieces:
            yield Say(last)
            last = piece
        return Say(last) if last.strip() else None

    def _answer(self, history: list[Message], *, goes_on: bool) -> Iterator[str]:
        """The model's answer as it comes, and why it ends where that is not its end."""
        reason, has_text = None, False
        try:
            stream = self.client.converse_stream(**self._request(history, goes_on=goes_on))["stream"]
            try:
                for event in stream:
                    text = event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
                    has_text = has_text or bool(text)
                    yield text
                    reason = event.get("messageStop", {}).get("stopReason", reason)
            finally:
                _close(stream)
        except (ReadTimeoutError, ResponseStreamingError) as error:
            raise ModelFailed("the answer did not come to its end") from error
        except (*FAILED_CALLS, EventStreamError) as error:
            raise _failure(error) from error
        if reason in AT_THE_END:
            yield f"{PARAGRAPH if has_text else ''}{AT_THE_END[reason]}"
        elif reason not in WHOLE:
            raise ModelFailed(f"the model stopped with {reason}")

    def _request(self, history: list[Message], *, goes_on: bool) -> dict[str, Any]:
        limits = {"maxTokens": self.model.max_tokens, "temperature": self.model.temperature}
        given = {name: value for name, value in limits.items() if value is not None}
        system = {"system": [{"text": self.model.system}]} if self.model.system else {}
        return {
            "modelId": self.model.model,
            "messages": messages(history, goes_on=goes_on),
            **system,
            **({"inferenceConfig": given} if given else {}),
        }


def conversing(model: Model, *, session: Session) -> Conversing:
    """The agent that asks *model*; each call is made once, since whether it is repeated is the task's to decide."""
    config = Config(connect_timeout=2, read_timeout=60, retries={"mode": "standard", "total_max_attempts": 1})
    client: Any = session.create_client("bedrock-runtime", config=config)
    return Conversing(client, model)


def messages(history: Iterable[Message], *, goes_on: bool = False) -> list[dict[str, Any]]:
    """A conversation as Converse takes it: users and assistants by turns, a user first and last, no text blank."""
    spoken: list[tuple[str, list[str]]] = []
    for entry in history:
        role = "user" if entry["type"] == "input" else "assistant"
        texts = [text for part in entry["message"] if (text := _text(part)).strip()]
        if spoken and spoken[-1][0] == role:
            spoken[-1][1].extend(texts)
        else:
            spoken.append((role, texts))
    if goes_on:
        spoken.append(("user", [GO_ON]))
    # The question, what was said of it and the word to go on are one.
    kept = _recent(spoken, least=3 if goes_on else 1)
    return [
        {"role": role, "content": [{"text": text} for text in texts or [NO_TEXT]]} for role, texts in kept
    ]


def _recent(spoken: list[tuple[str, list[str]]], *, least: int) -> list[tuple[str, list[str]]]:
    """The end of what was *spoken* that fits, from something a user said on; the *least* last are there in any case."""
    taken, size = len(spoken), 0
    for number in range(len(spoken) - 1, -1, -1):
        size += sum(len(text.encode()) for text in spoken[number][1])
        if size > LARGEST_HISTORY and taken <= len(spoken) - least:
            break
        if spoken[number][0] == "user":
            taken = number
    return spoken[taken:]


def _text(part: Mapping[str, Any]) -> str:
    """What a part says; a file is named, and not shown to the model."""
    return str(part["text"]) if "text" in part else f"[file {part['file']}, {part['mimeType']}]"


def _said_before(history: list[Message]) -> list[str]:
    """What earlier attempts of the turn said: all that comes after its inputs but the answer to a refused one."""
    ours = [entry for entry in history if entry.get("error") != DENIED]
    count = len(ours)
    while count and ours[count - 1]["type"] == "output":
        count -= 1
    return ["\n".join(map(_text, entry["message"])) for entry in ours[count:]]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """*texts* as outputs: whole paragraphs, from so many bytes on; the last is whatever is left."""
    held = ""
    for text in texts:
        held += text
        while len(held.encode()) >= PIECE_BYTES:
            # However much came at once, no piece is larger.
            most = held.encode()[:LARGEST_PIECE].decode(errors="ignore")
            at = most.rfind(PARAGRAPH)
            if at > 0 and len(most[:at].encode()) >= PIECE_BYTES // 2:
                piece, held = held[:at], held[at + len(PARAGRAPH) :]
            elif len(held.encode()) >= LARGEST_PIECE:
                piece, held = most, held[len(most) :]
            else:
                break
            if piece.strip():
                yield piece
    if held.strip():
        yield held


def _failure(error: Exception) -> Exception:
    """What a failed call means for the attempt."""
    if not isinstance(error, ClientError):
        return NotAsked("Bedrock could not be reached")
    code = error.response.get("Error", {}).get("Code", "")
    # Within a stream the code is the event's name, which begins small.
    if code[:1].upper() + code[1:] in NOT_NOW and not isinstance(error, EventStreamError):
        return NotAsked(code)
    return ModelFailed(code)


def _close(stream: Any) -> None:
    close = getattr(stream, "close", None)
    if close is not None:
        close()
