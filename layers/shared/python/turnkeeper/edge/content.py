"""A message and its parts, as people and agents send them: bounded texts, and files by name (CP-1 to CP-3)."""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, field_validator
from pydantic_core.core_schema import ValidationInfo

from turnkeeper.domain.content import (
    KIND,
    KIND_CHARACTERS,
    LARGEST_METADATA,
    LARGEST_TEXT,
    LONGEST_KIND,
    MOST_PARTS,
    PLAIN,
)
from turnkeeper.edge import strict_json
from turnkeeper.edge.bodies import Sent, refusal, said_of_bytes, said_of_json


class _Absent(str):
    """What a part has that was sent none; an empty text that was sent is another object."""

    __slots__ = ()


_ABSENT = _Absent()


def _short_enough(text: str) -> str:
    if (size := strict_json.size(text)) > LARGEST_TEXT:
        raise refusal(f"is {size} bytes of UTF-8; at most {LARGEST_TEXT} are taken in one part, so split it")
    return text


def _small_enough(metadata: dict[str, Any]) -> dict[str, Any]:
    if (size := strict_json.size(strict_json.written(metadata))) > LARGEST_METADATA:
        raise refusal(f"is {size} bytes serialised; at most {LARGEST_METADATA} are taken")
    return metadata


def _kind(sent: object) -> str:
    if isinstance(sent, str) and re.fullmatch(KIND, sent):
        return sent
    raise refusal("must be a type of files, such as application/pdf, without parameters")


_KIND_SCHEMA: dict[str, Any] = {"pattern": f"^{KIND_CHARACTERS}$", "minLength": 3, "maxLength": LONGEST_KIND}

type Kind = Annotated[str, BeforeValidator(_kind), Field(json_schema_extra=_KIND_SCHEMA)]
"""The MIME type of a file."""


_A_TEXT: dict[str, Any] = {
    "title": "A text",
    "required": ["text"],
    "properties": {"mimeType": {"const": PLAIN}, "file": False},
}
_A_FILE: dict[str, Any] = {
    "title": "A file",
    "required": ["file"],
    "properties": {"mimeType": _KIND_SCHEMA, "sizeBytes": {"minimum": 0}, "text": False},
}


class ContentPart(Sent):
    """A piece of a message: a text, or the name of a file (CP-1); which files there are, the task says."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [_A_TEXT, _A_FILE]})

    file: Annotated[str, Field(min_length=1)] = _ABSENT
    text: Annotated[str, AfterValidator(_short_enough), said_of_bytes(LARGEST_TEXT)] = Field(
        default=_ABSENT, validate_default=True
    )
    mime_type: str = Field(alias="mimeType")
    size_bytes: int = Field(default=0, alias="sizeBytes")
    metadata: Annotated[dict[str, Any], AfterValidator(_small_enough), said_of_json(LARGEST_METADATA)] = (
        Field(default_factory=dict)
    )

    @field_validator("text", mode="before")
    @classmethod
    def _stand_for_no_file(cls, sent: object, info: ValidationInfo) -> object:
        if sent is _ABSENT and not _is_file(info):
            raise refusal("is missing; a part has a text or a file")
        if sent is not _ABSENT and _is_file(info):
            raise refusal("stands beside a file; a part has one of them")
        return "" if sent is _ABSENT else sent

    @field_validator("mime_type", mode="before")
    @classmethod
    def _fit_the_content(cls, sent: object, info: ValidationInfo) -> str:
        if _is_file(info):
            return _kind(sent)
        if sent != PLAIN:
            raise refusal(f"must be '{PLAIN}'")
        return PLAIN

    @field_validator("size_bytes")
    @classmethod
    def _agree_with_the_content(cls, sent: int, info: ValidationInfo) -> int:
        if _is_file(info):
            if sent < 0:
                raise refusal("must be at least 0")
        elif "text" in info.data and sent != (size := strict_json.size(info.data["text"])):
            raise refusal(f"must be the size of the text, which is {size} bytes of UTF-8")
        return sent


def _is_file(info: ValidationInfo) -> bool:
    """The part was sent a file, be it a wrong one."""
    return bool(info.data.get("file", "a wrong one"))


type Message = Annotated[list[ContentPart], Field(min_length=1, max_length=MOST_PARTS)]
