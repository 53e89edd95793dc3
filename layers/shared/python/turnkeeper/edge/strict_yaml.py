"""YAML as strangers send it: one document, which every reader understands alike, or a refusal with its line.

Only what JSON has can be said. There are no anchors (a short text would become a huge one), no tags, no merge keys; and
a plain word that one version of YAML reads as a text and another as a truth, a number or a date must be quoted.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml
from yaml.events import (
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from turnkeeper.domain.errors import MalformedRequest
from turnkeeper.domain.places import shortened
from turnkeeper.edge.strict_json import DEEPEST

_CONSTANTS: dict[str, Any] = {"": None, "~": None, "null": None, "true": True, "false": False}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 100
_TEXT = "tag:yaml.org,2002:str"
# What only the newer version takes for a number, so that the older one's resolver does not tell.
_NEWER_NUMBER = re.compile(r"0o[0-7]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_RESOLVER: Any = yaml.resolver.Resolver()


def read(text: str) -> dict[str, Any]:
    """The one mapping that *text* says, or MalformedRequest."""
    reading = Reading()
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            reading.take(event)
    except yaml.YAMLError as error:
        _refuse(f"is not YAML{_where(getattr(error, 'problem_mark', None))}")
    if not isinstance(reading.value, dict):
        _refuse("must be a mapping")
    return reading.value


@dataclass(slots=True)
class Open:
    """A mapping or a list that goes on; *key* is that of the value to come."""

    value: dict[str, Any] | list[Any]
    key: str | None = None


@dataclass(slots=True)
class Reading:
    """A document, as far as it was read."""

    value: Any = None
    documents: int = 0
    open: list[Open] = field(default_factory=list)

    def take(self, event: Event) -> None:
        """Read on."""
        match event:
            case NodeEvent(anchor=str()):
                _refuse(f"has an anchor{_where(event.start_mark)}; write it out")
            case DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    _refuse(f"has a second document{_where(event.start_mark)}")
            case ScalarEvent():
                self._add(_scalar(event), event)
            case MappingStartEvent() | SequenceStartEvent():
                self._begin(event)
            case MappingEndEvent() | SequenceEndEvent():
                self.open.pop()
            case _:
                pass

    def _begin(self, event: MappingStartEvent | SequenceStartEvent) -> None:
        if event.tag is not None:
            _refuse(f"has a tag{_where(event.start_mark)}; leave it out")
        if len(self.open) == DEEPEST:
            _refuse(f"is nested deeper than {DEEPEST}{_where(event.start_mark)}")
        value: dict[str, Any] | list[Any] = {} if isinstance(event, MappingStartEvent) else []
        self._add(value, event)
        self.open.append(Open(value))

    def _add(self, value: Any, event: Event) -> None:
        """Put *value* where it belongs: it may be the key of the next."""
        if not self.open:
            self.value = value
            return
        inner = self.open[-1]
        if isinstance(inner.value, list):
            inner.value.append(value)
        elif inner.key is not None:
            inner.value[inner.key], inner.key = value, None
        else:
            inner.key = _key(value, inner.value, event)


def _key(value: Any, beside: dict[str, Any], event: Event) -> str:
    if not isinstance(value, str):
        _refuse(f"has a key that is no text{_where(event.start_mark)}; quote it")
    if value in beside:
        _refuse(f"has the key {json.dumps(shortened(value))} twice in one mapping{_where(event.start_mark)}")
    return value


def _scalar(event: ScalarEvent) -> Any:
    if event.tag is not None:
        _refuse(f"has a tag{_where(event.start_mark)}; leave it out")
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if number := _NUMBER.fullmatch(text):
        return _number(text, event, is_whole=not number[1] and not number[2])
    if _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)) != _TEXT or _NEWER_NUMBER.fullmatch(text):
        _refuse(
            f"has {shortened(text)}{_where(event.start_mark)}, which not every reader takes for the same: quote it"
        )
    return text


def _number(text: str, event: ScalarEvent, *, is_whole: bool) -> int | float:
    value = (int(text) if is_whole else float(text)) if len(text) <= _LONGEST_NUMBER else float("inf")
    if abs(value) == float("inf") or (is_whole and not -(2**63) <= value < 2**63):
        _refuse(f"has a number that is too large{_where(event.start_mark)}")
    return value


def _where(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""


def _refuse(problem: str) -> NoReturn:
    raise MalformedRequest("body", problem) from None
