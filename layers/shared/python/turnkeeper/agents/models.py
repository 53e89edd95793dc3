"""Agents that are a model of Bedrock's: named by a setting of the deployment, shipped like the built-in ones."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from turnkeeper.domain.manifest import Manifest, parse
from turnkeeper.domain.task import DEPLOYMENT

DESCRIPTION = "Answers by a model of Amazon Bedrock."


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """One agent: which model it asks, and how."""

    name: str
    model: str
    """What Converse is asked for: the id or the ARN of a model or of an inference profile."""
    description: str = DESCRIPTION
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None

    @property
    def manifest(self) -> Manifest:
        """What it is to people and to its tasks; to repeat a call of a model without tools is safe."""
        document = {
            "kind": "commonagents.info/v1/agent",
            "name": self.name,
            "description": self.description,
            "prompt": self.system,
            "model": {"id": self.model, "max_tokens": self.max_tokens, "temperature": self.temperature},
            "turnkeeper": {"runs": "function", "repeatable": True},
        }
        return parse(json.dumps(document), owner=DEPLOYMENT)


def models(said: Mapping[str, Mapping[str, Any]]) -> dict[str, Model]:
    """The agents that the setting names."""
    return {name: Model(name=name, **told) for name, told in said.items()}
