"""What people send, as models: bodies, query strings and headers, read strictly and refused in our own words.

Every wrong place is named at once. A body that can be read but is wrong is InvalidInput; a query string or a
header that is wrong is MalformedRequest.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import ValidationInfo

from turnkeeper.domain.errors import InputTooLarge, InvalidInput, MalformedRequest, Place
from turnkeeper.domain.task import Phase
from turnkeeper.edge import strict_json
from turnkeeper.edge.problems import MOST_PLACES

LARGEST_INPUT = 256 * 1024
"""Bytes of one input as the store keeps it."""
LARGEST_TEXT = 100_000
LARGEST_METADATA = 8 * 1024
MOST_PARTS = 64

# An input that fits is at most thrice as long with every character escaped; what is longer is not parsed.
_LONGEST_BODY = 4 * LARGEST_INPUT
_RESERVED = frozenset({"type", "received_at", "committed_at", "error"})
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,39}")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown here",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "too_short": "must have at least {min_length} entry",
    "too_long": "may have at most {max_length} entries",
    "string_too_short": "is empty; leave it out",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "string_pattern_mismatch": "must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or a digit",
}


def _refusal(problem: str) -> PydanticCustomError:
    return PydanticCustomError("refused", "{problem}", {"problem": problem})


def _short_enough(text: str) -> str:
    if (size := strict_json.size(text)) > LARGEST_TEXT:
        raise _refusal(f"is {size} bytes of UTF-8; at most {LARGEST_TEXT} are taken in one part, so split it")
    return text


def _small_enough(metadata: dict[str, Any]) -> dict[str, Any]:
    if (size := strict_json.size(strict_json.written(metadata))) > LARGEST_METADATA:
        raise _refusal(f"is {size} bytes serialised; at most {LARGEST_METADATA} are taken")
    return metadata


def _whole_number(least: int, most: int) -> Callable[[Any], int]:
    def read(sent: str | int) -> int:
        if re.fullmatch("[1-9][0-9]{0,5}", str(sent)) and least <= int(sent) <= most:
            return int(sent)
        raise _refusal(f"must be a whole number from {least} to {most}")

    return read


class _Sent(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class ContentPart(_Sent):
    """A piece of a message: text for now (CP-1, CP-2)."""

    mime_type: Literal["text/plain"] = Field(alias="mimeType")
    text: Annotated[str, AfterValidator(_short_enough)]
    file: str = Field(default="")
    size_bytes: int = Field(default=0, alias="sizeBytes")
    metadata: Annotated[dict[str, Any], AfterValidator(_small_enough)] = Field(default_factory=dict)

    @field_validator("file", mode="before")
    @classmethod
    def _refuse_files(cls, _: object) -> str:
        raise _refusal("of text and file exactly one, and text for now: no root for files is available yet")

    @field_validator("size_bytes")
    @classmethod
    def _agree_with_the_text(cls, sent: int, info: ValidationInfo) -> int:
        if "text" in info.data and sent != (size := strict_json.size(info.data["text"])):
            raise _refusal(f"must be the size of the text, which is {size} bytes of UTF-8")
        return sent


class Input(_Sent):
    """A message, and the agent's parameters beside it (IN-1a); no agent declares parameters yet."""

    message: list[ContentPart] = Field(min_length=1, max_length=MOST_PARTS)


type AgentName = Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]{0,63}$")]


class NewTask(_Sent):
    """What creates a task: the agent, and perhaps a first input."""

    agent: AgentName
    input: Input = Field(default_factory=Input.model_construct)


class _Query(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class ListQuery(_Query):
    """Which of my tasks, and how many at a time."""

    phase: Phase | None = None
    agent: AgentName | None = None
    limit: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole_number(1, 100))] = 20
    cursor: Annotated[str, Field(min_length=1)] | None = None


class MessagesQuery(_Query):
    """From where in the conversation, and how much of it."""

    after: Annotated[str, Field(min_length=1)] | None = None
    limit: Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole_number(1, 1000))] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """A new task as asked for; *content* is its first input as the store keeps it."""

    agent: str
    content: str | None


def creation(event: Mapping[str, Any]) -> Creation:
    """The body of *event* as a task to create."""
    sent = _body(event)
    new = _checked(NewTask, sent, input_at=("input",))
    return Creation(agent=new.agent, content=_content(sent["input"]) if "input" in sent else None)


def input_content(event: Mapping[str, Any]) -> str:
    """The body of *event* as one input, as the store keeps it: the very object that was sent, compact."""
    sent = _body(event)
    _checked(Input, sent, input_at=())
    return _content(sent)


def query[Q: _Query](model: type[Q], event: Mapping[str, Any]) -> Q:
    """The query string of *event*, each parameter known and given once."""
    sent: Mapping[str, str] = event.get("queryStringParameters") or {}
    # The gateway joins what was given twice with a comma, and nothing we take holds one.
    wrong = [Place(_path((name,)), "is given more than once") for name, value in sent.items() if "," in value]
    try:
        read = model.model_validate(sent)
    except ValidationError as error:
        known = {place.at for place in wrong}
        wrong += [place for place in _places(error) if place.at not in known]
    if wrong:
        raise MalformedRequest(wrong[0].at, wrong[0].problem, *wrong[1:])
    return read


def idempotency_key(event: Mapping[str, Any]) -> str | None:
    """The Idempotency-Key of *event*, if it has one."""
    key: str | None = (event.get("headers") or {}).get("idempotency-key")
    if key is not None and not _KEY.fullmatch(key):
        raise MalformedRequest("Idempotency-Key", "must be 1 to 255 visible ASCII characters")
    return key


def _body(event: Mapping[str, Any]) -> dict[str, Any]:
    body, is_base64 = event.get("body") or "", bool(event.get("isBase64Encoded"))
    length = len(body) * 3 // 4 if is_base64 else len(body)
    if length > _LONGEST_BODY:
        raise InputTooLarge(length, LARGEST_INPUT)
    return strict_json.read(body, is_base64=is_base64)


def _content(sent: object) -> str:
    content = strict_json.written(sent)
    if (size := strict_json.size(content)) > LARGEST_INPUT:
        raise InputTooLarge(size, LARGEST_INPUT)
    return content


def _checked[M: BaseModel](model: type[M], sent: object, *, input_at: tuple[str, ...]) -> M:
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise InvalidInput(_places(error, input_at=input_at)) from None


def _places(error: ValidationError, input_at: tuple[str, ...] | None = None) -> list[Place]:
    details = error.errors(include_url=False, include_input=False)
    return [Place(_path(one["loc"]), _problem(one, input_at)) for one in details[:MOST_PLACES]]


def _problem(error: ErrorDetails, input_at: tuple[str, ...] | None) -> str:
    if error["type"] == "refused":
        return error["msg"]
    if error["type"] == "extra_forbidden" and error["loc"][:-1] == input_at:
        reserved = error["loc"][-1] in _RESERVED
        return "is reserved for what the task itself says" if reserved else "is an unknown parameter"
    return _WORDS.get(error["type"], "is not acceptable").format(**error.get("ctx", {}))


def _path(steps: tuple[int | str, ...]) -> str:
    """*steps* as people write them: `message[0].text`; a stranger's name is quoted, and never at length."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif _PLAIN_NAME.fullmatch(step):
            path += f".{step}" if path else step
        else:
            path += f"[{json.dumps(strict_json.shortened(step))}]"
    return path
