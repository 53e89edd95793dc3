"""A message and its parts, as people and agents send them: text for now, in bounded pieces (CP-1 to CP-3)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, field_validator
from pydantic_core.core_schema import ValidationInfo

from turnkeeper.domain.content import LARGEST_METADATA, LARGEST_TEXT, MOST_PARTS
from turnkeeper.edge import strict_json
from turnkeeper.edge.bodies import Sent, refusal


def _short_enough(text: str) -> str:
    if (size := strict_json.size(text)) > LARGEST_TEXT:
        raise refusal(f"is {size} bytes of UTF-8; at most {LARGEST_TEXT} are taken in one part, so split it")
    return text


def _small_enough(metadata: dict[str, Any]) -> dict[str, Any]:
    if (size := strict_json.size(strict_json.written(metadata))) > LARGEST_METADATA:
        raise refusal(f"is {size} bytes serialised; at most {LARGEST_METADATA} are taken")
    return metadata


class ContentPart(Sent):
    """A piece of a message: text for now (CP-1, CP-2)."""

    mime_type: Literal["text/plain"] = Field(alias="mimeType")
    text: Annotated[str, AfterValidator(_short_enough)]
    file: str = Field(default="")
    size_bytes: int = Field(default=0, alias="sizeBytes")
    metadata: Annotated[dict[str, Any], AfterValidator(_small_enough)] = Field(default_factory=dict)

    @field_validator("file", mode="before")
    @classmethod
    def _refuse_files(cls, _: object) -> str:
        raise refusal("is not taken yet, since no root for files is available; send text")

    @field_validator("size_bytes")
    @classmethod
    def _agree_with_the_text(cls, sent: int, info: ValidationInfo) -> int:
        if "text" in info.data and sent != (size := strict_json.size(info.data["text"])):
            raise refusal(f"must be the size of the text, which is {size} bytes of UTF-8")
        return sent


type Message = Annotated[list[ContentPart], Field(min_length=1, max_length=MOST_PARTS)]


class Said(Sent):
    """A message, and nothing beside it."""

    message: Message
