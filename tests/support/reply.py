"""What the gateway hands on, and what the caller gets."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

type Event = dict[str, Any]
"""A request, payload 2.0."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the caller gets."""

    status: int
    headers: Mapping[str, str]
    body: str

    @property
    def json(self) -> Any:
        return json.loads(self.body)
