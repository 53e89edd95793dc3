"""How anything that was sent is read: strictly, with every wrong place named at once, in our own words.

A body that can be read but is wrong is InvalidInput; a query string or a header that is wrong is MalformedRequest.
"""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from turnkeeper.domain.content import LARGEST_INPUT, kept
from turnkeeper.domain.errors import InputTooLarge, InvalidInput, MalformedRequest, Place
from turnkeeper.domain.places import path
from turnkeeper.edge import strict_json
from turnkeeper.edge.problems import MOST_PLACES

# An input that fits is at most six times as long with every character escaped; what is longer is not parsed.
_LONGEST_BODY = 7 * LARGEST_INPUT
KEY = re.compile(r"[\x21-\x7e]{1,255}")
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is unknown here",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "too_short": "must have at least {min_length} entry",
    "too_long": "may have at most {max_length} entries",
    "string_too_short": "is empty; leave it out",
    "string_too_long": "may have at most {max_length} characters",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_pattern_mismatch": "must be 1 to 64 of a-z, 0-9, _ and -, and begin with a letter or a digit",
}


class Sent(BaseModel):
    """A body, or a part of one: nothing is converted, and what is unknown is refused."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class Query(BaseModel):
    """A query string: text that says something of another type, and nothing unknown."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    may_hold_commas: ClassVar[frozenset[str]] = frozenset()


def refusal(problem: str) -> PydanticCustomError:
    """A validator's refusal, whose words go to the caller as they are."""
    return PydanticCustomError("refused", "{problem}", {"problem": problem})


def said_of_bytes(most: int) -> Any:
    """What the API's document says of a text that has at most *most* bytes of UTF-8: no more characters than that."""
    return Field(json_schema_extra={"maxLength": most, "description": f"At most {most} bytes of UTF-8."})


def said_of_json(most: int) -> Any:
    """What the API's document says of a value that has at most *most* bytes as compact JSON."""
    return Field(json_schema_extra={"description": f"At most {most} bytes as compact JSON."})


def whole_number(least: int, most: int) -> Callable[[Any], int]:
    """A reader of a whole number in text, from *least* to *most*."""

    def read(sent: str | int) -> int:
        if re.fullmatch("[1-9][0-9]{0,5}", str(sent)) and least <= int(sent) <= most:
            return int(sent)
        raise refusal(f"must be a whole number from {least} to {most}")

    return read


def body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The object that the body of *event* is."""
    text, is_base64 = event.get("body") or "", bool(event.get("isBase64Encoded"))
    length = len(text) * 3 // 4 if is_base64 else len(text)
    if length > _LONGEST_BODY:
        raise InputTooLarge(length, LARGEST_INPUT)
    return strict_json.read(text, is_base64=is_base64)


def content(sent: Mapping[str, Any]) -> str:
    """*sent* as the store keeps it: the very object, compact; `InputTooLarge` past what the store takes."""
    return kept(sent)


def checked[M: BaseModel](model: type[M], sent: object) -> M:
    """*sent* as a *model*, or InvalidInput with every wrong place."""
    try:
        return model.model_validate(sent)
    except ValidationError as error:
        raise InvalidInput(_places(error)) from None


def query[Q: Query](model: type[Q], event: Mapping[str, Any]) -> Q:
    """The query string of *event*, each parameter known and given once."""
    sent: Mapping[str, str] = event.get("queryStringParameters") or {}
    # The gateway joins what was given twice with a comma; where a value may hold one, the raw query string tells.
    once = {
        name
        for name, times in Counter(
            name for name, _ in parse_qsl(event.get("rawQueryString") or "", keep_blank_values=True)
        ).items()
        if times == 1 and name in model.may_hold_commas
    }
    wrong = [
        Place(path((name,)), "must be one value, given once")
        for name, value in sent.items()
        if "," in value and name not in once
    ]
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
    if key is not None and not KEY.fullmatch(key):
        raise MalformedRequest(
            "Idempotency-Key", "must be one key of 1 to 255 visible ASCII characters, given once"
        )
    return key


def _places(error: ValidationError) -> list[Place]:
    details = error.errors(include_url=False, include_input=False)
    return [Place(path(one["loc"]), _problem(one)) for one in details[: MOST_PLACES + 1]]


def _problem(error: ErrorDetails) -> str:
    if error["type"] == "refused":
        return error["msg"]
    return _WORDS.get(error["type"], "is not acceptable").format(**error.get("ctx", {}))
