"""Answers as frozen dataclasses: what we know of them is typed, and all of them is kept, whatever else was said.

A field says how it is read by its metadata; what an older or newer server leaves out or adds breaks nothing but what
really needs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Any, Self

from turnkeeper_client.errors import NotUnderstood
from turnkeeper_client.plans import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Something that the API said."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """All of it as it came, with what this client does not know."""

    @classmethod
    def of(cls, said: object, **known: Any) -> Self:
        """*said* as this; *known* are fields that stood elsewhere. Raises `NotUnderstood` with the place."""
        if not isinstance(said, Mapping):
            raise NotUnderstood(cls.__name__, "is no object")
        found: dict[str, Any] = {"raw": said, **known}
        for one in fields(cls):
            if one.name in found:
                continue
            name = one.metadata.get("name", one.name)
            value = said.get(name)
            if value is not None:
                found[one.name] = _read(one.metadata.get("read"), value, at=f"{cls.__name__}.{name}")
            elif one.default is MISSING and one.default_factory is MISSING:
                raise NotUnderstood(f"{cls.__name__}.{name}", "is missing")
        return cls(**found)


def answered_by[S: Shape](shape: type[S], answer: Answer, **known: Any) -> S:
    """The body of *answer* as *shape*."""
    try:
        said = answer.json()
    except ValueError:
        raise NotUnderstood("the body", "is no JSON") from None
    return shape.of(said, **known)


def told(read: Callable[[Any], Any] | None = None, *, name: str | None = None, default: Any = MISSING) -> Any:
    """A field that is read by *read*, from *name* if it is called otherwise out there."""
    metadata = {key: value for key, value in (("read", read), ("name", name)) if value is not None}
    return field(default=default, metadata=metadata)


def at(*, default: Any = MISSING) -> Any:
    """A field that is an instant."""
    return told(instant, default=default)


def many(read: Callable[[Any], Any]) -> Any:
    """A field that is a list of what *read* reads; absent, it is empty."""
    return told(lambda said: tuple(read(one) for one in said), default=())


def instant(said: str) -> datetime:
    """An instant as the API writes it."""
    return datetime.fromisoformat(said)


def _read(read: Callable[[Any], Any] | None, value: Any, *, at: str) -> Any:
    try:
        return value if read is None else read(value)
    except (TypeError, ValueError):
        raise NotUnderstood(at, f"is {value!r}") from None
